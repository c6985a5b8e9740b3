"""Twenty groups on three coordinators, released at once: they take turns, whatever becomes of the operator."""

from __future__ import annotations

from typing import Any, Final

import pytest

from slackwater.core.world.memory import RolloutPhase
from tests.core.fleet.groups import Groups, Kill, OfTheFleet, Weaker
from tests.core.simulation.invariants import Broken
from tests.core.simulation.outside import Outside
from tests.core.simulation.runs import Run

COMPLETE, FAILED = RolloutPhase.COMPLETE, RolloutPhase.FAILED
BUDGETS: Final = [{"name": "all", "max": 2}, {"name": "coordinators", "per": "Coordinator", "max": 1}]


def twenty(number: int = 20, replicas: int = 2, **options: Any) -> tuple[OfTheFleet, ...]:
    return tuple(OfTheFleet(f"g{n}", n % 3 + 1, {"replicas": replicas, **options}) for n in range(number))


def running(groups: Groups) -> Groups:
    groups.until_all(COMPLETE, image="v1")
    groups.for_seconds(20)
    return groups


def apply(groups: Groups, version: str = "v2") -> None:
    for each in groups:
        each.outside.apply(version)


def without_a_fleet() -> int:
    """How many writes a rollout costs."""
    run = Run(Outside(replicas=2))
    run.until(COMPLETE)
    run.for_seconds(20)
    before = run.operator.writes
    run.outside.apply("v2")
    run.step()
    run.until(COMPLETE)
    run.for_seconds(20)
    return run.operator.writes - before


def test_all_are_done_one_after_the_other_and_a_wait_costs_one_write() -> None:
    groups = running(Groups(twenty(), {"budgets": BUDGETS}))
    before = {each.name: each.writes for each in groups}
    apply(groups)
    groups.until_all(COMPLETE, image="v2")
    assert [each.invariants.restarts for each in groups] == [2] * 20
    assert {tuple(each.waits_of) for each in groups} <= {(), (0,)}  # whoever is called writes no more before it begins
    began = sorted(each.given[-1] for each in groups)
    assert len(began) == 20
    assert began[-1] - began[0] > 60
    groups.for_seconds(20)
    done = {each.name: each.writes for each in groups}
    groups.for_seconds(60)
    assert done == {each.name: each.writes for each in groups}, "nothing is written at rest"
    assert max(done[name] - before[name] for name in done) <= without_a_fleet() + 1


def test_who_waits_is_at_rest() -> None:
    """No look at Kafka each second, and no write, for as long as the fleet is closed."""
    groups = running(Groups(twenty(), {"budgets": BUDGETS}, shut={"windows"}))
    apply(groups)
    groups.for_seconds(20)
    writes = {each.name: each.writes for each in groups}
    assert {each.outside.status["phase"] for each in groups} == {"Waiting"}
    assert not any(each.moves for each in groups)
    groups.for_seconds(300)
    assert writes == {each.name: each.writes for each in groups}
    assert not any(each.invariants.restarts for each in groups)
    groups.set_shut("windows", is_shut=False)
    groups.until_all(COMPLETE, image="v2")


@pytest.mark.parametrize("kill", Kill)
@pytest.mark.parametrize("every", [1, 3])
def test_an_operator_that_is_killed_at_its_writes_lets_nobody_move_beyond_the_budgets(kill: Kill, every: int) -> None:
    """At each of them, or at every third: another one leads then, and knows what was written."""
    groups = running(Groups(twenty(), {"budgets": BUDGETS}))
    groups.kill, groups.kills_every = kill, every if kill is not Kill.BEFORE else max(every, 2)
    apply(groups)
    groups.until_all(COMPLETE, image="v2", within_s=4000)
    assert groups.kills > 60
    assert [each.invariants.restarts for each in groups] == [2] * 20


def test_nothing_begins_while_the_fleet_is_closed_and_who_has_begun_finishes() -> None:
    groups = running(Groups(twenty(), {"budgets": BUDGETS}))
    apply(groups)
    groups.until("one moves", lambda: any(each.is_away for each in groups))
    begun = {each.name for each in groups if each.given}
    groups.set_shut("pause", is_shut=True)
    groups.for_seconds(120)
    assert {each.name for each in groups if each.memory.phase is COMPLETE} == begun != set()
    groups.set_shut("pause", is_shut=False)
    groups.until_all(COMPLETE, image="v2")


