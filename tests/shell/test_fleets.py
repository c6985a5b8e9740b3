"""What groups' statuses say becomes turns; and no leader lets more groups move than fleets say."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from slackwater.adapters.cluster.paths import CONSUMER_FLEET, CONSUMER_GROUP
from slackwater.api.annotations import URGENT
from slackwater.api.fleet_budgets import MoveReason
from slackwater.api.telemetry.words import HeldBy
from slackwater.core.fleet.allocation import HORIZON_S
from slackwater.core.fleet.times import Scope
from slackwater.core.world.memory import RolloutMemory, RolloutPhase
from slackwater.core.world.turn import ALWAYS_ASKS, Stand, Turn, TurnRecord, TurnStanding
from slackwater.core.world.world import World
from slackwater.shell.fleet_objects import facts_of
from slackwater.shell.store import Key
from tests.core.factories import world
from tests.shell.fakes import KEY, fleet_object, group_object
from tests.shell.fleet_stage import CALM, FleetStage

ONE = [{"name": "all", "max": 1}]
HAS, CALLED, WAITS, NO_FLEET = TurnStanding.HAS, TurnStanding.CALLED, TurnStanding.WAITS, TurnStanding.NO_FLEET


async def stage(*groups: str, **fleet: Any) -> FleetStage:
    """These groups ask, one second after the other, of one fleet in which one of them may move."""
    found = FleetStage()
    found.fleet(**({"budgets": ONE} | fleet))
    await found.begin()
    for name in groups:
        found.asks(name)
        found.now += 1.0
    return found


async def test_without_a_fleet_nothing_is_counted_and_nobody_waits() -> None:
    found = FleetStage()
    await found.begin()
    found.asks("first", "second")
    assert found.standing("first") is NO_FLEET
    assert found.woken == []
    assert found.fleets.ledger.facts("default/first") is None
    assert await found.keeping.keep_once() is None
    assert found.api.asked == []


async def test_the_first_who_asks_is_called_and_woken_and_the_next_waits() -> None:
    found = await stage("first", "second")
    assert (found.standing("first"), found.standing("second")) == (CALLED, WAITS)
    assert set(found.woken) == {"first", "second"}, "each is looked at when it comes under a fleet"
    assert found.woken.count("second") == 1


async def test_a_turn_that_was_written_is_counted_before_the_pass_goes_on_and_its_end_wakes_the_next() -> None:
    found = await stage("first", "second")
    found.is_given("first")
    assert (found.standing("first"), found.standing("second")) == (HAS, WAITS)
    found.woken.clear()
    found.is_done("first")
    assert found.standing("second") is CALLED
    assert found.woken == ["second"]


@pytest.mark.parametrize("how", ["edited", "deleted"])
async def test_who_settles_counts_no_longer_than_its_fleets_say_by_now(how: str) -> None:
    """A day was a slip, perhaps: nobody waits for it once it is put right."""
    found = await stage("first", "second", settleFor="1s" if how == "deleted" else "24h")
    if how == "deleted":
        found.store.put(CONSUMER_FLEET, found.api._store(CONSUMER_FLEET, fleet_object(name="other", settleFor="24h")))
    found.asks("first", "second")
    found.is_given("first")
    found.is_done("first")
    found.passes(60.0)
    assert found.standing("second") is TurnStanding.WAITS
    if how == "deleted":
        found.delete(CONSUMER_FLEET, "other")
    else:
        found.fleet(budgets=ONE)
    assert found.standing("second") is TurnStanding.CALLED


async def test_who_stands_still_on_its_way_back_makes_room_until_its_next_step() -> None:
    found = await stage("first", "second", "third")
    found.is_given("first")
    began_at = found.now
    found.writes("first", "RollingBack", givenAt=began_at)
    assert found.standing("second") is WAITS
    found.writes("first", "RollingBack", givenAt=began_at, stands=True)
    assert found.standing("second") is CALLED
    found.is_given("second")
    found.writes("first", "RollingBack", givenAt=began_at)
    found.is_done("second")
    assert found.standing("third") is WAITS, "the first one has made a step, and counts again"
    found.is_done("first", "RolledBack")
    assert found.standing("third") is CALLED


async def test_who_settles_counts_until_that_is_over() -> None:
    found = await stage("first", "second", settleFor="1m")
    found.is_given("first")
    found.is_done("first")
    assert found.standing("second") is WAITS
    found.passes(61.0)
    assert found.standing("second") is CALLED


async def test_a_turn_says_whose_it_is_and_what_asks() -> None:
    found = await stage("first", budgets=[{"name": "all", "max": 1, "reasons": ["Rollout", "Scale"]}])
    key = Key(KEY.namespace, "first")
    obj = found.store.get(CONSUMER_GROUP, key)
    assert obj is not None
    turn = found.fleets.turn_of(key, found.fleets.memories.of(key, obj))
    assert turn == Turn(CALLED, ("default/fleet",), ALWAYS_ASKS | {MoveReason.SCALE})


async def test_who_waits_is_said_to_stand_at_what_has_no_room() -> None:
    found = await stage("first", "second")
    assert found.stands_at("first") is None, "it is called"
    assert found.stands_at("second") == Stand(HeldBy.BUDGET, "default/fleet", "all")
    paused = await stage("first", pause="INC-4711")
    assert paused.stands_at("first") == Stand(HeldBy.PAUSE, "default/fleet")


def about_to_begin(now: float) -> tuple[World, RolloutMemory, RolloutMemory]:
    """A world in which a group is called, its memory, and the memory by which it would have its turn."""
    before, turn = world(), TurnRecord(MoveReason.ROLLOUT, now)
    asks = replace(before.memory, turn=turn)
    gives = replace(asks, turn=replace(turn, given_at=now))
    return replace(before, memory=asks, turn=Turn(CALLED, ("default/fleet",))), asks, gives


async def test_a_call_that_lapsed_gives_no_turn_and_the_next_one_has_it() -> None:
    found = await stage("first", "second")
    called, asks, gives = about_to_begin(found.now)
    found.passes(121.0)
    assert (found.standing("first"), found.standing("second")) == (WAITS, CALLED)
    assert not found.fleets.may_write(Key(KEY.namespace, "first"), called, gives)
    assert found.fleets.may_write(Key(KEY.namespace, "second"), called, gives)
    assert found.fleets.may_write(Key(KEY.namespace, "first"), called, asks), "what gives no turn is always written"
    assert found.fleets.series["default/fleet"].turns["Rollout", "lapsed"] == 1


async def test_a_call_is_kept_while_its_turn_is_being_written() -> None:
    """Whatever becomes of the request is known by the end of the horizon: until then nobody else is given the room."""
    found = await stage("first", "second")
    called, _, gives = about_to_begin(found.now)
    found.passes(110.0)
    assert found.fleets.may_write(Key(KEY.namespace, "first"), called, gives)
    found.passes(HORIZON_S - 1)
    assert found.standing("second") is WAITS
    found.is_given("first")  # the answer was lost, and the watch brings it
    assert found.standing("first") is HAS
    found.passes(600.0)
    assert found.standing("second") is WAITS


@pytest.mark.parametrize("spec", [{"pause": "INC-4711"}, {"timeZone": "Nowhere/Land"}], ids=["paused", "not accepted"])
async def test_who_was_called_does_not_begin_when_its_fleet_shuts(spec: dict[str, Any]) -> None:
    found = await stage("first")
    found.fleet(budgets=ONE, **spec)
    assert found.standing("first") is WAITS
    found.fleet(budgets=ONE)
    assert found.standing("first") is CALLED


async def test_a_pause_stops_who_has_begun_and_wakes_them_both_times() -> None:
    found = await stage("first")
    found.is_given("first")
    found.woken.clear()
    found.fleet(budgets=ONE, pause="INC-4711")
    assert (found.standing("first"), found.woken) == (WAITS, ["first"])
    found.fleet(budgets=ONE)
    assert (found.standing("first"), found.woken) == (HAS, ["first", "first"])


async def test_a_closed_window_lets_who_has_begun_go_on_and_opens_by_the_clock() -> None:
    window = {"name": "days", "schedule": "0 14 * * *", "duration": "1h"}  # 1,000,000 s are 13:46:40 UTC
    found = FleetStage()
    found.fleet(budgets=[{"name": "all", "max": 2}], timeZone="UTC", windows=[window])
    found.writes("running", givenAt=found.now)
    await found.begin()
    found.asks("first")
    assert (found.standing("running"), found.standing("first")) == (HAS, WAITS)
    assert found.fleets.ticks_at() == 1_000_800.0
    found.passes(800.0)
    assert found.standing("first") is CALLED
    found.passes(3600.0)
    assert (found.standing("running"), found.standing("first")) == (HAS, WAITS)


async def test_what_passes_is_let_through_and_said() -> None:
    found = FleetStage()
    day = {"name": "days", "schedule": "0 3 * * *", "duration": "1h"}
    found.fleet(budgets=ONE, timeZone="UTC", windows=[day], urgent=["Windows"])
    await found.begin()
    found.asks("first", "second")
    urgent = found.store.get(CONSUMER_GROUP, Key(KEY.namespace, "second"))
    assert urgent is not None
    metadata = {**urgent["metadata"], "annotations": {URGENT: ""}}
    found._put(CONSUMER_GROUP, {**urgent, "metadata": metadata})
    assert (found.standing("first"), found.standing("second")) == (WAITS, CALLED)
    status = found.api.objects["ConsumerGroup", KEY.namespace, "second"]["status"]
    status["rollout"]["turn"]["givenAt"] = "1970-01-12T13:46:41Z"
    found._put(CONSUMER_GROUP, {**urgent, "metadata": metadata, "status": status})
    await found.keeping.keep_once()
    assert "LetThrough" in found.events()
    assert found.fleets.series["default/fleet"].turns["Rollout", "let_through"] == 1


async def test_too_many_failures_halt_before_the_room_is_given_on_and_the_fix_lifts_it() -> None:
    found = await stage("first", "second", halt={"failures": 0})
    found.is_given("first")
    found.woken.clear()
    found.is_done("first", "Failed")
    assert found.standing("second") is WAITS
    assert found.woken == []
    found.writes("first", isAFix=True)  # another template
    assert (found.standing("first"), found.standing("second")) == (CALLED, WAITS)
    found.writes("first", isAFix=True, givenAt=found.now)
    assert found.standing("second") is WAITS
    found.is_done("first")
    assert found.standing("second") is CALLED


async def test_a_halt_outlives_its_leader_and_a_command_lifts_it_once() -> None:
    found = await stage("first", "second", halt={"failures": 0})
    found.is_given("first")
    found.is_done("first", "RolledBack")
    await found.keeping.keep_once()
    assert found.status["halted"]["groups"] == ["default/first"]
    assert found.condition("Halted") == ("True", "TooManyFailed")
    found.lead()
    found.now += 7200.0  # longer ago than failures are counted
    await found.begin()
    assert found.standing("second") is WAITS
    found.resume("go")
    assert found.standing("second") is CALLED
    await found.keeping.keep_once()
    assert found.status["commands"] == {"resume": "go"}
    assert "halted" not in found.status
    assert found.condition("Halted") == ("False", "NotHalted")
    found.lead()
    await found.begin()
    assert found.standing("second") is CALLED, "what was resumed is not counted again, nor the command obeyed twice"


async def test_while_too_many_are_disturbed_at_a_coordinator_nobody_begins_there() -> None:
    found = await stage(*(f"g{number}" for number in range(6)))
    found.is_given("g0")
    for number in range(1, 5):
        found.sees(f"g{number}", replace(CALM, disturbed=True))
    found.is_done("g0")
    assert found.standing("g5") is WAITS
    assert found.standing("g1") is CALLED, "whoever is disturbed itself may be mended"
    found.is_given("g1")
    for number in range(1, 5):
        found.sees(f"g{number}")
    found.is_done("g1")
    for number in range(2, 5):
        found.is_given(f"g{number}")
        found.is_done(f"g{number}")
    assert found.standing("g5") is WAITS
    found.passes(119.0)
    assert found.standing("g5") is WAITS
    found.passes(2.0)
    assert found.standing("g5") is CALLED


async def test_who_was_not_looked_at_yet_counts_as_disturbed() -> None:
    found = FleetStage()
    found.fleet(budgets=ONE)
    for number in range(5):
        found.writes(f"g{number}")
    await found.list_all()
    found.fleets.begin()
    assert [found.standing(f"g{number}") for number in range(5)] == [WAITS] * 5
    for number in range(5):
        found.sees(f"g{number}")
    assert CALLED in [found.standing(f"g{number}") for number in range(5)]


async def test_a_turn_that_lands_after_the_list_counts_and_does_not_act() -> None:
    """An earlier leader's write, which was under way when this one began."""
    found = await stage("first")
    found.is_given("first")
    found.writes("late", givenAt=found.now)
    assert (found.standing("first"), found.standing("late")) == (HAS, WAITS)
    found.woken.clear()
    found.is_done("first")
    assert found.standing("late") is HAS, "there is room by now"
    assert found.woken == ["late"]


