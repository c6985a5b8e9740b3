"""A version failed, since a partition stood in a pod of it, or a member was lost: that pod gets the next one first."""

from __future__ import annotations

from typing import Any

import pytest

from slackwater.core.world.memory import RolloutPhase
from tests.core.simulation.outside import Outside
from tests.core.simulation.runs import Run

COMPLETE, FAILED = RolloutPhase.COMPLETE, RolloutPhase.FAILED


def halted(*, last: bool = False, fails: str = "stands-in-one-of-two", **options: Any) -> Run:
    """Failed at the pod with the highest ordinal; or at pod 0, which was down when the version came."""
    usual = {"version": "two-threads", "stableFor": "10s", "rejoinTimeout": "20s"}
    run = Run(Outside(replicas=3, **(usual | options)))
    run.outside.spec |= {"membersPerPod": 2}
    run.until(COMPLETE)
    run.for_seconds(30)
    if last:
        run.do("pod 0 ends", lambda o: o.crash(0))
    run.do("a version that stands, or loses a member", lambda o: o.apply(fails))
    run.until(FAILED)
    run.for_seconds(10)
    return run


def made_first(run: Run, version: str) -> int:
    run.do("the fix", lambda o: o.apply(version))
    there: list[int] = []

    def is_there(outside: Outside) -> bool:
        there.extend(pod.ordinal for pod in outside.pods if outside.image(pod) == version)
        return bool(there)

    run.until_it_is("in a pod", is_there)
    return there[0]


def test_the_fix_goes_there_first() -> None:
    run = halted(last=True)
    assert made_first(run, "two-b") == 0
    run.until(COMPLETE)


def test_where_a_member_is_gone_for_good_the_fix_goes_there_first() -> None:
    """A pod that works would be away beside one that lacks a thread."""
    run = halted(last=True, stableFor="22s", fails="loses-one-of-two")
    assert made_first(run, "two-b") == 0
    run.until(COMPLETE)


def test_where_that_pod_is_gone_nobody_waits_for_it() -> None:
    run = halted()
    run.do("scaled to 2", lambda o: o.scale(2))
    run.for_seconds(60)
    run.do("somebody else comes, as a console does", lambda o: o.foreign_member(there=True))
    run.for_seconds(20)
    run.do("pod 0 ends, and takes long to start", lambda o: o.crash(0))
    run.outside.set.pods[0].start_due = run.outside.now + 300
    run.for_seconds(15)
    assert made_first(run, "two-b") == 0


@pytest.mark.parametrize("version", ["never-consumes"])
def test_a_retry_asks_of_the_other_pods_what_the_first_try_asked(version: str) -> None:
    """What stands in one that the rollout has not touched holds up no second try."""
    run = Run(Outside(replicas=3, stableFor="10s", rejoinTimeout="60s"))
    run.until(COMPLETE)
    run.for_seconds(30)
    run.do(f"{version} is applied", lambda o: o.apply(version))
    run.until(FAILED)
    run.for_seconds(10)
    processes = run.outside.set.pods[0].processes
    owned = {partition for each in processes for partition in run.outside.broker.owned_by(each)}
    run.do("what pod 0 reads is poisoned", lambda o: o.broker.poisoned.update(owned))
    run.do("it ends once", lambda o: o.crash(0))
    run.for_seconds(25)
    before = run.outside.set.pods[2].uid
    run.do("retry", lambda o: o.retry())
    run.until_it_is("tried", lambda o: 2 not in o.set.pods or o.set.pods[2].uid != before, within_s=10)
