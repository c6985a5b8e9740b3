"""Warm rollouts in virtual time: nothing is idle, nothing rebalances, and whatever happens, they end."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from slackwater.core.decision.reasons import Reason
from slackwater.core.world.memory import RolloutPhase
from slackwater.core.world.observation import MemberRef
from slackwater.core.world.two_sets import names_of
from tests.core.factories import NAME
from tests.core.simulation import chance
from tests.core.simulation.operator import Crash, Crashes
from tests.core.simulation.outside import Outside
from tests.core.simulation.runs import Run
from tests.core.simulation.stateful_set import SimulatedPod

pytestmark = pytest.mark.slow

COMPLETE, ROLLED_BACK = RolloutPhase.COMPLETE, RolloutPhase.ROLLED_BACK
FIRST, SECOND = names_of(NAME)
ROOM_S = 60.0
PARTITIONS = 6


class Cost:
    """What a part of a run has cost."""

    def __init__(self, run: Run) -> None:
        self._broker = run.outside.broker
        self._idle_s = sum(self._broker.idle_s.values())
        self._rebalances = self._broker.rebalances

    @property
    def idle_s(self) -> float:
        return sum(self._broker.idle_s.values()) - self._idle_s

    @property
    def rebalances(self) -> int:
        return self._broker.rebalances - self._rebalances


def at_rest(version: str = "v1", crashes: Crash | None = None, **rollout: Any) -> Run:
    options: dict[str, Any] = {"strategy": "WarmHandover", "onFailure": "Rollback", **rollout}
    run = Run(Outside(version=version, **options), crashes=Crashes(crashes))
    run.until(COMPLETE)
    run.for_seconds(10)
    return run


def rolled_out(run: Run, version: str, *phases: RolloutPhase) -> Cost:
    cost = Cost(run)
    run.outside.apply(version)
    run.until(RolloutPhase.PROGRESSING)
    run.until(*(phases or (COMPLETE,)))
    run.for_seconds(30)
    return cost


def pods(run: Run) -> list[tuple[str, str]]:
    return sorted((pod.name, run.outside.image(pod)) for pod in run.outside.pods)


def all_of(workload: str, version: str, replicas: int = 3) -> list[tuple[str, str]]:
    return [(f"{workload}-{ordinal}", version) for ordinal in range(replicas)]


def away(run: Run, pod: SimulatedPod) -> None:
    """Its session ends, and after two seconds it joins again in the same run of its container."""
    version, process = pod.version, pod.process
    assert process is not None
    pod.version = replace(version, joins=False)
    run.outside.broker.remove([MemberRef(process.instance_id or "", process.member_id)], run.now)
    run.for_seconds(2)
    pod.version = version
    run.for_seconds(5)


def test_neither_a_rebalance_nor_an_idle_partition_and_the_sets_take_turns() -> None:
    run = at_rest()
    for version, workload in (("v2", SECOND), ("v3", FIRST), ("v2", SECOND)):
        cost = rolled_out(run, version)
        assert (cost.rebalances, cost.idle_s) == (0, 0.0)
        assert pods(run) == all_of(workload, version)


@pytest.mark.parametrize("version", ["slow", "lives-when-fenced"])
def test_how_long_it_starts_and_what_a_fenced_process_does_make_no_difference(version: str) -> None:
    run = at_rest(version, rejoinTimeout="60s")
    for following in ("v2", version):
        cost = rolled_out(run, following)
        assert (cost.rebalances, cost.idle_s) == (0, 0.0)


@pytest.mark.parametrize("ago_s", [2.0, 8.0])
def test_an_old_process_that_loses_its_session_and_joins_again_is_not_taken_for_its_replacement(ago_s: float) -> None:
    """It exceeded its poll interval while its replacement starts, which takes half a minute; it works until then."""
    run = at_rest("v1", rejoinTimeout="60s")
    run.outside.apply("slow")
    run.until(RolloutPhase.PROGRESSING)
    while 0 not in run.outside.sets[SECOND].pods:
        run.step()
    run.for_seconds(ago_s)
    away(run, run.outside.sets[FIRST].pods[0])
    cost = Cost(run)
    run.until(COMPLETE, within_s=900)
    assert (cost.rebalances, cost.idle_s) == (0, 0.0)
    assert pods(run) == all_of(SECOND, "slow")


@pytest.mark.parametrize("version", ["never-joins", "never-ready", "no-image", "crashes"])
def test_a_version_that_never_joins_is_taken_back_and_nothing_was_idle(version: str) -> None:
    run = at_rest()
    cost = rolled_out(run, version, ROLLED_BACK)
    assert (cost.rebalances, cost.idle_s) == (0, 0.0)
    assert pods(run) == all_of(FIRST, "v1")


@pytest.mark.parametrize("version", ["never-consumes", "joins-then-crashes"])
def test_a_version_that_joins_and_does_not_work_is_handed_back(version: str) -> None:
    run = at_rest()
    assert rolled_out(run, version, ROLLED_BACK).rebalances == 0
    assert pods(run) == all_of(FIRST, "v1")


@pytest.mark.parametrize("crash", Crash)
def test_the_operator_is_killed_at_every_act(crash: Crash) -> None:
    run = at_rest(crashes=crash)
    cost = rolled_out(run, "v2")
    assert (cost.rebalances, cost.idle_s) == (0, 0.0)
    assert pods(run) == all_of(SECOND, "v2")


def overlap_s(run: Run, version: str) -> tuple[Cost, float]:
    """What a rollout costs, and for how long two processes with one id were alive."""
    run.tick_s = 0.1
    cost, seconds = Cost(run), 0.0
    run.outside.apply(version)
    while pods(run) != all_of(SECOND, version) or run.phase is not COMPLETE:
        run.step()
        fenced = [pod for pod in run.outside.pods if pod.process and run.outside.broker.has_fenced(pod.process)]
        seconds += run.tick_s * sum(pod.process is not None and pod.process.alive for pod in fenced)
        assert run.now < 1_000, run.operator.log[-20:]
    return cost, seconds


@pytest.mark.parametrize("following", ["v2", pytest.param("slow", marks=pytest.mark.slow)])
def test_predictive_lets_the_old_pod_go_just_before_its_replacement_joins(following: str) -> None:
    """All but the first one of the version: an idle second at most for each partition, next to nothing twice."""
    overlapping = overlap_s(at_rest(rejoinTimeout="60s"), following)[1]
    cost, seconds = overlap_s(at_rest(handover="Predictive", rejoinTimeout="60s"), following)
    assert cost.rebalances == 0
    assert 0.0 < cost.idle_s <= PARTITIONS * 1.0
    assert seconds < overlapping / 2


def test_a_third_version_waits_until_the_second_is_taken_back() -> None:
    run = at_rest()
    cost = Cost(run)
    run.outside.apply("v2")
    run.for_seconds(13)  # no id is changing hands just then
    assert len({version for _, version in pods(run)}) == 2
    run.outside.apply("v3")
    run.until(COMPLETE)
    run.for_seconds(10)
    assert (cost.rebalances, cost.idle_s) == (0, 0.0)
    assert pods(run) == all_of(SECOND, "v3")


def failed(version: str) -> Run:
    """A version that does not take over, and nobody who takes it back."""
    run = at_rest(onFailure="Pause", rejoinTimeout="10s")
    run.outside.apply(version)
    run.until(RolloutPhase.FAILED)
    return run


@pytest.mark.parametrize("version", ["never-joins", "crashes"])
def test_a_version_that_failed_gets_no_pod_more_however_the_strategy_is_changed(version: str) -> None:
    run = failed(version)
    cost = Cost(run)
    STRATEGIES["to InPlace"](run.outside)
    run.for_seconds(120)
    assert (cost.rebalances, cost.idle_s) == (0, 0.0)
    assert set(all_of(FIRST, "v1")) <= set(pods(run))


def test_a_retry_makes_the_replacement_again() -> None:
    run = failed("never-joins")
    before = run.outside.sets[SECOND].pods[0].uid
    run.outside.retry()
    run.until(RolloutPhase.PROGRESSING)
    run.until(RolloutPhase.FAILED)
    assert run.outside.sets[SECOND].pods[0].uid != before


def test_a_retry_makes_a_pod_again_that_failed_after_it_had_taken_over() -> None:
    run = failed("joins-then-crashes")
    before = run.outside.sets[SECOND].pods[0].uid
    run.outside.retry()
    run.until(RolloutPhase.PROGRESSING)
    run.for_seconds(10)
    assert run.outside.sets[SECOND].pods[0].uid != before
    assert 1 not in run.outside.sets[SECOND].pods  # nothing is built upon a version that does not work


def test_once_the_first_set_is_gone_a_version_that_fails_later_goes_back_to_the_second() -> None:
    run = at_rest()
    run.outside.apply("v2")
    while len([each for each in run.outside.sets.values() if each.exists]) == 1:
        run.step()
    while len([each for each in run.outside.sets.values() if each.exists]) == 2:
        run.step()
    run.outside.pause()  # it is not called complete yet
    run.outside.apply("never-joins")
    run.for_seconds(5)
    run.outside.resume()
    run.until(ROLLED_BACK, within_s=900)
    assert pods(run) == all_of(SECOND, "v2")


def test_an_outage_of_kafka_is_not_the_versions_failure() -> None:
    run = at_rest(rejoinTimeout="40s")
    run.outside.apply("slow")
    run.until(RolloutPhase.PROGRESSING)
    run.for_seconds(5)
    run.outside.set_kafka(reachable=False)
    run.for_seconds(60)
    run.outside.set_kafka(reachable=True)
    run.until(COMPLETE)
    assert pods(run) == all_of(SECOND, "slow")


def test_an_edit_of_the_second_set_by_hand_is_put_right() -> None:
    run = at_rest()
    run.outside.apply("v2")
    run.until(RolloutPhase.PROGRESSING)
    run.for_seconds(6)
    second = run.outside.sets[SECOND]
    by_hand = json.loads(json.dumps(second.template).replace("consumer:v2", "consumer:v3"))
    second.template, second.edited = by_hand, True
    run.until(COMPLETE)
    run.for_seconds(20)
    assert not any("RestartingPod" in line for line in run.operator.log)  # to put right what was made by the edit
    assert pods(run) == all_of(SECOND, "v2")


def test_an_abort_hands_back() -> None:
    run = at_rest()
    cost = Cost(run)
    run.outside.apply("v2")
    run.for_seconds(20)
    run.outside.abort()
    run.until(ROLLED_BACK)
    run.for_seconds(10)
    assert (cost.rebalances, cost.idle_s) == (0, 0.0)
    assert pods(run) == all_of(FIRST, "v1")


@pytest.mark.parametrize("replicas", [1, 2, 5])
@pytest.mark.parametrize("after_s", [3, 10, 17, 24])
def test_scaling_in_the_middle(replicas: int, after_s: int) -> None:
    run = at_rest()
    run.outside.apply("v2")
    run.for_seconds(after_s)
    run.outside.scale(replicas)
    cost = Cost(run)
    run.until(COMPLETE)
    assert (cost.rebalances, cost.idle_s) == (0, 0.0)
    run.for_seconds(40)
    assert pods(run) == all_of(SECOND, "v2", replicas)


STRATEGIES: dict[str, Callable[[Outside], None]] = {
    "to InPlace": lambda outside: outside.change_rollout(strategy="InPlace"),
    "to WarmHandover": lambda outside: outside.change_rollout(strategy="WarmHandover"),
}


@pytest.mark.parametrize("after_s", [0, 3, 10, 17, 24])
def test_switching_the_strategy_costs_no_rebalance(after_s: int) -> None:
    run = at_rest()
    cost = Cost(run)
    run.outside.apply("v2")
    run.for_seconds(after_s)
    STRATEGIES["to InPlace"](run.outside)
    run.until(COMPLETE)
    run.for_seconds(20)
    STRATEGIES["to WarmHandover"](run.outside)
    run.for_seconds(30)
    assert cost.rebalances == 0
    assert {version for _, version in pods(run)} == {"v2"}


def test_without_room_for_a_pod_more_it_waits_and_says_so() -> None:
    run = at_rest()
    run.outside.room = 3
    cost = Cost(run)
    run.outside.apply("v2")
    run.for_seconds(ROOM_S)
    assert run.operator.last is not None
    assert run.operator.last.hold is not None
    assert "surgeTimeout" in run.operator.last.hold.message
    assert (cost.rebalances, cost.idle_s) == (0, 0.0)
    run.outside.room = 4
    run.until(COMPLETE)
    assert cost.idle_s == 0.0


def test_without_room_fewer_pods_may_make_it() -> None:
    run = at_rest()
    run.outside.room = 3
    run.outside.apply("v2")
    run.for_seconds(60)
    run.outside.scale(2)
    run.until(COMPLETE)
    run.for_seconds(20)
    assert pods(run) == all_of(SECOND, "v2", 2)


@pytest.mark.parametrize("after_s", [3, 10, 17, 24])
def test_who_asks_for_none_at_all_has_them_stopped(after_s: int) -> None:
    run = at_rest()
    run.outside.apply("v2")
    run.for_seconds(after_s)
    run.outside.scale(0)
    run.for_seconds(40)
    assert pods(run) == []
    run.outside.scale(3)
    run.for_seconds(60)
    assert [version for _, version in pods(run)] == ["v2"] * 3


def test_without_room_it_goes_on_in_place_where_the_spec_says_so() -> None:
    run = at_rest(surgeTimeout="15s")
    run.outside.room = 3
    cost = rolled_out(run, "v2")
    assert cost.rebalances == 0
    assert cost.idle_s > 0.0
    assert pods(run) == all_of(SECOND, "v2")


def test_no_pod_that_works_is_given_up_while_another_has_found_no_node() -> None:
    """Its room would be the other one's."""
    run = at_rest(surgeTimeout="5s")
    run.outside.room = 2
    run.outside.evict(2)
    run.for_seconds(10)
    run.outside.apply("v2")
    for _ in range(90):
        run.for_seconds(1)
        assert sum(run.outside.serves(pod) for pod in run.outside.pods) == 2
    assert run.operator.last is not None
    assert run.operator.last.hold is not None
    assert run.operator.last.hold.reason is Reason.POD_NOT_READY
    run.outside.room = 4
    run.until(COMPLETE)
    run.for_seconds(30)
    assert pods(run) == all_of(SECOND, "v2")