async def test_where_more_is_found_than_may_move_all_is_listed_again_after_the_horizon() -> None:
    found = FleetStage()
    found.fleet(budgets=ONE)
    found.writes("one", givenAt=found.now)
    found.writes("other", givenAt=found.now)
    await found.begin()
    assert (found.standing("one"), found.standing("other")) == (WAITS, WAITS)
    found.sees("other", replace(CALM, is_moving=True))
    found.now += HORIZON_S - 1.0
    found.api.requests.clear()
    again_s = await found.keeping.keep_once()
    assert again_s is not None
    assert again_s <= 1.0
    assert found.api.requests["GET", "consumergroups"] == 0
    found.now += 1.0
    await found.keeping.keep_once()
    assert found.api.requests["GET", "consumergroups"] == 1
    assert (found.standing("one"), found.standing("other")) == (WAITS, HAS), "who moves goes on first"


async def test_a_fleet_that_is_deleted_holds_nobody_back() -> None:
    found = await stage("first", "second")
    found.woken.clear()
    found.delete(CONSUMER_FLEET, "fleet")
    assert (found.standing("first"), found.standing("second")) == (NO_FLEET, NO_FLEET)
    assert set(found.woken) == {"first", "second"}


async def test_a_fleet_that_comes_later_counts_who_is_there() -> None:
    found = FleetStage()
    await found.begin()
    found.asks("first", "second")
    found.fleet(budgets=ONE)
    for name in ("first", "second"):
        found.sees(name)
    assert {found.standing("first"), found.standing("second")} == {CALLED, WAITS}
    assert {"first", "second"} <= set(found.woken), "each is looked at, since it waits from now on"


