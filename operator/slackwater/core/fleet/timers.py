"""What time alone will change.

Where the clock is set back, what was to come in a minute comes in a minute: nobody waits until it has caught up.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from heapq import heapify, heappop, heappush
from math import inf

from slackwater.core.fleet.claim import Cell

Timer = tuple[float, str, tuple[Cell, ...]]
"""When, for which group (empty: none), and which cells may have room then."""


class Timers:
    def __init__(self) -> None:
        self._timers: list[Timer] = []
        self._now = -inf

    @property
    def next_at(self) -> float | None:
        return self._timers[0][0] if self._timers else None

    def wake(self, at: float, group: str = "", cells: Iterable[Cell] = ()) -> None:
        heappush(self._timers, (at, group, tuple(sorted(cells))))

    def set_back_s(self, now: float) -> float:
        """By how much the clock was set back since it was asked for the last time. All timers are, by as much."""
        back_s, self._now = max(self._now - now, 0.0), now
        if back_s > 0.0:
            self._timers = [(at - back_s, group, cells) for at, group, cells in self._timers]
            heapify(self._timers)
        return back_s

    def due(self, now: float) -> Iterator[Timer]:
        while self._timers and self._timers[0][0] <= now:
            yield heappop(self._timers)
