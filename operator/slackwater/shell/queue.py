"""One work queue for all groups: each key waits in it at most once, and is worked on by one worker at a time.

Failures back off by key, exponentially; everything else comes back when it is asked for.
"""

from __future__ import annotations

import asyncio
import heapq
from collections.abc import Hashable
from typing import Final, Generic, TypeVar

K = TypeVar("K", bound=Hashable)

FIRST_BACKOFF_S: Final = 0.2
LONGEST_BACKOFF_S: Final = 15.0


class WorkQueue(Generic[K]):
    """Not thread-safe: everything happens in one event loop."""

    def __init__(self) -> None:
        self._ready: dict[K, None] = {}  # a set that keeps its order
        self._busy: dict[K, float] = {}
        self._again: set[K] = set()
        self._later: list[tuple[float, int, K]] = []
        self._due: dict[K, float] = {}
        self._failures: dict[K, int] = {}
        self._sequence = 0
        self._wake = asyncio.Event()

    def add(self, key: K) -> None:
        """Have it worked on soon; once more after the work in hand, if it is in hand."""
        if key in self._busy:
            self._again.add(key)
            return
        self._ready[key] = None
        self._wake.set()

    def add_later(self, key: K, delay_s: float) -> None:
        """Have it worked on in `delay_s` at the latest."""
        due = asyncio.get_running_loop().time() + delay_s
        if due >= self._due.get(key, float("inf")):
            return
        self._due[key] = due
        self._sequence += 1
        heapq.heappush(self._later, (due, self._sequence, key))
        self._wake.set()

    async def take(self) -> K:
        """Wait for a key and take it in hand; `done` gives it back."""
        while True:
            self._move_due()
            if self._ready:
                key = next(iter(self._ready))
                del self._ready[key]
                self._busy[key] = asyncio.get_running_loop().time()
                return key
            self._wake.clear()
            await self._wait_for_work()

    def done(self, key: K) -> None:
        """The work went well."""
        self._failures.pop(key, None)
        self._give_back(key)

    def failed(self, key: K) -> float:
        """The work failed: it comes back by itself. Returns in how many seconds."""
        failures = self._failures.get(key, 0)
        self._failures[key] = failures + 1
        delay_s: float = min(LONGEST_BACKOFF_S, FIRST_BACKOFF_S * 2 ** min(failures, 16))
        self._again.discard(key)  # what happened meanwhile is seen at the next try
        self._give_back(key)
        self.add_later(key, delay_s)
        return delay_s

    def in_hand_for(self) -> float:
        """Seconds for which the key that was taken first, of those not given back, has been worked on; 0 for none."""
        return max((asyncio.get_running_loop().time() - since for since in self._busy.values()), default=0.0)

    def __len__(self) -> int:
        return len(self._ready)

    def _give_back(self, key: K) -> None:
        self._busy.pop(key, None)
        if key in self._again:
            self._again.discard(key)
            self.add(key)
        else:
            self._wake.set()

    def _move_due(self) -> None:
        now = asyncio.get_running_loop().time()
        while self._later and self._later[0][0] <= now:
            due, _, key = heapq.heappop(self._later)
            if self._due.get(key) == due:  # not one that an earlier time has replaced
                del self._due[key]
                self.add(key)

    async def _wait_for_work(self) -> None:
        try:
            async with asyncio.timeout_at(self._later[0][0] if self._later else None):
                await self._wake.wait()
        except TimeoutError:
            return