async def test_a_group_that_is_deleted_makes_room() -> None:
    found = await stage("first", "second")
    found.delete(CONSUMER_GROUP, "first")
    assert found.standing("second") is CALLED


OWN = Scope("operations", ("default", "operations"))


@pytest.mark.parametrize(
    ("namespace", "spec", "reason"),
    [
        ("default", {"namespaces": ["*"]}, "NamespacesNotAllowed"),
        ("operations", {"namespaces": ["default", "team-x"]}, "NamespaceNotWatched"),
        ("default", {"timeZone": "Nowhere/Land"}, "TimeZoneUnknown"),
        ("default", {"timeZone": "Europe"}, "TimeZoneUnknown"),
        (
            "default",
            {"timeZone": "UTC", "windows": [{"name": "w", "schedule": "99 * * * *", "duration": "1h"}]},
            "TimeNotUnderstood",
        ),
        (
            "default",
            {"timeZone": "UTC", "freezes": [{"name": "f", "from": "2026-02-30T00:00", "to": "2026-03-01T00:00"}]},
            "TimeNotUnderstood",
        ),
        (
            "default",
            {"timeZone": "UTC", "override": {"until": "1970-01-14T00:00", "reason": "INC"}},
            "OverrideTooLong",
        ),
        ("default", {"selector": {"matchLabels": {"no such key": "x"}}}, "InvalidSpec"),
    ],
)
async def test_a_fleet_that_is_not_accepted_lets_nobody_begin(namespace: str, spec: Any, reason: str) -> None:
    found = FleetStage(scope=OWN)
    found.fleet(budgets=ONE, namespace=namespace, **spec)
    await found.begin()
    found.asks("first")
    assert found.standing("first") is WAITS
    await found.keeping.keep_once()
    status = found.api.objects["ConsumerFleet", namespace, "fleet"]["status"]
    conditions = {each["type"]: (each["status"], each["reason"]) for each in status["conditions"]}
    assert conditions["Accepted"] == ("False", reason)
    assert conditions["Open"] == ("False", "NotAccepted")


