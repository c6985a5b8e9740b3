"""Partitions that stand while the rest of their pod gets on: a version's doing, or one that was so before."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

from slackwater.core.world.history import GroupHistory
from slackwater.core.world.memory import RolloutPhase
from tests.core.coordinator.described import topic
from tests.core.parameters import first_of
from tests.core.simulation.outside import Outside
from tests.core.simulation.runs import Run

COMPLETE, FAILED, ROLLED_BACK = RolloutPhase.COMPLETE, RolloutPhase.FAILED, RolloutPhase.ROLLED_BACK
STANDS = ("stands-in-a-thread", "stands-from-the-start")
GROUPS: dict[str, dict[str, Any]] = {
    "classic": {},
    "KIP-848": {"kip848": True},
    "warm": {"strategy": "WarmHandover"},
}
CLASSIC_FIRST = first_of(*GROUPS)


AFTER_S = [pytest.param(s, marks=() if s in (0, 20) else pytest.mark.slow) for s in range(0, 40, 4)]


def at_rest(replicas: int = 2, **options: Any) -> Run:
    usual = {"version": "three-threads", "stableFor": "10s", "onFailure": "Rollback"}
    run = Run(Outside(replicas=replicas, **(usual | options)))
    run.outside.spec |= {"membersPerPod": 3}
    run.until(COMPLETE)
    run.for_seconds(30)
    return run


def poison(run: Run, partitions: Iterable[int]) -> None:
    run.do(
        f"records that nobody can read come to {partitions}",
        lambda o: o.broker.poisoned.update(topic(frozenset(partitions))),
    )


def owned_by_pod(run: Run, ordinal: int) -> list[int]:
    """The partitions of the last of its members."""
    pod = next(pod for pod in run.outside.pods if pod.ordinal == ordinal)
    member = run.outside.broker.group.member(pod.processes[-1].member_id)
    assert member is not None
    return sorted(member.assignment)


def seen_until(run: Run, version: str, *phases: RolloutPhase) -> set[int]:
    """Ordinals of the pods that have had the version by the time that the rollout is there."""
    seen = set[int]()

    def is_there(outside: Outside) -> bool:
        seen.update(pod.ordinal for pod in outside.pods if outside.image(pod) == version)
        return run.phase in phases and not run.acting

    run.until_it_is(f"in {phases}", is_there)
    return seen


@pytest.mark.parametrize("group", CLASSIC_FIRST)
@pytest.mark.parametrize("replicas", [1, 2])
@pytest.mark.parametrize("version", first_of(*STANDS))
def test_a_version_that_makes_a_partition_stand_fails_at_its_first_pod(version: str, replicas: int, group: str) -> None:
    run = at_rest(replicas, **GROUPS[group])
    run.do(f"version {version} is applied", lambda o: o.apply(version))
    assert seen_until(run, version, ROLLED_BACK, COMPLETE) in ({0}, {replicas - 1})
    assert run.phase is ROLLED_BACK


@pytest.mark.parametrize("group", CLASSIC_FIRST)
@pytest.mark.parametrize("before_s", [30, pytest.param(300, marks=pytest.mark.slow)])
def test_a_partition_that_stood_before_is_no_versions_doing(before_s: float, group: str) -> None:
    run = at_rest(**GROUPS[group])
    poison(run, owned_by_pod(run, 1))
    run.for_seconds(before_s)
    run.do("version three-threads is rolled out again", Outside.restart)
    run.for_seconds(3)
    run.until(COMPLETE, ROLLED_BACK)
    assert run.phase is COMPLETE


@pytest.mark.parametrize("group", CLASSIC_FIRST)
def test_the_version_that_reads_what_others_stand_at_is_rolled_out(group: str) -> None:
    run = at_rest(**GROUPS[group])
    poison(run, owned_by_pod(run, 1))
    run.for_seconds(30)
    run.do("its fix is applied", lambda o: o.apply("reads-poison"))
    assert seen_until(run, "reads-poison", ROLLED_BACK, COMPLETE) == {0, 1}
    assert run.phase is COMPLETE


@pytest.mark.parametrize("group", CLASSIC_FIRST)
def test_a_fix_that_stands_at_the_next_record_of_the_kind_is_no_worse(group: str) -> None:
    """It gets past the first one, where the version before stood."""
    run = at_rest(**GROUPS[group])
    poison(run, owned_by_pod(run, 1))
    run.for_seconds(30)
    run.do("its fix is applied", lambda o: o.apply("reads-poison"))
    run.until_it_is("past the record", lambda o: any(p.alive and p.reads_poison and p.committed_at for p in all_of(o)))
    run.until_it_is("in the group", lambda o: sum(o.broker.works(p) for p in all_of(o) if p.reads_poison) == 3)
    run.for_seconds(4)
    for process in all_of(run.outside):
        process.reads_poison = False
    run.until(COMPLETE, ROLLED_BACK)
    assert run.phase is COMPLETE


def all_of(outside: Outside) -> list[Any]:
    return [process for pod in outside.pods for process in pod.processes]


@pytest.mark.parametrize("group", CLASSIC_FIRST)
def test_what_befalls_partitions_of_both_versions_is_no_versions_doing(group: str) -> None:
    run = at_rest(**GROUPS[group])
    partitions = [*owned_by_pod(run, 0), *owned_by_pod(run, 1)]
    run.do("version three-threads is rolled out again", Outside.restart)
    run.until_it_is("begun", lambda o: any(pod.created_at > o.now - 3 for pod in o.pods))
    poison(run, partitions)
    run.for_seconds(3)
    run.until(COMPLETE, ROLLED_BACK)
    assert run.phase is COMPLETE


@pytest.mark.parametrize("forgets", first_of(False, True))
@pytest.mark.parametrize("version", first_of(*STANDS))
@pytest.mark.parametrize("group", CLASSIC_FIRST)
def test_where_people_decide_a_second_try_long_after_gets_no_further_and_the_fix_does(
    group: str, version: str, forgets: bool
) -> None:
    """`forgets`: the operator restarts in between."""
    run = at_rest(onFailure="Pause", **GROUPS[group])
    run.do("a version that makes a partition stand is applied", lambda o: o.apply(version))
    tried = seen_until(run, version, FAILED)
    assert len(tried) == 1
    failed = pod_with(run, version)
    if forgets:
        run.operator.history = GroupHistory()
    run.for_seconds(100)
    run.do("retry", Outside.retry)
    run.for_seconds(5)
    assert seen_until(run, version, FAILED) == tried
    assert pod_with(run, version) != failed
    run.do("the fix is applied", lambda o: o.apply("three-threads"))
    run.for_seconds(3)
    run.until(COMPLETE)


def pod_with(run: Run, version: str) -> str:
    return next(pod.uid for pod in run.outside.pods if run.outside.image(pod) == version)


@pytest.mark.parametrize("after_s", AFTER_S)
def test_an_operator_that_restarts_never_stands_still(after_s: float) -> None:
    """Of what was before its first look it knows nothing."""
    run = at_rest()
    partitions = owned_by_pod(run, 1)
    run.do("version three-threads is rolled out again", Outside.restart)
    run.until_it_is("begun", lambda o: any(pod.created_at > o.now - 3 for pod in o.pods))
    poison(run, partitions)
    run.for_seconds(after_s)
    run.operator.history = GroupHistory()
    run.until(ROLLED_BACK, COMPLETE)


@pytest.mark.parametrize("away_s", first_of(10, 60))
def test_brokers_that_were_away_are_no_versions_doing(away_s: float) -> None:
    run = at_rest()
    run.do("version three-threads is rolled out again", Outside.restart)
    run.for_seconds(12)
    run.do("Kafka is out of reach", lambda o: o.set_kafka(reachable=False))
    run.for_seconds(away_s)
    run.do("Kafka is back", lambda o: o.set_kafka(reachable=True))
    run.until(COMPLETE, ROLLED_BACK)
    assert run.phase is COMPLETE
