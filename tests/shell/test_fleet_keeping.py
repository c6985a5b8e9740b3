"""What is written of fleets, how often, and what people read of it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any, Final

import pytest

from slackwater.adapters.cluster.errors import ClusterUnreachable, Forbidden
from slackwater.adapters.cluster.paths import CONSUMER_FLEET
from slackwater.core.fleet.allocation import HORIZON_S
from slackwater.core.world.turn import TurnStanding
from slackwater.shell.fleet_keeping import LIST_AGAIN_S, STATUS_AGAIN_S
from slackwater.shell.fleet_metrics import FleetMetrics, paused_in
from slackwater.shell.leadership import NotLeading
from slackwater.shell.listing import VersionsWentBack
from slackwater.shell.metrics import Metrics
from slackwater.shell.own_fleets import OwnFleets
from slackwater.shell.store import Key
from tests.shell.fakes import KEY, fleet_object
from tests.shell.fleet_stage import CALM, START, FleetStage
from tests.shell.test_fleets import ONE, stage


def statuses(found: FleetStage) -> int:
    return found.api.asked.count("status ConsumerFleet")


async def test_a_status_is_written_once_in_ten_seconds_and_only_while_something_changes() -> None:
    found = await stage("first", "second")
    await found.keeping.keep_once()
    assert statuses(found) == 1
    found.is_given("first")
    found.is_done("first")
    found.now += 1.0
    again_s = await found.keeping.keep_once()
    assert statuses(found) == 1
    assert again_s == pytest.approx(STATUS_AGAIN_S - 1.0)
    found.now += STATUS_AGAIN_S
    await found.keeping.keep_once()
    assert statuses(found) == 2
    for _ in range(12):
        found.now += STATUS_AGAIN_S
        await found.keeping.keep_once()
    assert statuses(found) <= 3, "the last call lapses, which is the last that changes"


async def test_what_changes_nothing_that_is_said_is_no_write() -> None:
    found = await stage("first")
    await found.keeping.keep_once()
    found.now += STATUS_AGAIN_S
    found.sees("first", replace(CALM, coordinator=2))
    assert found.fleets.dirty
    found.api.asked.clear()
    await found.keeping.keep_once()
    assert found.api.asked == []


async def test_at_rest_nothing_is_due() -> None:
    found = await stage()
    await found.keeping.keep_once()
    found.api.asked.clear()
    assert await found.keeping.keep_once() is None
    assert found.api.asked == []


async def test_the_status_says_how_many_do_what_and_who_waits_for_the_longest_time() -> None:
    found = await stage("first", "second", "third")
    found.is_given("first")
    await found.keeping.keep_once()
    status = found.status
    assert status["groups"] == {
        "selected": 3,
        "waiting": 2,
        "called": 0,
        "moving": 1,
        "settling": 0,
        "failed": 0,
        "disturbed": 0,
    }
    assert status["budgets"] == [{"name": "all", "limit": 1, "used": 1, "cells": 1}]
    assert status["moving"] == ["default/first"]
    assert status["longest"] == {"group": "default/second", "since": "1970-01-12T13:46:41Z"}
    applied = found.api.objects["ConsumerFleet", "default", "fleet"]
    assert status["observedGeneration"] == applied["metadata"]["generation"]
    assert found.condition("Accepted") == ("True", "Accepted")
    assert found.condition("Open") == ("True", "Open")
    assert found.condition("Waiting") == ("True", "GroupsWait")
    assert found.condition("Overlaps") == ("False", "NoOverlap")


@pytest.mark.parametrize(
    ("spec", "reason", "message", "opens", "closes"),
    [
        ({"pause": "INC-4711"}, "Paused", "INC-4711", None, None),
        (
            {"timeZone": "UTC", "windows": [{"name": "w", "schedule": "0 14 * * *", "duration": "1h"}]},
            "WindowClosed",
            "window w opens at 1970-01-12T14:00:00Z",
            "1970-01-12T14:00:00Z",
            None,
        ),
        (
            {"timeZone": "UTC", "windows": [{"name": "w", "schedule": "0 13 * * *", "duration": "1h"}]},
            "Open",
            "window w is open until 1970-01-12T14:00:00Z",
            None,
            "1970-01-12T14:00:00Z",
        ),
        (
            {"timeZone": "UTC", "freezes": [{"name": "f", "from": "1970-01-12T00:00", "to": "1970-01-13T00:00"}]},
            "Frozen",
            "freeze f; groups begin again at 1970-01-13T00:00:00Z",
            "1970-01-13T00:00:00Z",
            None,
        ),
        (
            {"timeZone": "UTC", "freezes": [{"name": "f", "schedule": "0 0 * * *", "duration": "30h"}]},
            "Frozen",
            "freeze f; no end of it is in sight",
            None,
            None,
        ),
        (
            {
                "timeZone": "UTC",
                "windows": [{"name": "w", "schedule": "0 14 * * *", "duration": "1h"}],
                "freezes": [{"name": "f", "schedule": "0 14 * * *", "duration": "1h"}],
            },
            "WindowClosed",
            "no opening is in sight",
            None,
            None,
        ),
    ],
)
async def test_it_says_why_it_is_closed_and_until_when(
    spec: dict[str, Any], reason: str, message: str, opens: str | None, closes: str | None
) -> None:
    found = await stage("first", **spec)
    await found.keeping.keep_once()
    assert found.condition("Open")[1] == reason
    assert next(each for each in found.status["conditions"] if each["type"] == "Open")["message"] == message
    assert (found.status.get("opens"), found.status.get("closes")) == (opens, closes)
    assert found.status.get("next") == (opens or closes)


async def test_opened_closed_halted_and_resumed_are_told_once() -> None:
    found = await stage("first", "second", halt={"failures": 0})
    await found.keeping.keep_once()
    assert found.events() == [], "of a fleet that is new, nothing"
    found.fleet(budgets=ONE, halt={"failures": 0}, pause="INC-4711")
    found.now += STATUS_AGAIN_S
    await found.keeping.keep_once()
    found.fleet(budgets=ONE, halt={"failures": 0})
    found.now += STATUS_AGAIN_S
    await found.keeping.keep_once()
    found.is_given("first")
    found.is_done("first", "Failed")
    found.now += STATUS_AGAIN_S
    await found.keeping.keep_once()
    found.resume("go")
    found.now += STATUS_AGAIN_S
    await found.keeping.keep_once()
    assert found.events() == ["Closed", "Opened", "Halted", "TurnGiven", "Resumed"]


@pytest.mark.parametrize("failure", [ClusterUnreachable("no answer"), NotLeading("for a moment")], ids=str)
async def test_a_status_that_is_not_written_comes_later_after_a_conflict_once_the_watch_has_it(
    failure: Exception,
) -> None:
    found = await stage("first")
    found.api.failures["status ConsumerFleet"] = failure
    await found.keeping.keep_once()
    assert found.status == {}
    changed = found.api.changed_by_somebody(CONSUMER_FLEET, Key("default", "fleet"))
    found.now += STATUS_AGAIN_S
    await found.keeping.keep_once()
    assert found.status == {}
    found.store.put(CONSUMER_FLEET, changed)
    found.now += STATUS_AGAIN_S
    await found.keeping.keep_once()
    assert found.status["groups"]["selected"] == 1


async def test_two_fleets_of_one_layer_name_whom_both_select() -> None:
    found = await stage("first")
    found.fleet(name="other")
    await found.keeping.keep_once()
    assert found.condition("Overlaps") == ("True", "SelectedTwice")
    message = next(each["message"] for each in found.status["conditions"] if each["type"] == "Overlaps")
    assert message == "default/other selects default/first as well"


async def test_two_fleets_of_one_layer_that_give_different_defaults_say_so() -> None:
    found = await stage("first")
    found.fleet(defaults={"timeouts": {"session": "30s"}})
    found.fleet(name="other", defaults={"timeouts": {"session": "60s"}})
    await found.keeping.keep_once()
    assert found.condition("Overlaps") == ("True", "DefaultsDiffer")
    other = found.api.objects["ConsumerFleet", "default", "other"]["status"]["conditions"]
    assert [each["reason"] for each in other if each["type"] == "Overlaps"] == ["DefaultsDiffer"]


async def test_the_fleets_of_its_own_namespace_are_listed_where_that_is_not_watched() -> None:
    found = FleetStage()
    await found.begin()
    found.asks("first")
    found.api.add(CONSUMER_FLEET, fleet_object(7, namespace="operations", namespaces=["*"], pause="INC-4711"))
    api: Any = found.api
    own = OwnFleets(api, found.store, "operations", ("default",), lambda *_: None)
    await own.list_once()
    assert found.standing("first").value == "Waits"
    found.fleet(budgets=ONE)
    await own.list_once()
    assert len(found.fleets.ledger.fleets()) == 2, "those of other namespaces stay"
    found.api.forbidden.add("ConsumerFleet")
    await own.list_once()
    assert len(found.fleets.ledger.fleets()) == 2, "what may not be listed goes on to limit"
    found.api.forbidden.clear()
    del found.api.objects["ConsumerFleet", "operations", "fleet"]
    await own.list_once()
    assert [each.fleet.namespace for each in found.fleets.ledger.fleets()] == ["default"]


@asynccontextmanager
async def kept(found: FleetStage) -> AsyncIterator[None]:
    """With both parts that go on while this replica leads."""
    parts = [asyncio.create_task(part) for part in (found.keeping.keep(), found.keeping.keep_time())]
    try:
        yield
    finally:
        for part in parts:
            part.cancel()
        await asyncio.gather(*parts, return_exceptions=True)


async def test_a_window_closes_in_time_though_the_api_server_does_not_answer() -> None:
    window = {"name": "days", "schedule": "46 13 * * *", "duration": "1h"}  # 1,000,000 s are 13:46:40 UTC
    found = await stage("first", timeZone="UTC", windows=[window | {"fit": False}])
    assert found.standing("first") is TurnStanding.CALLED
    asked = asyncio.Event()

    async def never(*_: Any) -> Any:
        asked.set()
        await asyncio.Event().wait()

    api: Any = found.api
    api.apply_status = never
    async with kept(found), asyncio.timeout(10):
        await asked.wait()
        found.now += 3600.0
        found.fleets.stirred.set()
        for _ in range(10):
            await asyncio.sleep(0)
        assert found.standing("first") is TurnStanding.WAITS


async def test_what_is_due_sooner_than_it_was_is_seen_while_a_status_is_due() -> None:
    found = await stage("first", "second", settleFor="1s")
    found.is_given("first")
    await found.keeping.keep_once()
    found.fleets.tick()
    found.fleets.dirty.add("default/fleet")
    before = found.fleets.ticks_at()
    found.fleets.stirred.clear()
    found.is_done("first")
    assert found.fleets.stirred.is_set()
    assert found.fleets.ticks_at() < before


async def test_an_etcd_that_was_restored_ends_the_process() -> None:
    found = FleetStage()
    found.fleet(budgets=ONE)
    for name in ("first", "second"):
        found.writes(name, givenAt=found.now)
    await found.begin()
    found.passes(HORIZON_S)

    async def restored() -> None:
        raise VersionsWentBack(CONSUMER_FLEET)

    found.keeping._relist = restored
    with pytest.raises(VersionsWentBack):
        await found.keeping.keep_once()


async def test_a_list_that_fails_is_tried_again_soon_and_statuses_are_written_meanwhile() -> None:
    found = FleetStage()
    found.fleet(budgets=ONE)
    for name in ("first", "second"):
        found.writes(name, givenAt=found.now)
    await found.begin()
    found.passes(HORIZON_S)

    async def fails() -> None:
        raise ClusterUnreachable("no answer")

    found.keeping._relist = fails
    assert await found.keeping.keep_once() == LIST_AGAIN_S
    assert statuses(found) == 1
    found.keeping._relist = found.list_all
    found.now += LIST_AGAIN_S
    await found.keeping.keep_once()
    assert found.fleets.ledger.allocator.relist_at is None


async def test_a_fleet_that_may_not_be_read_again_keeps_no_other_from_being_written() -> None:
    found = await stage("first")
    found._put(CONSUMER_FLEET, fleet_object(found.api.version, name="other"))
    found.api.changed_by_somebody(CONSUMER_FLEET, Key(KEY.namespace, "fleet"))  # and no watch has brought it
    read = found.api.read

    async def refused(kind: Any, namespace: str, name: str) -> Any:
        if kind is CONSUMER_FLEET:
            raise Forbidden("cannot get consumerfleets (403)")
        return await read(kind, namespace, name)

    found.api.read = refused  # type: ignore[method-assign]
    await found.keeping.keep_once()
    assert "status" not in found.api.objects["ConsumerFleet", KEY.namespace, "fleet"]
    assert "status" in found.api.objects["ConsumerFleet", KEY.namespace, "other"]


async def test_of_a_fleet_that_is_gone_nothing_is_kept() -> None:
    found = await stage("first")
    await found.keeping.keep_once()
    assert found.keeping._written_at
    found.delete(CONSUMER_FLEET, "fleet")
    await found.keeping.keep_once()
    assert not found.keeping._written_at


async def test_an_event_that_may_not_be_written_stops_nothing() -> None:
    found = await stage("first", halt={"failures": 0})
    found.is_given("first")
    found.is_done("first", "Failed")
    found.api.failures["create Event"] = Forbidden("no")
    await found.keeping.keep_once()
    assert found.condition("Halted")[0] == "True"


async def test_metrics_are_there_for_each_fleet_and_go_with_it() -> None:
    found = await stage("first", "second", pause="")
    found.is_given("first")
    found.sees("second", replace(CALM, disturbed=True))
    metrics = Metrics()
    paused: dict[str, str] = {}
    metrics.registry.register(FleetMetrics(found.fleets, paused.get, lambda: START + 60.0))

    def value(name: str, **labels: str) -> float | None:
        return metrics.registry.get_sample_value(name, {"namespace": "default", "fleet": "fleet", **labels})

    assert value("slackwater_fleet_groups", standing="moving") == 1
    assert value("slackwater_fleet_groups", standing="waiting") == 1
    assert value("slackwater_fleet_groups", standing="disturbed") == 1
    assert value("slackwater_fleet_budget_limit", budget="all") == 1
    assert value("slackwater_fleet_budget_used", budget="all") == 1
    assert value("slackwater_fleet_turns_total", reason="Rollout", result="given") == 1
    assert value("slackwater_fleet_wait_seconds_count") == 1
    assert value("slackwater_fleet_oldest_wait_seconds") == 59.0
    assert value("slackwater_fleet_open") == 1
    assert value("slackwater_fleet_halted", reason="TooManyFailed") == 0
    found.is_done("first")
    assert value("slackwater_fleet_turn_seconds_count") == 1
    found.fleet(budgets=ONE, pause="INC-4711")
    paused["default/fleet"] = "1970-01-12T13:46:40Z"
    assert value("slackwater_fleet_open") == 0
    assert value("slackwater_fleet_paused_since_timestamp_seconds") == START
    found.delete(CONSUMER_FLEET, "fleet")
    assert value("slackwater_fleet_open") is None
    assert KEY.namespace == "default"


FREEZE: Final = {"timeZone": "UTC", "freezes": [{"name": "f", "from": "1970-01-01T00:00", "to": "1970-03-01T00:00"}]}
DAY_S: Final = 86_400.0
OVERRIDDEN: Final = "slackwater_fleet_overridden"


def value_of(found: FleetStage, name: str) -> float | None:
    """A metric of the fleet, now."""
    metrics = Metrics()
    metrics.registry.register(FleetMetrics(found.fleets, paused_in(found.store), lambda: found.now))
    return metrics.registry.get_sample_value(name, {"namespace": "default", "fleet": "fleet"})


def paused_since(found: FleetStage) -> float | None:
    """By the metric that the alert goes by."""
    return value_of(found, "slackwater_fleet_paused_since_timestamp_seconds")


async def test_a_pause_in_a_freeze_counts_from_when_it_was_made() -> None:
    found = await stage("first", **FREEZE)
    await found.keeping.keep_once()
    found.now += 3 * DAY_S
    found.fleet(budgets=ONE, **FREEZE, pause="INC-4711")
    await found.keeping.keep_once()
    assert found.condition("Open") == ("False", "Paused")
    paused_at = found.now
    assert paused_since(found) == paused_at
    found.now += 3600.0
    found.fleet(budgets=ONE, **FREEZE, pause="INC-4711: brokers are replaced")
    await found.keeping.keep_once()
    assert paused_since(found) == paused_at


async def test_a_pause_is_as_old_for_another_leader_and_with_another_reason_and_ends_with_it() -> None:
    found = await stage("first", pause="INC-4711")
    await found.keeping.keep_once()
    found.now += DAY_S
    found.lead()
    await found.begin()
    found.fleet(budgets=ONE, pause="INC-4712")
    await found.keeping.keep_once()
    assert found.status["pausedSince"] == "1970-01-12T13:46:41Z"
    assert paused_since(found) == START + 1.0
    found.now += STATUS_AGAIN_S
    found.fleet(budgets=ONE)
    await found.keeping.keep_once()
    assert "pausedSince" not in found.status
    assert paused_since(found) is None


async def test_a_pause_that_an_older_operator_saw_counts_from_its_condition() -> None:
    found = await stage("first", pause="INC-4711")
    await found.keeping.keep_once()
    obj = found.api.objects["ConsumerFleet", KEY.namespace, "fleet"]
    del obj["status"]["pausedSince"]
    found.now += DAY_S
    found.lead()
    await found.begin()
    await found.keeping.keep_once()
    assert paused_since(found) == START + 1.0


@pytest.mark.parametrize("besides", [{}, {"pause": "INC-4711"}])
async def test_a_metric_says_whether_an_override_is_in_force(besides: dict[str, Any]) -> None:
    """It mirrors `status.overriddenUntil`: from when it is read to its end, and no longer than it stands there."""
    found = await stage("first", **FREEZE, **besides)
    assert value_of(found, OVERRIDDEN) == 0
    override = {"until": "1970-01-12T14:00", "reason": "INC-4711"}
    found.fleet(budgets=ONE, **FREEZE, **besides, override=override)
    assert value_of(found, OVERRIDDEN) == 1
    found.fleet(budgets=ONE, **FREEZE, **besides)
    assert value_of(found, OVERRIDDEN) == 0, "taken away"
    found.fleet(budgets=ONE, **FREEZE, **besides, override=override)
    found.passes(900.0)
    assert value_of(found, OVERRIDDEN) == 0, "over"


async def test_where_the_clock_was_set_back_a_status_is_written_all_the_same() -> None:
    found = await stage("first", "second")
    await found.keeping.keep_once()
    found.now -= 3600.0
    found.is_given("first")
    await found.keeping.keep_once()
    assert statuses(found) == 2
