"""Twenty groups on three coordinators, released at once: they take turns, whatever becomes of the operator."""

from __future__ import annotations

from types import ModuleType
from typing import Any, Final

import pytest
from _pytest.mark import ParameterSet

from slackwater.api.fleet_budgets import MoveReason
from slackwater.core.decision.acts import Purpose, WriteWorkload
from slackwater.core.fleet import standstill
from slackwater.core.handover import steps
from slackwater.core.protocol import cutover
from slackwater.core.rollout import in_place
from slackwater.core.world.memory import RolloutPhase
from slackwater.core.world.profile import StrategyName
from tests.core.fleet.groups import Groups, Kill, OfTheFleet, OneGroup, Weaker
from tests.core.simulation.invariants import Broken
from tests.core.simulation.outside import Outside
from tests.core.simulation.runs import Run

COMPLETE, FAILED = RolloutPhase.COMPLETE, RolloutPhase.FAILED
BUDGETS: Final = [{"name": "all", "max": 2}, {"name": "coordinators", "per": "Coordinator", "max": 1}]


def slowly(kill: Kill) -> ParameterSet:
    """Explored by `make explore`; whoever only runs the tests sees the operator live, and killed after its writes."""
    return pytest.param(kill, marks=pytest.mark.slow)


KILLS: Final = [None, slowly(Kill.AFTER), slowly(Kill.LATE)]


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


@pytest.mark.parametrize("kill", [slowly(each) for each in Kill])
@pytest.mark.parametrize("every", [1, 3])
def test_an_operator_that_is_killed_at_its_writes_lets_nobody_move_beyond_the_budgets(kill: Kill, every: int) -> None:
    """At each that says something new, or at every third: another one leads then, and knows what was written."""
    groups = running(Groups(twenty(), {"budgets": BUDGETS}))
    groups.kill, groups.kills_every = kill, every
    apply(groups)
    groups.until_all(COMPLETE, image="v2", within_s=4000)
    assert groups.kills > 60
    assert [each.invariants.restarts for each in groups] == [2] * 20


WAYS: Final[dict[str, dict[str, Any]]] = {
    "warm handover": {"strategy": "WarmHandover"},
    "dynamic members": {"static": False},
    "a canary": {"canary": [{"replicas": 1, "hold": "10s"}]},
    "a canary held for long": {"canary": [{"replicas": 1, "hold": "200s"}]},
    "KIP-848": {"kip848": True},
}


@pytest.mark.parametrize("kill", KILLS)
@pytest.mark.parametrize("way", WAYS)
def test_each_way_of_rolling_out_takes_turns(way: str, kill: Kill | None) -> None:
    groups = running(Groups(twenty(6, **WAYS[way]), {"budgets": BUDGETS}))
    groups.kill = kill
    apply(groups)
    groups.until_all(COMPLETE, image="v2", within_s=4000)
    assert all(each.memory.turn is not None and each.memory.turn.done_at is not None for each in groups)


def test_a_canary_is_held_without_a_turn() -> None:
    """Each hold takes 10 minutes, and two groups may move at a time."""
    canary = [{"replicas": 1, "hold": "600s"}]
    groups = running(Groups(twenty(6, canary=canary), {"budgets": BUDGETS}))
    now = groups.now
    apply(groups)
    groups.until_all(COMPLETE, image="v2", within_s=4000)
    assert groups.now - now < 1200
    assert {len(each.given) for each in groups} == {2}
    assert all(each.memory.took is not None and each.memory.took.p50 > 600 for each in groups), "its rollout is one"


JAVA: Final = {"library": "Java", "version": "3.8.0"}
UPGRADES: Final[dict[StrategyName, tuple[dict[str, Any], str]]] = {
    StrategyName.TWO_BOUNCE: ({"protocol": {"target": "Eager"}, "client": JAVA}, "Cooperative"),
    StrategyName.ONLINE_MIGRATION: ({"protocol": {"target": "Eager"}}, "Consumer"),
    StrategyName.DRAIN_CUTOVER: ({"protocol": {"target": "Eager", "allowDowntime": True}}, "Cooperative"),
}


