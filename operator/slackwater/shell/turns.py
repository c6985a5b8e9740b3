"""Turns at the event loop: what computes for long does so one after the other, and between two of them the loop has all
of its own: probes, the Lease, watches, other tenants' answers.

Else those whose answers came while one computed would all compute in the loop's next iteration, one after the other.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Any, Final

SHORT_S: Final = 0.005
"""A pass at rest takes less as a whole, and there are hundreds a second: it need not wait between its parts."""


class Turns:
    def __init__(self, clock: Callable[[], float] = time.perf_counter) -> None:
        self._clock = clock
        self._next = asyncio.Lock()
        self._whose: asyncio.Task[Any] | None = None
        """In this iteration of the loop."""
        self._began = 0.0

    async def next(self) -> None:
        """Wait for an iteration of the loop in which nobody else has a turn. It ends with the caller's next wait."""
        async with self._next:
            await asyncio.sleep(0)
        self._whose, self._began = asyncio.current_task(), self._clock()
        asyncio.get_running_loop().call_soon(self._over, self._whose)  # before anything that the task may wait for

    async def mine(self) -> None:
        """As `next`, but who has a turn, and has not had it for long, goes on."""
        is_mine = self._whose is not None and self._whose is asyncio.current_task()
        if not is_mine or self._clock() - self._began >= SHORT_S:
            await self.next()

    def _over(self, task: asyncio.Task[Any] | None) -> None:
        if self._whose is task:
            self._whose = None
