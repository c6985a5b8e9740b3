"""Events as files of JSON lines in a folder.

A file is complete when it has its name, and never changes then: readers that look at each file once, as Spark does,
lose nothing. What is being written has a name that begins with a dot, which Spark and shells pass over; it is completed
when it has grown or aged enough, when the day (UTC) ends, and when the operator ends. One that a killed operator
left behind is completed by the next one, without the line that it was in the middle of.
"""

from __future__ import annotations

import asyncio
import fcntl
import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Final
from uuid import uuid4

import structlog

from slackwater.adapters.telemetry.sinks import Line, SinkUnavailable

MAX_BYTES: Final = 64 * 1024 * 1024
MAX_AGE_S: Final = 60.0
_OPEN: Final = ".open"

_log = structlog.get_logger(__name__)


class FileSink:
    """`now`: seconds since the epoch."""

    def __init__(
        self, folder: Path, now: Callable[[], float], *, max_bytes: int = MAX_BYTES, max_age_s: float = MAX_AGE_S
    ) -> None:
        self._folder = folder
        self._now = now
        self._max_bytes = max_bytes
        self._max_age_s = max_age_s
        self._open: _OpenFile | None = None
        self._completing: asyncio.TimerHandle | None = None
        self._lock = asyncio.Lock()
        self._tasks: set[asyncio.Task[None]] = set()
        self._found_before = False

    async def write(self, lines: Sequence[Line]) -> int:
        """Append; what was written survives the process. Raises SinkUnavailable."""
        async with self._lock:
            try:
                await _to_its_end(self._write, lines)
            except OSError as error:
                message = f"telemetry cannot be written to {self._folder}: {error.strerror or error}"
                raise SinkUnavailable(message, lines) from error
        self._complete_later()
        return 0

    async def close(self) -> None:
        if self._completing is not None:
            self._completing.cancel()
        await self._complete()

    def _write(self, lines: Sequence[Line]) -> None:
        if not self._found_before:
            self._folder.mkdir(parents=True, exist_ok=True)
            _complete_left_behind(self._folder)
            self._found_before = True
        now = self._now()
        if self._open is not None and (self._open.day != _day(now) or self._open.size >= self._max_bytes):
            self._complete_now()
        if self._open is None:
            self._open = _OpenFile(self._folder, now)
        self._open.append(b"".join(line.text + b"\n" for line in lines))

    def _complete_later(self) -> None:
        if self._completing is None:
            loop = asyncio.get_running_loop()
            self._completing = loop.call_later(self._max_age_s, self._start_completing)

    def _start_completing(self) -> None:
        self._completing = None
        task = asyncio.create_task(self._complete(), name="complete-telemetry-file")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _complete(self) -> None:
        async with self._lock:
            try:
                await _to_its_end(self._complete_now)
            except OSError as error:  # the next operator completes it
                _log.warning("telemetry_file_not_completed", folder=str(self._folder), problem=str(error))

    def _complete_now(self) -> None:
        opened, self._open = self._open, None
        if opened is not None:
            opened.complete()


class _OpenFile:
    """A lock on it says that somebody still writes."""

    def __init__(self, folder: Path, now: float) -> None:
        self.day = _day(now)
        self.size = 0
        moment = datetime.fromtimestamp(now, UTC).strftime("%Y-%m-%dT%H%M%S")
        while True:
            self._path = folder / f".events-{moment}-{uuid4().hex[:8]}.jsonl{_OPEN}"
            self._descriptor = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
            fcntl.flock(self._descriptor, fcntl.LOCK_EX)
            if os.fstat(self._descriptor).st_nlink:
                return
            os.close(self._descriptor)  # another operator that starts has found it before it was locked, and empty

    def append(self, text: bytes) -> None:
        """All of it or nothing. Raises OSError."""
        written = 0
        try:
            while written < len(text):
                written += os.write(self._descriptor, text[written:])
        except OSError:
            os.ftruncate(self._descriptor, self.size)
            os.lseek(self._descriptor, self.size, os.SEEK_SET)
            raise
        self.size += len(text)

    def complete(self) -> None:
        try:
            os.fsync(self._descriptor)
            _give_its_name(self._path)
        finally:
            os.close(self._descriptor)


async def _to_its_end(function: Callable[..., None], *arguments: object) -> None:
    """In a thread, whose end is waited for even when the waiting is cancelled: no two may write at the same time."""
    working = asyncio.ensure_future(asyncio.to_thread(function, *arguments))
    try:
        await asyncio.shield(working)
    except asyncio.CancelledError:
        await asyncio.wait([working])
        raise


def _complete_left_behind(folder: Path) -> None:
    for path in folder.glob(f".events-*{_OPEN}"):
        with suppress(FileNotFoundError), path.open("r+b") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                continue  # its operator lives
            content = file.read()
            whole = content.rfind(b"\n") + 1
            file.truncate(whole)
            if whole:
                _give_its_name(path)
            else:
                path.unlink()


def _give_its_name(path: Path) -> None:
    path.rename(path.with_name(path.name.removeprefix(".").removesuffix(_OPEN)))


def _day(now: float) -> str:
    return datetime.fromtimestamp(now, UTC).strftime("%Y-%m-%d")