async def test_an_override_lets_through_for_a_while_and_ends_by_itself() -> None:
    found = FleetStage()
    night = {"name": "night", "schedule": "0 3 * * *", "duration": "1h"}
    override = {"until": "1970-01-12T14:00", "reason": "INC-4711"}
    found.fleet(budgets=[{"name": "all", "max": 5}], timeZone="UTC", windows=[night], override=override)
    await found.begin()
    found.asks("first")
    assert found.standing("first") is CALLED
    await found.keeping.keep_once()
    assert found.status["overriddenUntil"] == "1970-01-12T14:00:00Z"
    assert "OverrideUsed" in found.events()
    found.passes(800.0)
    assert found.standing("first") is WAITS
    assert found.fleets.ledger.fleets()[0].gates.refused is None, "one that is over closes nothing"


@pytest.mark.parametrize("break_it", [lambda found: None, lambda found: found.lead()], ids=["kept", "new leader"])
async def test_a_new_leader_calls_as_the_one_before(break_it: Callable[[FleetStage], None]) -> None:
    found = await stage("first", "second", "third", budgets=[{"name": "all", "max": 2}])
    break_it(found)
    await found.begin() if not found.fleets._has_begun else None
    standings = {name: found.standing(name) for name in ("first", "second", "third")}
    assert standings == {"first": CALLED, "second": CALLED, "third": WAITS}


