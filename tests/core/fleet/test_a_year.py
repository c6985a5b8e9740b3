"""A year of windows, freezes and both changes of the clock: nothing begins outside, and nearly all end inside."""

from __future__ import annotations

from zoneinfo import ZoneInfo

import pytest

from tests.core.fleet.year import Year

ZONES = ("Europe/Berlin", "America/New_York", "Australia/Lord_Howe")


@pytest.mark.parametrize(
    ("zone", "groups", "deploys"),
    [
        ("Europe/Berlin", 100, 1_500),
        *(pytest.param(zone, 300, 20_000, marks=pytest.mark.slow) for zone in ZONES),
        pytest.param("Europe/Berlin", 10_000, 100_000, marks=[pytest.mark.slow, pytest.mark.minutes(5)]),
    ],
)
def test_in_a_year_nothing_begins_outside_and_nearly_all_end_inside(zone: str, groups: int, deploys: int) -> None:
    year = Year(ZoneInfo(zone), groups, deploys).play()
    assert year.waits == []
    outside = [each for each in year.began if not year.is_open(each.at)]
    assert outside == []
    inside = [each for each in year.began if year.is_open(each.ends_at)]
    assert len(inside) >= 0.995 * len(year.began)
    assert year.most["all"] <= max(1, groups * 2 // 100)
    assert len(year.began) > 0.5 * deploys


def test_without_fit_more_end_outside() -> None:
    year = Year(ZoneInfo("Europe/Berlin"), 100, 1_500, fit=False).play()
    outside = [each for each in year.began if not year.is_open(each.ends_at)]
    assert len(outside) > 0.01 * len(year.began)


def test_an_override_lets_all_begin_and_ends_by_itself() -> None:
    """On a frozen day, at noon: from then on for as long as it says, and not a second longer."""
    year = Year(ZoneInfo("Europe/Berlin"), 100, 1_500, override=("2026-11-27T12:00", "2026-11-27T18:00")).play()
    outside = [each for each in year.began if not year.is_open(each.at)]
    assert outside
    assert all(year.is_overridden(each.at) for each in outside)
    assert year.waits == []
