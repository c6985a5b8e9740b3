"""What fresh eyes played of windows and freezes."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime
from typing import Any, Final
from zoneinfo import ZoneInfo

import pytest
from cronsim import CronSim

from slackwater.core.fleet import calendar
from slackwater.core.fleet.calendar import LONGEST_S, Calendar, Once, Recurring
from slackwater.core.fleet.cron import STEPS, Steps, last_time, next_time
from tests.core.fleet.test_times import SALE, at, gates

FRIDAY: Final = "2026-11-27T12:00"
EVENINGS: Final = {"name": "evenings", "schedule": "0 18 * * 1-5", "duration": "4h", "underWay": "Stop"}
BERLIN: Final = ZoneInfo("Europe/Berlin")
HOUR_S, DAY_S = 3600.0, 86_400.0


@pytest.fixture
def looked_up(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How many times cronsim has looked for, and how many months it has gone through for them; none was known before,
    and none is kept."""
    for name in ("last_time", "next_time"):
        monkeypatch.setattr(calendar, name, getattr(calendar, name).__wrapped__)
    return counting(monkeypatch)


def counting(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    found = Counter[str]()
    for name in ("__next__", "advance_month", "reverse_month"):
        looks = getattr(CronSim, name)

        def counted(self: CronSim, name: str = name, looks: Any = looks) -> Any:
            found[name] += 1
            return looks(self)

        monkeypatch.setattr(CronSim, name, counted)
    return found


@pytest.mark.parametrize("windows", [0, 16])
@pytest.mark.parametrize("number", [1, 4, 64])
@pytest.mark.parametrize(
    ("schedule", "duration"),
    [
        ("* * * * *", "1h"),
        ("* * * * *", "30s"),
        ("*/1 * * * *", "1m"),
        ("*/5 * * * *", "1h"),
        ("0-58 0-23 * * *", "1m"),
        ("1-59/2 * * * *", "1m"),
        ("0 0 * * *", "24h"),
        ("0 0 29 2 *", "999h"),
        ("0 0 */31 * 1L", "999h"),
    ],
)
def test_one_look_has_so_much_work_and_no_more_whatever_a_tenant_writes(
    schedule: str, duration: str, number: int, windows: int, looked_up: Counter[str]
) -> None:
    """One event loop has all fleets: a single freeze took 4.6 s of it."""
    given: dict[str, Any] = {
        "freezes": [{"name": f"f{n}", "schedule": schedule, "duration": duration} for n in range(number)],
        "windows": [{"name": f"w{n}", "schedule": "1-59/2 * * * *", "duration": "1m"} for n in range(windows)],
    }
    gates(FRIDAY, timeZone="Europe/Berlin", **given)
    assert looked_up["__next__"] <= STEPS + 8 * (number + windows)
    assert looked_up["advance_month"] + looked_up["reverse_month"] <= 6 * STEPS


def test_sixty_four_freezes_of_one_schedule_cost_as_much_as_one_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever writes one such fleet writes forty: a look at each took a twentieth of a second, one after the other."""
    work = []
    for number in (1, 64):
        last_time.cache_clear()
        next_time.cache_clear()
        with monkeypatch.context() as patched:
            looked_up = counting(patched)
            freezes = [{"name": f"f{n}", "schedule": "* * * * *", "duration": "1m"} for n in range(number)]
            gates(FRIDAY, timeZone="Europe/Berlin", freezes=freezes)
            work.append(looked_up["__next__"])
    assert work[1] <= work[0]


@pytest.mark.parametrize("number", [1, 64])
def test_what_one_look_does_not_reach_is_looked_at_again_and_is_never_called_open(number: int) -> None:
    freezes = [{"name": f"f{n}", "schedule": "*/5 * * * *", "duration": "5m"} for n in range(number)]
    now, moment = at(FRIDAY), FRIDAY
    for _ in range(4):
        found = gates(moment, freezes=freezes)
        assert found.shut == {"freezes"}
        assert found.opening.until is None
        assert found.until is not None
        assert found.until - now >= HOUR_S
        now = found.until
        moment = datetime.fromtimestamp(now, UTC).replace(tzinfo=None).isoformat()


def test_no_look_forgets_a_rule_for_one_that_names_every_minute() -> None:
    busy = [{"name": f"f{n}", "schedule": "*/1 * * * *", "duration": "1m", "underWay": "Finish"} for n in range(63)]
    found = gates(FRIDAY, freezes=[*busy, {**SALE, "underWay": "Stop"}])
    assert found.stops == {"freezes"}
    reached = Recurring("last", "*/1 * * * *", 60.0, BERLIN).at(at(FRIDAY), Steps(64))
    assert reached is not None
    assert reached.ends - at(FRIDAY) >= STEPS // 128 * 60.0


def test_whose_end_a_few_steps_reach_is_known_to_its_end() -> None:
    """Of 64 that cover the weekdays hour by hour, each is."""
    found = Recurring("weekdays", "0 * * * 1-5", 30 * HOUR_S, BERLIN).at(at(FRIDAY), Steps(64))
    assert found is not None
    assert found.ends == datetime(2026, 11, 29, 5, tzinfo=BERLIN).timestamp()


def test_a_freeze_that_lasts_longer_than_is_looked_at_once_holds_to_its_end() -> None:
    """After eight days it was called open: to a new leader, or when somebody changed the fleet."""
    december = {"name": "december", "schedule": "0 0 1 12 *", "duration": "744h"}
    assert 31 * DAY_S > LONGEST_S
    for day in range(1, 32):
        found = gates(f"2026-12-{day:02}T12:00", freezes=[december])
        assert found.shut == {"freezes"}
        assert found.opening.until == at("2027-01-01T00:00")
    assert gates("2027-01-01T00:00", freezes=[december]).shut == frozenset()


@pytest.mark.parametrize("minute", [0, 10, 29])
def test_in_the_hour_that_comes_twice_what_began_in_the_first_one_goes_on(minute: int) -> None:
    """Who looked first in the second one took it for over."""
    freeze = Recurring("nights", "30 2 * * *", HOUR_S, BERLIN)
    now = datetime(2026, 10, 25, 2, minute, tzinfo=BERLIN, fold=1).timestamp()
    opening = Calendar((), (freeze,)).look(now)
    assert not opening.is_open
    assert opening.until == datetime(2026, 10, 25, 2, 30, tzinfo=BERLIN, fold=1).timestamp()
    assert freeze.next_after(now) == datetime(2026, 10, 26, 2, 30, tzinfo=BERLIN).timestamp()


def test_of_windows_that_come_once_a_year_the_first_outside_of_every_freeze_is_said() -> None:
    window = Recurring("new-year", "0 0 1 1 *", DAY_S, BERLIN)
    freezes = (
        Once("all-year", "2026-01-01T00:00", "2027-12-31T00:00", BERLIN),
        Once("then", "2027-12-31T12:00", "2028-01-03T00:00", BERLIN),
    )
    opening = Calendar((window,), freezes).look(datetime(2026, 11, 27, tzinfo=BERLIN).timestamp())
    assert not opening.is_open
    assert opening.until == datetime(2029, 1, 1, tzinfo=BERLIN).timestamp()


@pytest.mark.parametrize(
    "wrong",
    [
        {"override": {"until": "2026-12-29T12:00", "reason": "x"}},
        {"freezes": [{"name": "slip", "from": "2027-02-28T00:00", "to": "2027-02-30T00:00"}]},
        {"windows": [EVENINGS, {"name": "slip", "schedule": "0 25 * * *", "duration": "4h"}]},
    ],
    ids=["too long", "a freeze", "a window"],
)
def test_a_slip_lifts_no_window_that_stops(wrong: dict[str, Any]) -> None:
    given = {"windows": [EVENINGS], **wrong}
    closed, opened = gates("2026-11-27T23:00", **given), gates("2026-11-27T19:00", **given)
    assert closed.refused is not None
    assert closed.stops == {"windows"}
    assert opened.shut == {"accepted"}
    assert opened.stops == frozenset()
    assert opened.until == at("2026-11-27T22:00")