@pytest.mark.parametrize("timing", ["Overlapping", "Predictive"])
@pytest.mark.parametrize("seed", chance.seeds(range(60)))
def test_whatever_happens_it_ends_or_says_why_it_does_not(seed: int, timing: str) -> None:
    run = chance.draw_run(seed, static=True, kip848=False, strategy="WarmHandover", handover=timing)
    chance.trouble(run, seed)
    chance.end(run)


@pytest.mark.parametrize("second", ["v2", "never-ready", "crashes", "never-joins", "never-consumes"])
@pytest.mark.parametrize("first", ["never-ready", "crashes", "never-joins"])
@pytest.mark.parametrize("taken_over", range(4))
def test_the_version_that_works_comes_in_however_many_before_it_did_not(
    first: str, second: str, taken_over: int
) -> None:
    """Nothing is known to be good, so there is nothing to go back to; the third comes when so many pods had the
    second."""
    run = Run(Outside(version=first, strategy="WarmHandover", onFailure="Pause", rejoinTimeout="60s"))
    run.for_seconds(20)
    run.outside.apply(second)
    until = run.now + 120.0  # a version that works no worse than the one before it may stand there for ever
    while run.now < until and not _has_so_many(run.outside, taken_over):
        run.step()
    run.outside.apply("v3")
    run.until(COMPLETE)
    assert {version for _, version in pods(run)} == {"v3"}


def _has_so_many(outside: Outside, pods_: int) -> bool:
    second = outside.sets.get(SECOND)
    return second is not None and len(second.pods) >= pods_
