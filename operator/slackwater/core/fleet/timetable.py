"""What time does to a fleet: which of its gates are shut now, which windows are open, and when that changes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from slackwater.api.consumer_fleet import ConsumerFleetSpec
from slackwater.api.fleet_times import Freeze, Window
from slackwater.core.fleet.calendar import LOOKS_AHEAD_S, Calendar, Once, Recurring, Rule

WINDOWS: Final = "windows"
FREEZES: Final = "freezes"
"""As in `claims.GATES`."""


@dataclass(frozen=True, slots=True)
class Times:
    """At one moment."""

    shut: frozenset[str] = frozenset()
    """Of `WINDOWS` and `FREEZES`, those that let nothing begin."""
    open_windows: frozenset[str] = frozenset()
    closes_at: float | None = None
    """When the last of the open windows closes in which only what fits may begin; None: whatever begins may go on."""
    changes_at: float | None = None
    """When any of it is otherwise; None: not for as long as is looked ahead."""
    by: str = ""
    """The freeze that holds, or the window that opens next."""


@dataclass(frozen=True, slots=True)
class Timetable:
    """Of one fleet."""

    windows: tuple[tuple[Rule, bool], ...] = ()
    """And whether only what fits may begin in it."""
    freezes: tuple[Rule, ...] = ()

    def look(self, now: float) -> Times:
        open_now = {rule.name: (span.ends, fit) for rule, fit in self.windows if (span := rule.at(now)) is not None}
        frozen = {rule.name: span.ends for rule in self.freezes if (span := rule.at(now)) is not None}
        rules = (*(rule for rule, _ in self.windows), *self.freezes)
        later = [at for rule in rules if (at := rule.next_after(now)) is not None]
        changes_at = min([*later, *(ends for ends, _ in open_now.values()), *frozen.values()], default=None)
        closed = bool(self.windows) and not open_now
        shut = ({WINDOWS} if closed else set()) | ({FREEZES} if frozen else set())
        return Times(
            shut=frozenset(shut),
            open_windows=frozenset(open_now),
            closes_at=None if not all(fit for _, fit in open_now.values()) else max(_ends(open_now), default=None),
            changes_at=changes_at if changes_at is not None and changes_at - now <= LOOKS_AHEAD_S else None,
            by=max(frozen, key=frozen.__getitem__, default="") or (self._next_window(now) if closed else ""),
        )

    def opens(self, now: float) -> float | None:
        """When groups may begin, from `now` on; None: not for as long as is looked ahead."""
        opening = Calendar(tuple(rule for rule, _ in self.windows), self.freezes).look(now)
        return now if opening.is_open else opening.until

    def _next_window(self, now: float) -> str:
        found = [(at, rule.name) for rule, _ in self.windows if (at := rule.next_after(now)) is not None]
        return min(found, default=(0.0, ""))[1]


def timetable_of(spec: ConsumerFleetSpec) -> Timetable:
    """Raises ZoneInfoNotFoundError where nobody knows its time zone: it is not accepted then."""
    if spec.time_zone is None:
        return Timetable()
    zone = zone_of(spec.time_zone)
    windows = tuple((_window(each, zone), each.fit) for each in spec.windows)
    return Timetable(windows, tuple(_freeze(each, zone) for each in spec.freezes))


@lru_cache(maxsize=64)
def zone_of(name: str) -> ZoneInfo:
    """Raises ZoneInfoNotFoundError."""
    try:
        return ZoneInfo(name)
    except (ValueError, OSError) as error:
        raise ZoneInfoNotFoundError(name) from error


def _ends(open_now: dict[str, tuple[float, bool]]) -> list[float]:
    return [ends for ends, _ in open_now.values()]


def _window(window: Window, zone: ZoneInfo) -> Rule:
    return Recurring(window.name, window.schedule, window.duration_ms / 1000, zone)


def _freeze(freeze: Freeze, zone: ZoneInfo) -> Rule:
    if freeze.begins is not None and freeze.ends is not None:
        return Once(freeze.name, freeze.begins, freeze.ends, zone)
    return Recurring(freeze.name, freeze.schedule or "", (freeze.duration_ms or 0) / 1000, zone)
