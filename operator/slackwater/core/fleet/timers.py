"""What time alone will change.

Where the clock is set back, what was to come in a minute comes in a minute: nobody waits until it has caught up. Where
it jumps forward, as well, if there is a clock that nobody sets (`elapsed`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from heapq import heapify, heappop, heappush
from math import inf
from typing import Final

from slackwater.core.fleet.claim import Cell

Timer = tuple[float, str, tuple[Cell, ...]]
"""When, for which group (empty: none), and which cells may have room then."""


Elapsed = Callable[[], float] | None
"""Seconds by a clock that nobody sets, such as `time.monotonic`; None: there is none."""
JUMPED_S: Final = 1.0
"""By so much at least the clock was set. Less is how NTP has it run."""


class Timers:
    def __init__(self, elapsed: Elapsed = None) -> None:
        self._elapsed = elapsed
        self._ahead: float | None = None
        """How far the clock was ahead of the other one."""
        self._timers: list[Timer] = []
        self._now = -inf

    @property
    def next_at(self) -> float | None:
        return self._timers[0][0] if self._timers else None

    def wake(self, at: float, group: str = "", cells: Iterable[Cell] = ()) -> None:
        heappush(self._timers, (at, group, tuple(sorted(cells))))

    def set_back_s(self, now: float) -> float:
        """By how much the clock was set back since it was asked for the last time; less than 0: set forward. All timers
        are, by as much."""
        back_s, self._now = max(self._now - now, 0.0) if self._elapsed is None else self._by_the_other(now), now
        if back_s != 0.0:
            self._timers = [(at - back_s, group, cells) for at, group, cells in self._timers]
            heapify(self._timers)
        return back_s

    def _by_the_other(self, now: float) -> float:
        ahead = now - self._elapsed() if self._elapsed is not None else 0.0
        back_s = 0.0 if self._ahead is None else self._ahead - ahead
        if self._ahead is not None and abs(back_s) < JUMPED_S:
            return 0.0
        self._ahead = ahead
        return back_s

    def due(self, now: float) -> Iterator[Timer]:
        while self._timers and self._timers[0][0] <= now:
            yield heappop(self._timers)
