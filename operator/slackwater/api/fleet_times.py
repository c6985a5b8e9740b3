"""When groups of a fleet may begin: windows that are open, and freezes that are not.

Times of day are those of the fleet's time zone; what a day of 23 or 25 hours does to them is Kubernetes' users' oldest
complaint about cron, so it is said: an opening in the hour that is left out is at its end, one in the hour that comes
twice is once, and a duration is elapsed time.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Final

from pydantic import Field

from slackwater.api.durations import DurationMs, PositiveDurationMs, cel_between
from slackwater.api.fleet_budgets import Name
from slackwater.api.model import ApiModel, Flag, rule
from slackwater.api.text import Text

WEEK_MS: Final = 7 * 24 * 3_600_000
_PART: Final = "[*0-9A-Za-z]+(-[0-9A-Za-z]+)?(/[0-9]+)?"
_FIELD: Final = f"{_PART}(,{_PART})*"
CronSchedule = Annotated[
    str,
    Text(
        rf"{_FIELD}( {_FIELD}){{4}}",
        "write minute, hour, day of month, month and day of week, such as '0 22 * * 1-5'",
        128,
    ),
]
LocalTime = Annotated[
    str,
    Text(
        "[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])T([01][0-9]|2[0-3]):[0-5][0-9]",
        "write a local date and time, such as 2026-11-26T00:00, in spec.timeZone",
        16,
    ),
]
TimeZone = Annotated[
    str, Text("[A-Za-z0-9_+-]+(/[A-Za-z0-9_+-]+)*", "write a time zone's name, such as Europe/Berlin or UTC", 64)
]


class UnderWay(StrEnum):
    """What becomes of a group that has begun."""

    FINISH = "Finish"
    STOP = "Stop"


class Window(ApiModel):
    name: Name
    """What budgets, status and Events call it."""
    schedule: CronSchedule
    """When it opens: minute, hour, day of month, month and day of week, as in cron."""
    duration_ms: Annotated[PositiveDurationMs, Field(alias="duration")]
    """How long it stays open."""
    under_way: UnderWay = UnderWay.FINISH
    """When it closes, a group that has begun goes on (Finish), or stops between two pods (Stop)."""
    fit: Flag = True
    """Begin only what ends before the window does, and before a freeze begins, by what nine of ten of the group's
    rollouts took."""

    @rule(
        cel_between(("self.duration",), f"duration(self.duration) <= duration('{WEEK_MS // 3_600_000}h')"),
        "a window of more than a week is none: leave it out",
        field_path="duration",
    )
    def it_closes(self) -> bool:
        return self.duration_ms <= WEEK_MS


class Freeze(ApiModel):
    name: Name
    """What status and Events call it."""
    begins: Annotated[LocalTime | None, Field(alias="from")] = None
    """The local time at which it begins, in spec.timeZone."""
    ends: Annotated[LocalTime | None, Field(alias="to")] = None
    """The local time at which it ends."""
    schedule: CronSchedule | None = None
    """When it begins, where it comes again and again: as a window's."""
    duration_ms: Annotated[DurationMs | None, Field(alias="duration")] = None
    """With schedule: how long it lasts."""
    under_way: UnderWay = UnderWay.FINISH
    """When it begins, a group that has begun goes on (Finish), or stops between two pods (Stop)."""

    @rule(
        "(has(self.from) && has(self.to) && !has(self.schedule) && !has(self.duration))"
        " || (!has(self.from) && !has(self.to) && has(self.schedule) && has(self.duration))",
        "give a freeze its days (from, to) or a rule (schedule, duration)",
    )
    def it_has_days_or_a_rule(self) -> bool:
        days = (self.begins is not None, self.ends is not None)
        by_rule = (self.schedule is not None, self.duration_ms is not None)
        return (all(days) and not any(by_rule)) or (all(by_rule) and not any(days))

    @rule(
        "!has(self.from) || !has(self.to) || self.from < self.to",
        "a freeze ends after it begins",
        field_path="to",
    )
    def it_ends_after_it_begins(self) -> bool:
        return self.begins is None or self.ends is None or self.begins < self.ends
