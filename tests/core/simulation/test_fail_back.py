"""Two Kubernetes clusters run one group: the other one's pods come back, and then this one is scaled to nothing."""

from __future__ import annotations

import pytest

from slackwater.core.world.memory import RolloutPhase
from tests.core.simulation.broker import Process
from tests.core.simulation.outside import Outside
from tests.core.simulation.runs import Run

THEIRS = "10.9.9.9"


def two_clusters(*ordinals: int, began_s: float = 100.0, restarted: bool = False) -> tuple[Run, list[Process]]:
    """Processes in another cluster have taken these pods' instance ids; ours live on, fenced."""
    run = Run(Outside())
    run.until(RolloutPhase.COMPLETE)
    run.for_seconds(began_s)
    if restarted:
        run.operator.die("between two passes")
        run.for_seconds(5)
    theirs = [Process(f"payments-{ordinal}", f"{THEIRS}{ordinal}") for ordinal in ordinals]
    for process in theirs:
        run.outside.broker.join(process, run.outside.now)
    run.for_seconds(5)
    assert all(map(run.outside.broker.works, theirs))
    return run, theirs


@pytest.mark.parametrize(("began_s", "restarted"), [(5.0, False), (100.0, False), (700.0, True)])
def test_who_comes_back_elsewhere_stays_in_the_group(began_s: float, restarted: bool) -> None:
    run, theirs = two_clusters(0, 1, 2, began_s=began_s, restarted=restarted)
    rebalances = run.outside.broker.rebalances
    run.do("here it is scaled to nothing", lambda o: o.scale(0))
    run.for_seconds(300)
    assert run.outside.pods == []
    assert all(map(run.outside.broker.works, theirs))
    assert run.outside.broker.rebalances == rebalances


@pytest.mark.parametrize("restarted", [False, True])
def test_who_comes_back_elsewhere_as_our_pods_end_stays_too(restarted: bool) -> None:
    """The two fence one another, until here is nobody."""
    run = Run(Outside())
    run.until(RolloutPhase.COMPLETE)
    run.for_seconds(100)
    theirs = [Process(f"payments-{ordinal}", f"{THEIRS}{ordinal}") for ordinal in range(3)]
    run.do("here it is scaled to nothing", lambda o: o.scale(0))
    until = run.now + 300
    while run.now < until:
        run.outside.tick(run.tick_s)
        if restarted and not run.outside.pods:
            run.operator.die("after the pods have ended")
            restarted = False
        for process in theirs if not run.outside.pods else ():
            run.outside.broker.join(process, run.outside.now)
        run.operator.run_pass(run.crashes)
    assert all(map(run.outside.broker.works, theirs))
    assert len({process.member_id for process in theirs}) == 3
    assert "taking members out" not in "\n".join(run.operator.log)


def test_of_those_that_go_only_ours_are_taken_out() -> None:
    run, theirs = two_clusters(2)
    run.do("two pods go", lambda o: o.scale(1))
    run.for_seconds(20)
    assert all(map(run.outside.broker.works, theirs))
    there = sorted(member.instance_id or "" for member in run.outside.broker.group.members)
    assert there == ["payments-0", "payments-2"]


@pytest.mark.parametrize("times", [1, 2])
def test_a_process_that_was_started_again_took_its_own_id(times: int) -> None:
    run = Run(Outside())
    run.until(RolloutPhase.COMPLETE)
    for _ in range(times):
        run.do("pod 2's container ends", lambda o: o.crash(2))
        run.for_seconds(60)
    run.do("it goes", lambda o: o.scale(2))
    run.for_seconds(15)
    assert [member.instance_id for member in run.outside.broker.group.members] == ["payments-0", "payments-1"]


@pytest.mark.parametrize("strategy", ["InPlace", "WarmHandover"])
def test_so_did_that_of_the_next_version(strategy: str) -> None:
    run = Run(Outside(strategy=strategy))
    run.until(RolloutPhase.COMPLETE)
    run.do("version v2 is applied", lambda o: o.apply("v2"))
    run.until(RolloutPhase.COMPLETE)
    run.do("it goes", lambda o: o.scale(2))
    run.for_seconds(15)
    assert [member.instance_id for member in run.outside.broker.group.members] == ["payments-0", "payments-1"]
