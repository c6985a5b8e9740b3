"""Recommendations from a file of JSON lines, looked at again whenever it changes: a mounted ConfigMap, for example."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Final, NoReturn

import structlog

from slackwater.adapters.aside import aside
from slackwater.adapters.recommendations.reading import OnAdvice, Reader
from slackwater.core.world.advice import Advice

LOOK_EVERY_S: Final = 5.0

_log = structlog.get_logger(__name__)


class FileSource:
    def __init__(self, path: Path, on_advice: OnAdvice, reader: Reader, look_every_s: float = LOOK_EVERY_S) -> None:
        self._path = path
        self._on_advice = on_advice
        self._reader = reader
        self._look_every_s = look_every_s
        self._seen: tuple[int, int, int] | None = None
        self._known: set[tuple[str, str]] = set()
        self._told = ""

    async def run(self) -> NoReturn:
        """For ever. A file that is not there, or not any more, changes nothing that is known."""
        while True:
            await self.look()
            await asyncio.sleep(self._look_every_s)

    async def look(self) -> None:
        """Read the file if it has changed since the last look. One that hangs is waited for, and holds nobody up."""
        try:
            found = await aside(self._read_if_changed)
        except (OSError, UnicodeDecodeError) as error:
            self._tell(error)
            return
        if found is not None:
            self._take(found)

    def _read_if_changed(self) -> dict[tuple[str, str], Advice] | None:
        """None: it is as it was. By namespace and name."""
        status = self._path.stat()
        version = (status.st_ino, status.st_mtime_ns, status.st_size)
        if version == self._seen:
            return None
        lines = self._path.read_text(encoding="utf-8").splitlines()
        self._seen, self._told = version, ""
        return {(read.namespace, read.name): read.advice for read in self._reader.read_lines(lines, str(self._path))}

    def _take(self, found: dict[tuple[str, str], Advice]) -> None:
        for gone in self._known - found.keys():
            self._on_advice(*gone, None)
        for (namespace, name), advice in found.items():
            self._on_advice(namespace, name, advice)
        self._known = set(found)

    def _tell(self, error: OSError | UnicodeDecodeError) -> None:
        if str(error) != self._told:
            self._told = str(error)
            _log.warning("recommendations_unreadable", path=str(self._path), error=str(error))