@pytest.mark.parametrize("kill", KILLS)
@pytest.mark.parametrize("upgrade", UPGRADES)
def test_each_step_to_another_protocol_takes_a_turn_and_keeps_its_order(
    upgrade: StrategyName, kill: Kill | None
) -> None:
    options, target = UPGRADES[upgrade]
    groups = running(Groups(twenty(6, **options), {"budgets": BUDGETS}))
    groups.kill = kill
    for each in groups:
        each.outside.change_target(target)
    now = groups.now
    groups.until("begun", lambda: all(each.memory.upgrade is not None for each in groups), 30)
    assert {each.memory.upgrade.strategy for each in groups if each.memory.upgrade is not None} == {upgrade}
    groups.until("upgraded", lambda: all(is_on(each, target) for each in groups), 4000)
    for each in groups:
        turn = each.memory.turn
        assert turn is not None
        assert turn.reason is MoveReason.PROTOCOL_UPGRADE
        assert turn.asked_at <= now + 30, "the last step asks as the first one did"


def is_on(group: OneGroup, target: str) -> bool:
    memory = group.memory
    return memory.phase is COMPLETE and memory.upgrade is None and memory.protocol == target


def test_six_groups_and_an_operator_that_is_killed_after_each_write() -> None:
    groups = running(Groups(twenty(6), {"budgets": BUDGETS}))
    groups.kill = Kill.AFTER
    apply(groups)
    groups.until_all(COMPLETE, image="v2", within_s=4000)
    assert groups.kills > 20


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


def test_a_fleet_that_stops_who_has_begun_leaves_no_pod_down_and_no_budget_taken() -> None:
    groups = running(Groups(twenty(6), {"budgets": BUDGETS}, stops={"pause"}))
    apply(groups)
    groups.until("one moves", lambda: any(each.is_away for each in groups))
    groups.set_shut("pause", is_shut=True)
    groups.for_seconds(400)
    assert not any(each.is_away for each in groups)
    assert {each.memory.phase for each in groups} == {RolloutPhase.PROGRESSING}
    assert not any(each.memory.turn.is_held for each in groups if each.memory.turn is not None)
    groups.set_shut("pause", is_shut=False)
    groups.until_all(COMPLETE, image="v2")


def test_a_bad_version_reaches_no_more_groups_than_move_at_a_time_and_the_right_one_goes_through_the_halt() -> None:
    """The groups that it broke are the first to get the next one: no halt that they caused keeps them from it."""
    groups = running(Groups(twenty(), {"budgets": BUDGETS, "halt": {"failures": 0}}))
    apply(groups, "never-consumes")
    groups.until("halted", lambda: groups.is_halted)
    groups.for_seconds(200)
    broken = [each for each in groups if each.memory.phase is FAILED]
    assert 1 <= len(broken) <= 2
    assert sum(each.invariants.restarts for each in groups) == len(broken)
    for each in broken:
        each.outside.apply("v2")
    groups.until("mended", lambda: all(each.memory.phase is COMPLETE for each in broken))
    assert not groups.is_halted
    apply(groups)
    groups.until_all(COMPLETE, image="v2")


def test_those_with_a_bad_version_go_first_when_all_get_the_right_one_during_the_halt() -> None:
    """Whoever has asked for longer, and was spared the bad version, waits until each of them is mended."""
    groups = running(Groups(twenty(), {"budgets": BUDGETS, "halt": {"failures": 0}}))
    apply(groups, "never-consumes")
    groups.until("halted", lambda: groups.is_halted)
    groups.for_seconds(200)
    broken = [each for each in groups if each.memory.phase is FAILED]
    others = [each for each in groups if each not in broken]
    assert broken
    assert not any(each.given for each in others)
    began = {each.name: len(each.given) for each in groups}
    apply(groups, "v2")
    groups.until_all(COMPLETE, image="v2")
    assert not groups.is_halted
    first = {each.name: each.given[began[each.name]] for each in groups}
    assert max(first[each.name] for each in broken) < min(first[each.name] for each in others)


def test_the_right_version_goes_through_the_halt_after_its_canary_too() -> None:
    """The canary's hold takes the turn away, and the rollout asks again: as the fix that it is."""
    canary = [{"replicas": 2, "hold": "200s"}]
    groups = running(Groups(twenty(6, replicas=3, canary=canary), {"budgets": BUDGETS, "halt": {"failures": 0}}))
    apply(groups, "never-consumes")
    groups.until("halted", lambda: groups.is_halted)
    groups.for_seconds(200)
    broken = [each for each in groups if each.memory.phase is FAILED]
    for each in broken:
        each.outside.apply("v2")
    groups.until("mended", lambda: all(each.memory.phase is COMPLETE for each in broken), 600)
    assert not groups.is_halted


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


