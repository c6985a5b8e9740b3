"""Pods that are not Ready for a reason of their own, and work: a readiness probe asks for a database, or a proxy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from slackwater.core.world.memory import RolloutPhase
from tests.core.simulation.outside import Outside
from tests.core.simulation.runs import Run
from tests.core.simulation.stateful_set import SimulatedPod
from tests.core.simulation.versions import VERSIONS, Version

COMPLETE = RolloutPhase.COMPLETE


def at_rest(**options: Any) -> Run:
    run = Run(Outside(**options))
    run.until(COMPLETE)
    run.for_seconds(20)
    return run


def not_ready(monkeypatch: pytest.MonkeyPatch, which: Callable[[SimulatedPod], bool]) -> None:
    """Whatever else they do."""
    as_it_is = SimulatedPod.set_ready

    def set_ready(pod: SimulatedPod, ready: bool, now: float) -> None:
        as_it_is(pod, ready and not which(pod), now)

    monkeypatch.setattr(SimulatedPod, "set_ready", set_ready)


def test_a_database_that_is_away_for_a_moment_brings_a_bad_version_no_further(monkeypatch: pytest.MonkeyPatch) -> None:
    """The old pods are listed and alive: they are not out of the group, though they have committed nothing since."""
    run = at_rest()
    run.do("version never-joins is applied", lambda o: o.apply("never-joins"))
    run.for_seconds(8)
    away_until = run.now + 12
    not_ready(monkeypatch, lambda pod: pod.version.joins and run.now < away_until)
    processes = [process for pod in run.outside.pods for process in pod.processes]
    for consumes in (False, True):
        for process in processes:
            process.consumes = consumes
        run.for_seconds(13)
    assert sorted(run.outside.image(pod) for pod in run.outside.pods) == ["never-joins", "v1", "v1"]


@pytest.mark.parametrize("strategy", ["InPlace", "WarmHandover"])
@pytest.mark.parametrize("late_s", [0, 1, 2])
def test_a_pod_that_fails_its_probe_and_works_is_replaced(
    monkeypatch: pytest.MonkeyPatch, strategy: str, late_s: int
) -> None:
    """`late_s`: after each write its controller takes so long."""
    run = at_rest(strategy=strategy)
    unready = {pod.uid for pod in run.outside.pods if pod.ordinal == 0}
    not_ready(monkeypatch, lambda pod: pod.uid in unready)
    run.for_seconds(15)
    run.do("version v2 is applied", lambda o: o.apply("v2"))
    until, waits = run.now + 200, 0
    while run.now < until and {run.outside.image(pod) for pod in run.outside.pods} != {"v2"}:
        waits = late_s if run.acting else max(0, waits - 1)
        run.outside.controller_runs = waits == 0
        run.step()
    run.outside.start_controller()
    run.until(COMPLETE)
    assert {run.outside.image(pod) for pod in run.outside.pods} == {"v2"}
    assert not any("has not taken over" in line for line in run.operator.log)


def test_a_good_version_that_works_and_gets_ready_no_more_keeps_nobody_with_the_bad_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Its readiness probe asks for something that has changed since. Its StatefulSet's controller restarts no other
    pod then, and none is waited for longer than `rejoinTimeout`."""
    run = at_rest(replicas=4, rejoinTimeout="30s")
    run.do("version v2 is applied", lambda o: o.apply("v2"))
    run.until_it_is("in three pods", lambda o: sum(o.image(p) == "v2" and o.serves(p) for p in o.pods) == 3)
    monkeypatch.setitem(VERSIONS, "v1", Version(gets_ready=False))
    run.do("and given up", Outside.abort)
    run.until(RolloutPhase.ROLLED_BACK, within_s=300)
    assert {run.outside.image(pod) for pod in run.outside.pods} == {"v1"}


@pytest.mark.parametrize("counts", [False, True], ids=["highest first", "MaxUnavailableStatefulSet"])
def test_nor_does_a_pod_of_it_that_was_not_to_be_restarted(monkeypatch: pytest.MonkeyPatch, counts: bool) -> None:
    run = at_rest(replicas=4, rejoinTimeout="30s", counts_unavailable=counts)
    run.do("version v2 is applied", lambda o: o.apply("v2"))
    run.until_it_is("in two pods", lambda o: sum(o.image(p) == "v2" and o.serves(p) for p in o.pods) == 2)
    run.do("and given up", Outside.abort)
    run.for_seconds(1)
    lowest = run.outside.set.pods[0]
    lowest.version = replace(lowest.version, gets_ready=False)
    lowest.set_ready(False, run.outside.now)
    run.until(RolloutPhase.ROLLED_BACK, within_s=300)
    assert {run.outside.image(pod) for pod in run.outside.pods} == {"v1"}


def test_where_pods_are_made_in_order_none_is_deleted_above_one_that_is_not_ready() -> None:
    """Nobody would make it again: it works with the version that was given up until the lower one is Ready."""
    run = Run(Outside(replicas=4, rejoinTimeout="30s"))
    run.outside.set.in_order = True
    run.until(RolloutPhase.COMPLETE)
    run.for_seconds(20)
    run.do("version v2 is applied", lambda o: o.apply("v2"))
    run.until_it_is("in two pods", lambda o: sum(o.image(p) == "v2" and o.serves(p) for p in o.pods) == 2)
    run.do("and given up", Outside.abort)
    run.for_seconds(1)
    lowest = run.outside.set.pods[0]
    as_it_was, lowest.version = lowest.version, replace(lowest.version, gets_ready=False)
    lowest.set_ready(False, run.outside.now)
    for _ in range(120):
        run.for_seconds(1)
        processes = [process for pod in run.outside.pods for process in pod.processes]
        assert len(processes) == 4
        assert all(map(run.outside.broker.works, processes))
    assert run.outside.set.partition >= 4 - 2, "nor let go, to be taken at some other moment"
    assert "pod payments-0 is not Ready" in run.operator.log[-1]
    lowest.version = as_it_was
    run.until(RolloutPhase.ROLLED_BACK, within_s=300)
    assert {run.outside.image(pod) for pod in run.outside.pods} == {"v1"}
