"""What keeps groups from beginning at one moment, whom it stops, and up to when that holds."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, Final

import pytest

from slackwater.api.consumer_fleet import ConsumerFleetSpec
from slackwater.core.fleet.claims import Fleet
from slackwater.core.fleet.reasons import FleetReason
from slackwater.core.fleet.times import Gates, Scope, gates_of

NIGHTS: Final = {"name": "nights", "schedule": "0 22 * * *", "duration": "7h"}
LUNCH: Final = {"name": "lunch", "schedule": "0 12 * * *", "duration": "1h"}
SALE: Final = {"name": "sale", "from": "2026-11-26T00:00", "to": "2026-12-01T00:00"}
SCOPE: Final = Scope("slackwater")


def at(text: str) -> float:
    return datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()


def gates(moment: str, scope: Scope = SCOPE, namespace: str = "team-a", **spec: Any) -> Gates:
    given = {"selector": {}, "timeZone": "UTC", **spec}
    model = ConsumerFleetSpec.model_validate(given, context={"wire": True})
    return gates_of(Fleet(namespace, "fleet", model, namespace == scope.own), scope, at(moment))


@pytest.mark.parametrize(
    ("moment", "spec", "shut", "stops", "until"),
    [
        ("2026-11-24T12:00", {}, set(), set(), None),
        ("2026-11-24T12:00", {"pause": "INC"}, {"pause"}, {"pause"}, None),
        ("2026-11-24T12:00", {"windows": [NIGHTS]}, {"windows"}, set(), "2026-11-24T22:00"),
        ("2026-11-24T23:00", {"windows": [NIGHTS]}, set(), set(), "2026-11-25T05:00"),
        ("2026-11-24T12:30", {"windows": [{**NIGHTS, "underWay": "Stop"}, LUNCH]}, set(), set(), "2026-11-24T13:00"),
        ("2026-11-24T13:30", {"windows": [{**NIGHTS, "underWay": "Stop"}, LUNCH]}, {"windows"}, set(), None),
        ("2026-11-24T05:30", {"windows": [{**NIGHTS, "underWay": "Stop"}, LUNCH]}, {"windows"}, {"windows"}, None),
        ("2026-11-25T23:59", {"freezes": [SALE]}, set(), set(), "2026-11-26T00:00"),
        ("2026-11-26T00:00", {"freezes": [SALE]}, {"freezes"}, set(), "2026-12-01T00:00"),
        ("2026-11-26T00:00", {"freezes": [{**SALE, "underWay": "Stop"}]}, {"freezes"}, {"freezes"}, None),
    ],
)
def test_what_is_shut_and_whom_that_stops(
    moment: str, spec: dict[str, Any], shut: set[str], stops: set[str], until: str | None
) -> None:
    found = gates(moment, **spec)
    assert found.shut == shut
    assert found.stops == stops
    if until is not None:
        assert found.until == at(until)


def test_a_window_is_that_of_the_fleets_time_zone() -> None:
    found = gates("2026-11-24T21:00", timeZone="Europe/Berlin", windows=[NIGHTS])
    assert found.open_windows == {"nights"}
    assert found.until == at("2026-11-25T04:00")


def test_an_override_ends_by_itself_and_one_that_is_too_long_holds_nobody_up_for_ever() -> None:
    override = {"until": "2026-11-24T18:00", "reason": "INC"}
    assert gates("2026-11-24T12:00", override=override).override_until == at("2026-11-24T18:00")
    assert gates("2026-11-24T18:00", override=override).override_until is None
    assert gates("2026-11-24T18:00", override=override).refused is None
    early = gates("2026-11-23T12:00", override=override)
    assert early.refused is not None
    assert early.refused.reason is FleetReason.OVERRIDE_TOO_LONG
    assert early.until == at("2026-11-23T18:00")


@pytest.mark.parametrize(
    ("scope", "namespace", "namespaces", "reason"),
    [
        (SCOPE, "team-a", ["team-b"], FleetReason.NAMESPACES_NOT_ALLOWED),
        (SCOPE, "team-a", ["*"], FleetReason.NAMESPACES_NOT_ALLOWED),
        (SCOPE, "team-a", ["team-a"], None),
        (SCOPE, "slackwater", ["*"], None),
        (SCOPE, "slackwater", ["team-b"], None),
        (Scope("slackwater", ("team-a",)), "slackwater", ["team-b"], FleetReason.NAMESPACE_NOT_WATCHED),
        (Scope("slackwater", ("team-a",)), "slackwater", ["team-a", "*"], None),
    ],
)
def test_who_may_reach_into_other_namespaces(
    scope: Scope, namespace: str, namespaces: list[str], reason: FleetReason | None
) -> None:
    refused = gates("2026-11-24T12:00", scope, namespace, namespaces=namespaces).refused
    assert (None if refused is None else refused.reason) is reason


def test_the_sentences_say_what_to_do() -> None:
    not_allowed = gates("2026-11-24T12:00", namespaces=["*"]).refused
    assert not_allowed is not None
    assert not_allowed.message == (
        "a fleet reaches into other namespaces only from the operator's own (slackwater): remove spec.namespaces"
    )
    zone = gates("2026-11-24T12:00", timeZone="Europe").refused
    assert zone is not None
    assert zone.message == "no time zone is called Europe: write one such as Europe/Berlin or UTC"


@pytest.mark.parametrize(
    ("windows", "closes_at"),
    [
        ([NIGHTS], "2026-11-25T05:00"),
        ([{**NIGHTS, "fit": False}], None),
        ([NIGHTS, {**NIGHTS, "name": "long", "duration": "9h"}], "2026-11-25T07:00"),
        ([NIGHTS, {**NIGHTS, "name": "long", "duration": "9h", "fit": False}], None),
    ],
    ids=["one", "whatever it takes", "the last", "one of them"],
)
def test_what_begins_has_to_end_before_the_last_open_window_does(windows: Any, closes_at: str | None) -> None:
    found = gates("2026-11-24T23:00", windows=windows)
    assert found.closes_at == (None if closes_at is None else at(closes_at))
    assert gates("2026-11-24T12:00", windows=windows).closes_at is None


def test_a_window_that_opens_every_minute_is_not_worked_out_every_minute() -> None:
    """That takes more than a second, in which nothing else is done."""
    every_minute = {"name": "always", "schedule": "* * * * *", "duration": "1h"}
    found = gates("2026-11-24T12:00", windows=[every_minute])
    assert found.shut == frozenset()
    assert found.until is not None
    assert found.until - at("2026-11-24T12:00") > 86_400


@pytest.mark.parametrize(
    ("windows", "freezes_at"),
    [([NIGHTS], "2026-11-26T00:00"), ([{**NIGHTS, "fit": False}], None), ([], None)],
    ids=["fits", "whatever it takes", "no window"],
)
def test_in_a_window_what_begins_has_to_end_before_a_freeze_too(windows: Any, freezes_at: str | None) -> None:
    found = gates("2026-11-25T23:00", windows=windows, freezes=[SALE])
    assert found.freezes_at == (None if freezes_at is None else at(freezes_at))