async def test_what_cannot_be_read_of_a_group_is_counted_as_it_was() -> None:
    found = await stage("first", "second")
    obj = found.store.get(CONSUMER_GROUP, Key(KEY.namespace, "first"))
    assert obj is not None
    found._put(CONSUMER_GROUP, {**obj, "status": {"rollout": {"phase": "Nonsense"}}})
    assert found.standing("second") is WAITS
    assert found.fleets.ledger.allocator.is_called("default/first")


async def test_a_late_turn_goes_on_though_its_fleet_is_closed() -> None:
    """It had begun: that a window is closed keeps groups from beginning, and no more."""
    found = FleetStage()
    day = {"name": "days", "schedule": "0 3 * * *", "duration": "1h"}
    found.fleet(budgets=ONE, timeZone="UTC", windows=[day])
    await found.begin()
    found.writes("late", givenAt=found.now)
    assert found.standing("late") is HAS


async def test_a_freeze_may_stop_who_has_begun() -> None:
    freeze = {"name": "sale", "from": "1970-01-12T14:00", "to": "1970-01-12T15:00", "underWay": "Stop"}
    found = await stage("first", timeZone="UTC", freezes=[freeze])
    found.is_given("first")
    found.woken.clear()
    found.passes(799.0)
    assert (found.standing("first"), found.woken) == (WAITS, ["first"])
    found.passes(3600.0)
    assert (found.standing("first"), found.woken) == (HAS, ["first", "first"])


async def test_who_rebalances_for_a_moment_keeps_the_call() -> None:
    """A call is for what the group takes: were that another thing, it would wait for its own spacing."""
    found = await stage("first", budgets=[{"name": "all", "max": 1, "spacing": "1h"}])
    found.sees("first", replace(CALM, disturbed=True))
    assert found.standing("first") is CALLED
    found.sees("first")
    assert found.standing("first") is CALLED


async def test_what_does_not_end_before_the_window_does_not_begin_and_others_do() -> None:
    window = {"name": "days", "schedule": "0 13 * * *", "duration": "1h"}  # it is 13:46:40, and closes in 800 s
    found = FleetStage()
    found.fleet(budgets=ONE, timeZone="UTC", windows=[window])
    await found.begin()
    took = {"pods": 3, "p50": 600.0, "p90": 900.0, "perPod": [200.0, 300.0]}
    for name, p90 in (("long", 900.0), ("short", 300.0)):
        found.asks(name)
        obj = found.api.objects["ConsumerGroup", KEY.namespace, name]
        rollout = {**obj["status"]["rollout"], "took": took | {"p90": p90}}
        found._put(CONSUMER_GROUP, {**obj, "status": {"rollout": rollout}})
        found.now += 1.0
    found.asks("new")
    assert (found.standing("long"), found.standing("short")) == (WAITS, WAITS)
    assert found.fleets.ledger.allocator.is_called("default/long")
    found.passes(121.0)
    assert found.standing("short") is CALLED
    found.is_given("short")
    found.is_done("short")
    found.woken.clear()
    assert found.standing("new") is CALLED, "by what others take for a pod, it ends before"
    found.fleet(budgets=ONE, timeZone="UTC", windows=[window | {"fit": False}])
    found.passes(121.0)
    assert found.standing("long") is CALLED


async def test_what_was_seen_before_the_last_fleet_went_is_not_believed_when_another_comes() -> None:
    """Without a fleet nobody looks: since then the group may have moved to another coordinator, or fallen ill."""
    found = await stage("first")
    found.delete(CONSUMER_FLEET, "fleet")
    found.fleet(budgets=ONE)
    facts = found.fleets.ledger.facts("default/first")
    assert facts is not None
    assert (facts.coordinator, facts.disturbed) == (None, None)


def test_what_failed_after_its_turn_had_ended_early_began_when_its_rollout_did() -> None:
    """Else it would be of a time before any `resume`, and never counted again."""
    turn = TurnRecord(MoveReason.ROLLOUT, 1_000.0, done_at=3_000.0, yielded=1)
    memory = RolloutMemory(phase=RolloutPhase.FAILED, turn=turn, started_at=2_000.0)
    facts = facts_of(group_object(), memory, CALM, (), 4_000.0)
    assert (facts.begun_at, facts.failed_at) == (2_000.0, 3_000.0)
