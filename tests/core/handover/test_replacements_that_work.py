"""A replacement that has joined and works is not taken away for an old pod that does not."""

from __future__ import annotations

from dataclasses import replace

import pytest

from slackwater.core.world.observation import MemberRef
from tests.core.handover.test_simulated import FIRST, SECOND, at_rest
from tests.core.parameters import first_of
from tests.core.simulation.outside import Outside
from tests.core.simulation.runs import Run
from tests.core.simulation.stateful_set import SimulatedPod

pytestmark = pytest.mark.slow


def handing_over(run: Run) -> SimulatedPod:
    """The replacement of the first pod, which has just started."""
    run.outside.apply("v2")
    second = run.outside.sets[SECOND]
    while 0 not in second.pods or second.pods[0].started_at is None:
        run.step()
    return second.pods[0]


def as_it_begins(run: Run, what: str, version: str = "v2") -> None:
    """Apply a version, and let this happen right when the first replacement is asked for."""
    run.outside.apply(version)
    while not run.outside.sets[SECOND].replicas:
        run.step()
    if what == "paused":
        run.do("pause", Outside.pause)
    if what == "a stranger":
        run.do("a stranger", lambda o: o.foreign_member(there=True))
    if what == "the operator is away for 10 s":
        run.operator.die("for an upgrade")
        for _ in range(10):
            run.outside.tick(1.0)


def stays(run: Run, replacement: SimulatedPod, for_s: int = 200) -> bool:
    """It is never taken away, and works in the end."""
    there = []
    for _ in range(for_s):
        run.step()
        there.append(run.outside.sets[SECOND].pods.get(0) is replacement)
    return all(there) and run.outside.serves(replacement)


@pytest.mark.parametrize("on_failure", first_of("Rollback", "Pause"))
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


@pytest.mark.parametrize("producing", first_of(True, False))
@pytest.mark.parametrize("on_failure", first_of("Rollback", "Pause"))
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


def taken_out(run: Run) -> SimulatedPod:
    """The first pod, whose member is gone; it does not join again by itself."""
    old = run.outside.sets[FIRST].pods[0]
    assert old.process is not None
    old.version = replace(old.version, joins=False, exits_when_fenced=False)
    run.outside.broker.remove([MemberRef(old.process.instance_id or "", old.process.member_id)], run.now)
    return old


@pytest.mark.parametrize("blinks", first_of(False, True))
@pytest.mark.parametrize("what", first_of("paused", "a stranger", "the operator is away for 10 s", "nothing"))
def test_where_the_old_pod_is_ready_and_out_of_the_group_for_good(what: str, blinks: bool) -> None:
    """A client that logs a fatal error and lives on. The replacement joins before the gates let it have the place.
    `blinks`: its readiness probe failed once, just before."""
    run = at_rest("v1")
    old = taken_out(run)
    run.for_seconds(60)
    if blinks:
        old.set_ready(False, run.outside.now)
        old.set_ready(True, run.outside.now + 1)
        run.for_seconds(5)
    assert old.ready
    assert not run.outside.serves(old)
    as_it_begins(run, what)
    second = run.outside.sets[SECOND]
    uids = set()
    for _ in range(150):
        run.step()
        uids |= {pod.uid for ordinal, pod in second.pods.items() if ordinal == 0}
    assert len(uids) == 1
    assert 0 in second.pods
    assert run.outside.serves(second.pods[0])


@pytest.mark.parametrize("what", first_of("paused", "the operator is away for 10 s"))
def test_where_the_old_pod_took_long_to_get_ready_and_never_joined(what: str) -> None:
    """It is down `rejoinTimeout` after its start, and has been Ready for less."""
    run = at_rest("v1", rejoinTimeout="300s")
    old = run.outside.sets[FIRST].pods[0]
    old.version = replace(old.version, joins=False, exits_when_fenced=False, ready_s=60.0)
    run.outside.crash(0)
    run.for_seconds(70)
    as_it_begins(run, what)
    run.for_seconds(150)
    assert run.outside.serves(run.outside.sets[SECOND].pods[0])
    assert not any("removing payments-alt-0" in line for line in run.operator.log)


# And an old pod that works is not taken away for a replacement that has not joined.


def is_never_taken_while_it_serves(run: Run, old: SimulatedPod, for_s: int = 120) -> bool:
    """Until its replacement has joined."""
    replacement = run.outside.sets[SECOND].pods[0]
    for _ in range(for_s):
        served = run.outside.serves(old) and old.gone_at is None
        run.step()
        if served and old.gone_at is not None and replacement.joined_at is None:
            return False
    return True


@pytest.mark.parametrize("what", first_of("paused", "the operator is away"))
def test_an_old_pod_that_was_away_for_seconds_and_joins_again_as_its_replacement_starts(what: str) -> None:
    """Nobody is in a group of one for ten seconds, so its pod counts as down at once."""
    run = at_rest("v1", replicas=1, rejoinTimeout="60s", onFailure="Pause")
    run.for_seconds(60)
    old, works = run.outside.sets[FIRST].pods[0], run.outside.sets[FIRST].pods[0].version
    taken_out(run)
    run.for_seconds(13)
    run.outside.apply("slow")
    second = run.outside.sets[SECOND]
    while not second.replicas:
        run.step()
    if what == "paused":
        run.do("pause", Outside.pause)
        run.for_seconds(8)
        old.version = works
    else:
        run.operator.die("for an upgrade")
        for _ in range(4):
            run.outside.tick(1.0)
        old.version = works
        for _ in range(6):
            run.outside.tick(1.0)
    assert second.pods[0].started_at is not None
    assert is_never_taken_while_it_serves(run, old)


def test_an_old_pod_that_joined_while_nobody_watched_and_before_its_replacement_started() -> None:
    run = at_rest("v1", rejoinTimeout="60s", onFailure="Pause")
    works = run.outside.sets[FIRST].pods[0].version
    old = taken_out(run)
    run.for_seconds(600)
    run.outside.apply("slow")
    second = run.outside.sets[SECOND]
    while not second.replicas:
        run.step()
    run.operator.die("for an upgrade")
    old.version = works
    while 0 not in second.pods:
        run.outside.tick(1.0)
    second.pods[0].start_due = run.outside.now + 10  # its image is pulled
    for _ in range(14):
        run.outside.tick(1.0)
    assert run.outside.serves(old)
    assert is_never_taken_while_it_serves(run, old)
