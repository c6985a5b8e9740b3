"""Windows and freezes against every minute, looked at one by one: over years, in zones that change their clocks."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Final
from zoneinfo import ZoneInfo

import pytest

from slackwater.core.fleet.calendar import LONGEST_S, Calendar, Once, Opening, Recurring

ZONES: Final = ("UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu", "America/St_Johns")
BERLIN: Final = ZoneInfo("Europe/Berlin")
MINUTE_S, HOUR_S, DAY_S = 60.0, 3600.0, 86_400.0


def moment(text: str, zone: ZoneInfo = BERLIN, fold: int = 0) -> float:
    return datetime.fromisoformat(text).replace(tzinfo=zone, fold=fold).timestamp()


def minutes(zone: ZoneInfo, begins: datetime, days: int) -> Iterator[tuple[float, datetime]]:
    for number in range(days * 1440):
        at = begins + timedelta(minutes=number)
        yield at.timestamp(), at.astimezone(zone)


def begins_by_the_minute(
    zone: ZoneInfo, begins: datetime, days: int, hour: int, minute: int, weekdays: set[int]
) -> set[float]:
    """Where the clock shows it for the first time on its day; where it skips it, when it has done so."""
    found: dict[object, float] = {}
    before: datetime | None = None
    for at, local in minutes(zone, begins, days):
        wanted = local.replace(hour=hour, minute=minute)
        day = local.date()
        has_come = (local.hour, local.minute) == (hour, minute)
        was_skipped = before is not None and before.replace(tzinfo=None) < wanted.replace(tzinfo=None) < local.replace(
            tzinfo=None
        )
        if (has_come or was_skipped) and day not in found and local.isoweekday() % 7 in weekdays:
            found[day] = at
        before = local
    return set(found.values())


@pytest.mark.parametrize("zone", ZONES)
@pytest.mark.parametrize(
    ("hour", "minute", "duration_s"),
    [(22, 0, 7 * HOUR_S), (2, 30, HOUR_S), (1, 15, 26 * HOUR_S), (0, 0, 30 * MINUTE_S), (2, 0, 1 * HOUR_S)],
)
@pytest.mark.parametrize(
    "begins", [datetime(2026, 3, 1, tzinfo=UTC), datetime(2026, 9, 25, tzinfo=UTC)], ids=["spring", "autumn"]
)
def test_a_window_is_open_in_the_minutes_in_which_it_should(
    zone: str, hour: int, minute: int, duration_s: float, begins: datetime
) -> None:
    days, weekdays = 50, {1, 2, 3, 4, 5, 0}
    window = Recurring("nights", f"{minute} {hour} * * 0-5", duration_s, ZoneInfo(zone))
    calendar = Calendar((window,))
    begun = sorted(begins_by_the_minute(ZoneInfo(zone), begins - timedelta(days=8), days + 8, hour, minute, weekdays))
    said: Opening | None = None
    for at, _ in minutes(ZoneInfo(zone), begins, days - 2):
        expected = any(each <= at < each + duration_s for each in begun if at - duration_s - DAY_S < each <= at)
        if said is None or said.until is None or at >= said.until:
            said = calendar.look(at)
        assert said.is_open is expected, (datetime.fromtimestamp(at, ZoneInfo(zone)), said)


def test_an_opening_in_the_hour_that_is_left_out_is_at_its_end() -> None:
    window = Recurring("nights", "30 2 * * *", HOUR_S, BERLIN)
    before = moment("2026-03-29T00:30")
    assert window.next_after(before) == moment("2026-03-29T03:00")


def test_one_in_the_hour_that_comes_twice_is_at_the_first() -> None:
    window = Recurring("nights", "30 2 * * *", HOUR_S, BERLIN)
    first = moment("2026-10-25T02:30")
    assert window.next_after(first - HOUR_S) == first
    assert window.next_after(first) == moment("2026-10-26T02:30")


def test_a_freeze_never_ends_early() -> None:
    """At a time that comes twice it ends at the second."""
    freeze = Once("change", "2026-10-25T02:30", "2026-10-25T02:45", BERLIN)
    span = freeze.at(moment("2026-10-25T02:30"))
    assert span is not None
    assert span.ends == moment("2026-10-25T02:45", fold=1)


FREEZE: Final = Once("black-friday", "2026-11-26T00:00", "2026-12-01T00:00", BERLIN)
NIGHTS: Final = Recurring("nights", "0 22 * * 1-5", 7 * HOUR_S, BERLIN)


@pytest.mark.parametrize(
    ("calendar", "at", "opening"),
    [
        (Calendar(), "2026-11-24T12:00", Opening(True)),
        (Calendar((NIGHTS,)), "2026-11-24T12:00", Opening(False, moment("2026-11-24T22:00"), "nights")),
        (Calendar((NIGHTS,)), "2026-11-24T22:00", Opening(True, moment("2026-11-25T05:00"), "nights")),
        (Calendar((NIGHTS,)), "2026-11-28T06:00", Opening(False, moment("2026-11-30T22:00"), "nights")),
        (Calendar((), (FREEZE,)), "2026-11-24T12:00", Opening(True, moment("2026-11-26T00:00"))),
        (Calendar((), (FREEZE,)), "2026-11-27T12:00", Opening(False, moment("2026-12-01T00:00"), "black-friday")),
        (Calendar((NIGHTS,), (FREEZE,)), "2026-11-25T23:00", Opening(True, moment("2026-11-26T00:00"), "nights")),
        (
            Calendar((NIGHTS,), (FREEZE,)),
            "2026-11-30T12:00",
            Opening(False, moment("2026-12-01T00:00"), "black-friday"),
        ),
        (
            Calendar((NIGHTS,), (FREEZE,)),
            "2026-11-26T12:00",
            Opening(False, moment("2026-12-01T00:00"), "black-friday"),
        ),
    ],
)
def test_what_is_open_and_up_to_when(calendar: Calendar, at: str, opening: Opening) -> None:
    assert calendar.look(moment(at)) == opening


def test_of_one_that_is_always_open_no_more_than_days_are_looked_at() -> None:
    now = moment("2026-11-24T12:00")
    opening = Calendar((Recurring("always", "* * * * *", MINUTE_S, BERLIN),)).look(now)
    assert opening.is_open
    assert opening.until is not None
    assert 7 * DAY_S < opening.until - now <= LONGEST_S + MINUTE_S