@pytest.mark.parametrize("way", ["in place", "warm handover", "cut-over"])
def test_a_group_whose_acts_are_refused_lets_others_go(way: str) -> None:
    """As by a webhook, or a quota. It tried the same again for ever, with its turn."""
    options = {"warm handover": WAYS["warm handover"], "cut-over": DRAINS}.get(way, {})
    groups = running(Groups(twenty(4, **options), {"budgets": [{"name": "all", "max": 1}]}))
    groups.set_shut("pause", is_shut=True)
    for each in groups:
        if way == "cut-over":
            each.outside.change_target("Cooperative")
        else:
            each.outside.apply("v2")
    groups.for_seconds(20)
    groups.set_shut("pause", is_shut=False)
    first = next(each for each in groups if groups.ledger.allocator.is_called(f"slackwater/{each.name}"))
    first.is_refused = True
    others = [each for each in groups if each is not first]
    groups.until("the others are done", lambda: all(each.memory.phase is COMPLETE for each in others), 1000)
    assert first.memory.phase is RolloutPhase.PROGRESSING
    first.is_refused = False
    groups.until("done", lambda: first.memory.phase is COMPLETE, 600)


def takes_up(group: OneGroup) -> bool:
    """Its StatefulSet has the template that is wanted now; what comes next takes a pod."""
    act = group.last.act if group.last is not None else None
    return isinstance(act, WriteWorkload) and act.purpose is Purpose.TAKE_TEMPLATE


def test_a_way_back_whose_acts_are_refused_lets_others_go_in_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """It asks nobody, and counts while it tries; what is refused for ever keeps nobody for ever."""
    monkeypatch.setattr(standstill, "STANDS_AFTER_S", 600.0)
    groups = running(Groups(twenty(3, onFailure="Rollback"), {"budgets": [{"name": "all", "max": 1}]}))
    broken, others = groups["g0"], [groups["g1"], groups["g2"]]
    broken.outside.apply("never-consumes")
    groups.until("the way back has begun", lambda: broken.memory.failed_hash != "" and takes_up(broken))
    broken.is_refused = True
    for each in others:
        each.outside.apply("v2")
    groups.for_seconds(500)
    assert not any(each.given for each in others), "it may go on yet"
    groups.until("the others are done", lambda: all(each.memory.phase is COMPLETE for each in others), 2500)
    assert broken.memory.phase is RolloutPhase.ROLLING_BACK
    assert broken.memory.turn is not None
    assert broken.memory.turn.stands
    assert broken.memory.step is not None
    assert not broken.memory.step.made
    broken.is_refused = False
    groups.until("back", lambda: broken.memory.phase is RolloutPhase.ROLLED_BACK, 600)
    assert not broken.memory.turn.stands


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
def test_the_invariants_find_a_leader_with_a_piece_missing(weaker: Weaker) -> None:
    groups = running(Groups(twenty(), {"budgets": BUDGETS}))
    groups.weaker, groups.kill = weaker, Kill.AFTER
    apply(groups)
    with pytest.raises(Broken, match="groups move in cell"):
        groups.until_all(COMPLETE, image="v2", within_s=4000)


DRAINS: Final = {"protocol": {"target": "Eager", "allowDowntime": True}}
ROOMS: Final[dict[str, tuple[ModuleType, dict[str, Any]]]] = {
    "in place": (in_place, {}),
    "warm": (steps, {"strategy": "WarmHandover"}),
    "cut-over": (cutover, DRAINS),
}


@pytest.mark.parametrize("piece", ["given", "turn_refusal"])
@pytest.mark.parametrize("room", ROOMS)
def test_the_invariants_find_who_does_not_ask_or_does_not_write(
    room: str, piece: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    module, options = ROOMS[room]
    monkeypatch.setattr(module, piece, lambda world, memory=None: memory)
    groups = running(Groups(twenty(6, **options), {"budgets": BUDGETS}))
    if module is cutover:
        for each in groups:
            each.outside.change_target("Cooperative")
    else:
        apply(groups)
    with pytest.raises(Broken, match="without a turn"):
        groups.for_seconds(300)
