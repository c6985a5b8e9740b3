"""The times of a schedule, and how many of them one look follows.

A tenant writes the schedules, and all share one event loop: `* * * * *` names half a million times a year, and
`0 0 */31 * 1L` none, which cronsim itself knows after fifty years.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Final
from zoneinfo import ZoneInfo

from cronsim import CronSim

LOOKS_AHEAD_S: Final = 400 * 86_400.0
"""What opens later than that is not said. No duration is as long."""
STEPS: Final = 4096
"""How many times of its schedules one look follows, whatever they are."""
_GIVES_UP: Final = timedelta(seconds=LOOKS_AHEAD_S + 2 * 86_400.0)
_TWICE_S: Final = 2 * 3600.0
"""No clock is set back by more."""
MINUTE_S: Final = 60.0
KEPT: Final = 4096
"""Times worked out: of 64 freezes of one schedule, and of twenty fleets with it, each is once."""


class Steps:
    """What is left of them in one look. The spans of one moment have half of them, each rule as many: so that the last
    of many is followed as far as the first."""

    def __init__(self, rules: int = 1) -> None:
        self._left, self._of_a_span = STEPS, STEPS // (2 * max(rules, 1))

    @property
    def is_spent(self) -> bool:
        return self._left <= 0

    def take(self) -> None:
        self._left -= 1

    def of_a_span(self) -> Iterator[None]:
        for _ in range(self._of_a_span):
            if self.is_spent:
                return
            self.take()
            yield


@lru_cache(maxsize=KEPT)
def next_time(schedule: str, zone: ZoneInfo, now: float) -> float | None:
    """The first time after `now`; None where that is not within `LOOKS_AHEAD_S`."""
    times = (each.timestamp() for each in _Near(schedule, datetime.fromtimestamp(now, zone)))
    # In the hour that comes twice, local times are still to come that have come already.
    found = next((at for at in times if at > now), None)
    return found if found is not None and found - now <= LOOKS_AHEAD_S else None


@lru_cache(maxsize=KEPT)
def last_time(schedule: str, zone: ZoneInfo, now: float) -> float | None:
    """The last time at or before `now`; None where none was within `LOOKS_AHEAD_S`."""
    later = datetime.fromtimestamp(now + MINUTE_S, zone)
    if later.fold:  # later local times have come already
        later = datetime.fromtimestamp(now + MINUTE_S + _TWICE_S, zone)
    times = (each.timestamp() for each in _Near(schedule, later, reverse=True))
    found = next((at for at in times if at <= now), None)
    return found if found is not None and now - found <= LOOKS_AHEAD_S else None


class _Near(CronSim):
    """Looks no further than `LOOKS_AHEAD_S`."""

    def __init__(self, schedule: str, at: datetime, *, reverse: bool = False) -> None:
        super().__init__(schedule, at, reverse)
        self._from = self.dt.date()

    def advance_month(self) -> None:
        super().advance_month()
        self._give_up_far_away()

    def reverse_month(self) -> None:
        super().reverse_month()
        self._give_up_far_away()

    def _give_up_far_away(self) -> None:
        if abs(self.dt.date() - self._from) > _GIVES_UP:
            raise StopIteration
