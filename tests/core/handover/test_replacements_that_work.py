"""A replacement that has joined and works is not taken away for an old pod that does not."""

from __future__ import annotations

from dataclasses import replace

import pytest

from slackwater.core.world.observation import MemberRef
from tests.core.handover.test_simulated import FIRST, SECOND, at_rest
from tests.core.simulation.outside import Outside
from tests.core.simulation.runs import Run
from tests.core.simulation.stateful_set import SimulatedPod


def handing_over(run: Run) -> SimulatedPod:
    """The replacement of the first pod, which has just started."""
    run.outside.apply("v2")
    second = run.outside.sets[SECOND]
    while 0 not in second.pods or second.pods[0].started_at is None:
        run.step()
    return second.pods[0]


def stays(run: Run, replacement: SimulatedPod, for_s: int = 200) -> bool:
    """It is never taken away, and works in the end."""
    there = []
    for _ in range(for_s):
        run.step()
        there.append(run.outside.sets[SECOND].pods.get(0) is replacement)
    return all(there) and run.outside.serves(replacement)


@pytest.mark.parametrize("on_failure", ["Rollback", "Pause"])
def test_where_the_old_pod_was_evicted_and_finds_no_node(on_failure: str) -> None:
    """What commits since is no pod that has never run. The version was failed for it, and its only pod removed."""
    run = at_rest("v1", onFailure=on_failure)
    run.outside.room = 4
    run.for_seconds(10)
    replacement = handing_over(run)
    run.outside.room = 3
    run.do("the node of payments-0 is drained", lambda o: o.evict(0))
    assert stays(run, replacement)
    assert run.phase in ("Progressing", "Complete")


@pytest.mark.parametrize("producing", [True, False])
@pytest.mark.parametrize("on_failure", ["Rollback", "Pause"])
def test_where_the_old_pod_ends_and_cannot_start_again(on_failure: str, producing: bool) -> None:
    """Where there is nothing to commit, a member that is there a session later is the replacement's."""
    run = at_rest("v1", onFailure=on_failure)
    run.outside.broker.producing = producing
    run.for_seconds(30)
    replacement = handing_over(run)
    old = run.outside.sets[FIRST].pods[0]
    old.version = replace(old.version, pulls=False)
    run.do("payments-0 ends, and its image is gone", lambda o: o.crash(0))
    assert stays(run, replacement)
    assert sum(map(run.outside.serves, run.outside.pods)) == 3


@pytest.mark.parametrize("what", ["paused", "a stranger", "the operator is away for 10 s", "nothing"])
def test_where_the_old_pod_is_ready_and_out_of_the_group_for_good(what: str) -> None:
    """A client that logs a fatal error and lives on. The replacement joins before the gates let it have the place."""
    run = at_rest("v1")
    old = run.outside.sets[FIRST].pods[0]
    assert old.process is not None
    old.version = replace(old.version, joins=False, exits_when_fenced=False)
    run.outside.broker.remove([MemberRef(old.process.instance_id or "", old.process.member_id)], run.now)
    run.for_seconds(60)
    assert old.ready
    assert not run.outside.serves(old)
    run.outside.apply("v2")
    second = run.outside.sets[SECOND]
    while not second.replicas:
        run.step()
    if what == "paused":
        run.do("pause", Outside.pause)
    if what == "a stranger":
        run.do("a stranger", lambda o: o.foreign_member(there=True))
    if what == "the operator is away for 10 s":
        run.operator.die("for an upgrade")
        for _ in range(10):
            run.outside.tick(1.0)
    uids = set()
    for _ in range(150):
        run.step()
        uids |= {pod.uid for ordinal, pod in second.pods.items() if ordinal == 0}
    assert len(uids) == 1
    assert 0 in second.pods
    assert run.outside.serves(second.pods[0])
