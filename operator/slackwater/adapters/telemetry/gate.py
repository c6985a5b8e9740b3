"""A few at a time, fairly: who keeps a place for long does so at the expense of his own, and not of his neighbours."""

from __future__ import annotations

import asyncio
import time
from collections import Counter, deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

Waiting = deque[asyncio.Future[None]]


class Gate:
    """`places`: how many are let in at once. A place that comes free goes to the tenant who has fewest, and of those to
    who has had them for the shortest time. For one event loop."""

    def __init__(self, places: int, now: Callable[[], float] = time.monotonic) -> None:
        self._free = places
        self._now = now
        self._waiting: dict[str, Waiting] = {}
        self._inside: Counter[str] = Counter()
        self._had_s: dict[str, float] = {}
        """By tenant; of one who has no place and wants none nothing is known."""

    @asynccontextmanager
    async def place(self, tenant: str) -> AsyncIterator[None]:
        await self._enter(tenant)
        began = self._now()
        try:
            yield
        finally:
            self._had_s[tenant] = self._had_s.get(tenant, 0.0) + self._now() - began
            self._leave(tenant)

    async def _enter(self, tenant: str) -> None:
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(tenant, deque()).append(turn)
        self._let_in()
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self._leave(tenant)  # it was let in just then
            raise

    def _leave(self, tenant: str) -> None:
        self._free += 1
        self._inside[tenant] -= 1
        self._let_in()
        if not self._inside[tenant]:
            del self._inside[tenant]
            if tenant not in self._waiting:
                self._had_s.pop(tenant, None)

    def _let_in(self) -> None:
        while self._free and self._waiting:
            tenant = min(self._waiting, key=lambda each: (self._inside[each], self._had_s.get(each, 0.0)))
            waiting = self._waiting[tenant]
            turn = waiting.popleft()
            if not waiting:
                del self._waiting[tenant]
            if not turn.done():  # else it was given up
                self._free -= 1
                self._inside[tenant] += 1
                turn.set_result(None)
