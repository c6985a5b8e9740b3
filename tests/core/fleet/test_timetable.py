"""What time does to a fleet: the gates are shut where a calendar says so, and nothing changes before it is said to."""

from __future__ import annotations

import random
from datetime import datetime
from typing import Any, Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import pytest

from slackwater.api.consumer_fleet import ConsumerFleetSpec
from slackwater.core.fleet.calendar import Calendar
from slackwater.core.fleet.timetable import FREEZES, WINDOWS, Timetable, timetable_of

BERLIN: Final = ZoneInfo("Europe/Berlin")


def table(**spec: Any) -> Timetable:
    return timetable_of(ConsumerFleetSpec.model_validate({"selector": {}, "timeZone": "Europe/Berlin", **spec}))


def local(text: str) -> float:
    return datetime.fromisoformat(text).replace(tzinfo=BERLIN).timestamp()


NIGHTS: Final = {"name": "nights", "schedule": "0 22 * * 1-5", "duration": "7h"}
NOONS: Final = {"name": "noons", "schedule": "0 12 * * *", "duration": "1h", "fit": False}
FREEZE: Final = {"name": "black-friday", "from": "2026-11-26T00:00", "to": "2026-12-01T00:00"}
LUNCH: Final = {"name": "lunch", "schedule": "30 12 * * *", "duration": "10m"}


def test_a_window_is_open_and_says_when_it_closes() -> None:
    times = table(windows=[NIGHTS]).look(local("2026-11-24T23:00"))
    assert (set(times.shut), set(times.open_windows)) == (set(), {"nights"})
    assert times.closes_at == times.changes_at == local("2026-11-25T05:00")


def test_closed_it_says_what_opens_next() -> None:
    times = table(windows=[NIGHTS]).look(local("2026-11-28T12:00"))
    assert (set(times.shut), times.by, times.changes_at) == ({WINDOWS}, "nights", local("2026-11-30T22:00"))


def test_where_one_of_the_open_windows_takes_what_does_not_fit_all_may_begin() -> None:
    times = table(windows=[{**NOONS, "name": "a", "fit": True}, NOONS]).look(local("2026-11-24T12:10"))
    assert (set(times.open_windows), times.closes_at) == ({"a", "noons"}, None)


def test_a_freeze_in_an_open_window_shuts_its_own_gate() -> None:
    """Who may pass freezes, and not windows, may begin."""
    times = table(windows=[NIGHTS], freezes=[FREEZE]).look(local("2026-11-26T23:00"))
    assert (set(times.shut), times.by) == ({FREEZES}, "black-friday")


def test_it_opens_when_window_and_freeze_allow_it() -> None:
    nights = table(windows=[NIGHTS], freezes=[FREEZE])
    assert nights.opens(local("2026-11-26T12:00")) == local("2026-12-01T00:00")
    assert nights.opens(local("2026-11-24T23:00")) == local("2026-11-24T23:00")


def test_without_either_it_is_always_open() -> None:
    always = timetable_of(ConsumerFleetSpec.model_validate({"selector": {}}))
    assert (always.look(0.0).shut, always.look(0.0).changes_at, always.opens(5.0)) == (frozenset(), None, 5.0)


def test_a_zone_that_nobody_knows_is_refused() -> None:
    with pytest.raises(ZoneInfoNotFoundError):
        table(windows=[NIGHTS], timeZone="Europe/Berlim")


@pytest.mark.parametrize("seed", range(20))
def test_it_says_what_a_calendar_says_and_changes_when_it_says(seed: int) -> None:
    draw = random.Random(seed)
    windows = draw.sample([NIGHTS, NOONS, {**NOONS, "name": "b", "schedule": "30 12 * * *"}], k=draw.randint(0, 3))
    freezes = draw.sample([FREEZE, LUNCH], k=draw.randint(0, 2))
    given = table(windows=windows, freezes=freezes)
    calendar = Calendar(tuple(rule for rule, _ in given.windows), given.freezes)
    at = local("2026-11-23T00:00") + 60 * draw.randint(0, 5000)
    for _ in range(12):
        times = given.look(at)
        assert calendar.look(at).is_open is not bool(times.shut)
        if times.changes_at is None:
            break
        assert times.changes_at > at
        for moment in (at + (times.changes_at - at) * draw.random() for _ in range(8)):
            same = given.look(moment)
            assert (same.shut, same.open_windows) == (times.shut, times.open_windows)
        at = times.changes_at