def test_a_bad_version_reaches_no_more_groups_than_move_at_a_time_and_the_right_one_goes_through_the_halt() -> None:
    """The groups that it broke are the first to get the next one: no halt that they caused keeps them from it."""
    groups = running(Groups(twenty(), {"budgets": BUDGETS}, failures=0))
    apply(groups, "never-consumes")
    groups.until("halted", lambda: "halts" in groups.shut)
    groups.for_seconds(200)
    broken = [each for each in groups if each.memory.phase is FAILED]
    assert 1 <= len(broken) <= 2
    assert sum(each.invariants.restarts for each in groups) == len(broken)
    for each in broken:
        each.outside.apply("v2")
    groups.until("mended", lambda: all(each.memory.phase is COMPLETE for each in broken))
    assert groups.shut == set()
    apply(groups)
    groups.until_all(COMPLETE, image="v2")


def test_a_rollback_asks_nobody() -> None:
    groups = running(Groups(twenty(6, onFailure="Rollback"), {"budgets": BUDGETS}))
    apply(groups, "never-consumes")
    groups.until("one moves", lambda: any(each.is_away for each in groups))
    groups.set_shut("pause", is_shut=True)
    begun = [each for each in groups if each.given]
    groups.until("back", lambda: all(each.memory.phase is RolloutPhase.ROLLED_BACK for each in begun))
    assert all(each.memory.turn is not None and each.memory.turn.done_at is not None for each in begun)


def test_a_group_that_stands_still_gives_its_turn_to_others_and_comes_again_with_the_same_order() -> None:
    groups = running(Groups(twenty(6), {"budgets": [{"name": "all", "max": 1}]}))
    apply(groups)
    groups.until("one moves", lambda: any(each.is_away for each in groups))
    first = next(each for each in groups if each.given)
    first.outside.foreign_member(there=True)
    asked_at = first.memory.turn.asked_at if first.memory.turn is not None else None
    others = [each for each in groups if each is not first]
    groups.until("the others are done", lambda: all(each.memory.phase is COMPLETE for each in others), 2500)
    assert first.memory.phase is RolloutPhase.PROGRESSING
    assert first.memory.turn is not None
    assert first.memory.turn.asked_at == asked_at
    assert first.memory.turn.yielded > 0
    first.outside.foreign_member(there=False)
    groups.until_all(COMPLETE, image="v2")
    assert [each.invariants.restarts for each in groups] == [2] * 6


def test_pods_that_are_down_are_replaced_while_the_group_waits() -> None:
    groups = running(Groups(twenty(3, onFailure="Pause"), {"budgets": BUDGETS}))
    broken = groups["g0"]
    broken.outside.apply("never-joins")
    groups.until("failed", lambda: broken.memory.phase is FAILED)
    groups.set_shut("pause", is_shut=True)
    broken.outside.apply("v2")
    groups.until("mended", lambda: broken.outside.image(broken.outside.set.pods[1]) == "v2")
    groups.for_seconds(60)
    assert broken.outside.image(broken.outside.set.pods[0]) == "v1"
    assert broken.outside.status["phase"] == "Waiting"
    groups.set_shut("pause", is_shut=False)
    groups.until_all(COMPLETE)


def test_a_waiting_group_scales_at_once() -> None:
    groups = running(Groups(twenty(2), {"budgets": BUDGETS}))
    groups.set_shut("pause", is_shut=True)
    apply(groups)
    groups.for_seconds(20)
    groups["g0"].outside.scale(3)
    groups.until("scaled", lambda: len(groups["g0"].outside.pods) == 3, 30)
    assert groups["g0"].outside.status["phase"] == "Waiting"
    groups["g0"].outside.scale(0)
    groups.until("stopped", lambda: not groups["g0"].outside.pods, 60)


@pytest.mark.parametrize("weaker", Weaker)
def test_the_invariants_find_a_gate_with_a_piece_missing(weaker: Weaker) -> None:
    groups = running(Groups(twenty(), {"budgets": BUDGETS}))
    groups.weaker, groups.kill, groups.kills_every = weaker, Kill.AFTER, 5
    apply(groups)
    with pytest.raises(Broken):
        groups.until_all(COMPLETE, image="v2", within_s=4000)
