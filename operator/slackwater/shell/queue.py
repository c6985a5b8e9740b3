"""One work queue for all groups: each key waits in it at most once, and is worked on by one worker at a time.

Failures back off by key, exponentially; everything else comes back when it is asked for. Nobody takes all workers:
tenants have their turns one after the other, and the last workers are kept for those that have none. A key that comes
again and again without an end, as of a group whose broker changes its mind at each request, comes seldom after a while.
"""

from __future__ import annotations

import asyncio
import heapq
from collections import Counter
from collections.abc import Callable, Hashable
from typing import Final, Generic, TypeVar

from slackwater.shell.bucket import Bucket
from slackwater.shell.turns import Turns

K = TypeVar("K", bound=Hashable)

FIRST_BACKOFF_S: Final = 0.2
LONGEST_BACKOFF_S: Final = 15.0
AT_ONCE: Final = 100
AGAIN_S: Final = 0.5
"""So often a key is taken as soon as it asks, then twice a second: a rollout of a hundred pods asks less often."""

_SWEPT_AT: Final = 1_000


def most_at_will(workers: int) -> int:
    """How many of the workers go to whoever comes: a quarter is left for tenants that have none, whatever hangs."""
    return max(1, workers - workers // 4)


class WorkQueue(Generic[K]):
    """Not thread-safe: everything happens in one event loop.

    `tenant_of`: whose a key is; `most`: how many keys are in hand at once before only those have their turn of whom
    there is none.
    """

    def __init__(
        self, tenant_of: Callable[[K], Hashable] = lambda _: None, most: float = float("inf"), again_s: float = AGAIN_S
    ) -> None:
        self._tenant_of = tenant_of
        self._most = most
        self._again_s = again_s
        self._ready: dict[Hashable, dict[K, None]] = {}  # sets that keep their order; whose turn is next is first
        self._in_hand_of: Counter[Hashable] = Counter()
        self._paces: dict[K, Bucket] = {}
        self._swept_at = _SWEPT_AT
        self._busy: dict[K, float] = {}
        self._again: set[K] = set()
        self._later: list[tuple[float, int, K]] = []
        self._due: dict[K, float] = {}
        self._failures: dict[K, int] = {}
        self._sequence = 0
        self._wake = asyncio.Event()
        self.turns = Turns()
        """Of those who take from it, and of whoever else computes in the same event loop."""

    def add(self, key: K) -> None:
        """Have it worked on soon; once more after the work in hand, if it is in hand."""
        if key in self._busy:
            self._again.add(key)
            return
        if (wait_s := self._pace_of(key).in_s(self._now())) > 0:
            self.add_later(key, wait_s)
            return
        self._ready.setdefault(self._tenant_of(key), {})[key] = None
        self._wake.set()

    def add_later(self, key: K, delay_s: float) -> None:
        """Have it worked on in `delay_s` at the latest."""
        due = self._now() + delay_s
        if due >= self._due.get(key, float("inf")):
            return
        self._due[key] = due
        self._sequence += 1
        heapq.heappush(self._later, (due, self._sequence, key))
        self._wake.set()

    async def take(self) -> K:
        """Wait for a key and take it in hand; `done` gives it back. One key is taken in each turn of the event loop: a
        pass that finds nothing waits for nobody, and thousands may be due."""
        while True:
            await self.turns.next()
            self._move_due()
            if (tenant := self._next_tenant()) is not None:
                return self._take_of(tenant[0])
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
        return max((self._now() - since for since in self._busy.values()), default=0.0)

    def __len__(self) -> int:
        return sum(map(len, self._ready.values()))

    def _next_tenant(self) -> tuple[Hashable] | None:
        """Whose turn it is, of those with something to do; the last workers are for those who have none."""
        scarce = len(self._busy) >= self._most
        return next(((each,) for each in self._ready if not (scarce and self._in_hand_of[each])), None)

    def _take_of(self, tenant: Hashable) -> K:
        """Its next key; then it is the others' turn."""
        keys = self._ready.pop(tenant)
        key = next(iter(keys))
        del keys[key]
        if keys:
            self._ready[tenant] = keys
        self._in_hand_of[tenant] += 1
        self._pace_of(key).take(self._now())
        self._busy[key] = self._now()
        return key

    def _give_back(self, key: K) -> None:
        if self._busy.pop(key, None) is not None:
            tenant = self._tenant_of(key)
            self._in_hand_of[tenant] -= 1
            if not self._in_hand_of[tenant]:
                del self._in_hand_of[tenant]
        if key in self._again:
            self._again.discard(key)
            self.add(key)
        self._forget_paces()
        self._wake.set()  # it may have been the last worker of its tenant

    def _pace_of(self, key: K) -> Bucket:
        if key not in self._paces:
            self._paces[key] = Bucket(AT_ONCE, self._again_s, self._now())
        return self._paces[key]

    def _forget_paces(self) -> None:
        """Of all that have been quiet: groups come and go."""
        if len(self._paces) > self._swept_at:
            now = self._now()
            self._paces = {key: pace for key, pace in self._paces.items() if pace.lacks(now) > 0}
            self._swept_at = max(_SWEPT_AT, 2 * len(self._paces))

    def _move_due(self) -> None:
        now = self._now()
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

    def _now(self) -> float:
        return asyncio.get_running_loop().time()
