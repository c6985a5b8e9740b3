"""What watches bring when they are spoiled, and answers of an API server that is behind."""

from __future__ import annotations

import asyncio
import json
import time
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

import aiohttp
from aiohttp import web

BEHIND_S: Final = 3.0
_LOOK_AGAIN_S: Final = 0.5
_KEPT: Final = 200
_SKIPPED: Final = 2
"""Of so many events one is not passed on."""
_EXPIRED: Final = {
    "type": "ERROR",
    "object": {"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "Expired", "code": 410},
}


class WatchFault(StrEnum):
    NONE = "none"
    HANG = "hang"
    """They are accepted, and nothing comes."""
    END = "end"
    """Each ends after its first event."""
    REPEAT = "repeat"
    """Each event comes three times, the one before it once more in between."""
    SKIP = "skip"
    """Each second event is missing."""
    EXPIRE = "expire"
    """An ERROR event with 410 after each event."""
    GONE = "gone"
    """HTTP 410 in place of a watch."""
    BEHIND = "behind"
    """Events, lists and objects as they were some seconds ago."""


async def spoiled(fault: WatchFault, content: aiohttp.StreamReader) -> AsyncIterator[bytes]:
    """The lines that are passed on."""
    before, number = b"", 0
    if fault is WatchFault.HANG:
        await asyncio.Event().wait()
    if fault is WatchFault.BEHIND:
        async for line in _delayed(content):
            yield line
        return
    async for line in _lines(content):
        number += 1
        if fault is WatchFault.SKIP and number % _SKIPPED == 0:
            continue
        yield line
        if fault is WatchFault.REPEAT:
            for again in (line, before, line) if before else (line,):
                yield again
        if fault is WatchFault.EXPIRE:
            yield json.dumps(_EXPIRED).encode() + b"\n"
        if fault in (WatchFault.END, WatchFault.EXPIRE):
            return
        before = line


async def _lines(content: aiohttp.StreamReader) -> AsyncIterator[bytes]:
    """However long they are."""
    rest = b""
    async for chunk in content.iter_any():
        *lines, rest = (rest + chunk).split(b"\n")
        for line in lines:
            yield line + b"\n"


async def _delayed(content: aiohttp.StreamReader) -> AsyncIterator[bytes]:
    """Each so many seconds after it came."""
    due: asyncio.Queue[tuple[float, bytes | None]] = asyncio.Queue()

    async def take() -> None:
        try:
            async for line in _lines(content):
                due.put_nowait((time.monotonic() + BEHIND_S, line))
        finally:
            due.put_nowait((time.monotonic() + BEHIND_S, None))

    taking = asyncio.create_task(take())
    try:
        while True:
            at, line = await due.get()
            await asyncio.sleep(max(0.0, at - time.monotonic()))
            if line is None:
                return
            yield line
    finally:
        taking.cancel()


@dataclass
class Past:
    """What was read, as it was some seconds ago: once somebody has asked for it, it is asked for again and again."""

    _seen: dict[str, deque[tuple[float, web.Response]]] = field(default_factory=dict)
    _looking: list[asyncio.Task[None]] = field(default_factory=list)

    async def answer(self, path: str, ask: Callable[[], Awaitable[web.Response]]) -> web.Response:
        if path not in self._seen:
            self._seen[path] = deque([(time.monotonic(), await ask())], maxlen=_KEPT)
            self._looking.append(asyncio.create_task(self._look(path, ask)))
        old = [answer for at, answer in self._seen[path] if at <= time.monotonic() - BEHIND_S]
        found = old[-1] if old else self._seen[path][0][1]
        return web.Response(status=found.status, body=found.body, headers={"Content-Type": found.content_type})

    async def _look(self, path: str, ask: Callable[[], Awaitable[web.Response]]) -> None:
        while True:
            await asyncio.sleep(_LOOK_AGAIN_S)
            try:
                self._seen[path].append((time.monotonic(), await ask()))
            except aiohttp.ClientError:
                continue

    async def close(self) -> None:
        for each in self._looking:
            each.cancel()
        await asyncio.gather(*self._looking, return_exceptions=True)
