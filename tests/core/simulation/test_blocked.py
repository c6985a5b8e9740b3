"""Dynamic members: one is blocked by a record while its heartbeats go on, so no rebalance ends; another one crashed.

It runs again, Ready for the kubelet, and waits to be let in. Nobody consumes.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from slackwater.core.world.memory import RolloutPhase
from slackwater.core.world.observation import GroupState
from tests.core.coordinator import clients
from tests.core.coordinator.model import Group, Member
from tests.core.simulation.outside import Outside
from tests.core.simulation.runs import Run

Block = Callable[[Run, int], None]
BLOCKED, CRASHED = 0, 2


@pytest.fixture(params=[False, True], ids=["shown", "hidden"])
def hides(request: pytest.FixtureRequest) -> bool:
    """What a broker shows of who owns what, while a classic group rebalances, is its version's own way."""
    return bool(request.param)


@pytest.fixture
def block(monkeypatch: pytest.MonkeyPatch) -> Block:
    """The pod's consumers join no rebalance any more, and live."""
    blocked, join_again = set[str](), clients.join_again

    def takes_part(member: Member, lives: clients.Lives) -> bool:
        return lives(member) and member.member_id not in blocked

    def but_the_blocked(group: Group, lives: clients.Lives) -> Group:
        return join_again(group, lambda member: takes_part(member, lives))

    def block(run: Run, ordinal: int) -> None:
        blocked.update(process.member_id for process in run.outside.set.pods[ordinal].processes)

    monkeypatch.setattr(clients, "join_again", but_the_blocked)
    return block


def at_rest(hides: bool, *, replicas: int = 3, static: bool = False, **rollout: str) -> Run:
    options: dict[str, Any] = {"rejoinTimeout": "5m", "stableFor": "3s"} | rollout
    run = Run(Outside(replicas=replicas, static=static, **options))
    run.outside.broker.hides_assignments = hides
    run.until(RolloutPhase.COMPLETE)
    run.for_seconds(20)
    return run


def crash(run: Run, *ordinals: int) -> None:
    for ordinal in ordinals:
        run.do(f"pod {ordinal} crashes", partial(Outside.crash, ordinal=ordinal))
    run.for_seconds(20)


def rebalance(run: Run) -> None:
    """Somebody comes and goes; with a pod that is blocked, that does not end."""
    run.do("somebody comes", lambda o: o.foreign_member(there=True))
    run.for_seconds(3)
    run.do("and is gone", lambda o: o.foreign_member(there=False))
    run.for_seconds(15)


def ordinals_with(run: Run, version: str) -> set[int]:
    return {pod.ordinal for pod in run.outside.pods if run.outside.image(pod) == version}


@pytest.mark.parametrize("static", [True, False], ids=["static", "dynamic"])
def test_the_fix_reaches_the_pod_that_crashed_while_the_other_one_is_blocked(
    block: Block, hides: bool, static: bool
) -> None:
    run = at_rest(hides, static=static)
    block(run, BLOCKED)
    crash(run, CRASHED)
    run.do("version v2 is applied", lambda o: o.apply("v2"))
    run.until_it_is("in the pod that crashed", lambda o: ordinals_with(run, "v2") == {CRASHED}, within_s=15)


def test_so_it_does_where_one_look_failed(block: Block, hides: bool) -> None:
    run = at_rest(hides)
    block(run, BLOCKED)
    crash(run, CRASHED)
    run.do("Kafka is away for a moment", lambda o: o.set_kafka(reachable=False))
    run.for_seconds(1)
    run.do("and back", lambda o: o.set_kafka(reachable=True))
    run.for_seconds(15)
    run.do("version v2 is applied", lambda o: o.apply("v2"))
    run.until_it_is("in the pod that crashed", lambda o: ordinals_with(run, "v2") == {CRASHED}, within_s=15)


def test_of_two_that_come_back_the_one_that_works_is_left_alone(block: Block, hides: bool) -> None:
    """Pod 2 is let in, and blocked at once; pod 1 comes in the very second in which that rebalance ends: no look shows
    the group calm."""
    run = at_rest(hides)
    for ordinal in (2, 1):
        run.do(f"pod {ordinal} crashes", partial(Outside.crash, ordinal=ordinal))
    run.outside.set.pods[1].start_due = run.outside.set.pods[2].start_due + 6

    def is_let_in(outside: Outside) -> bool:
        pod = outside.set.pods[2]
        return pod.started_at is not None and any(map(outside.broker.owned_by, pod.processes))

    run.until_it_is("let in", is_let_in)
    block(run, 2)
    run.for_seconds(18)
    assert not run.outside.broker.is_calm
    run.do("version v2 is applied", lambda o: o.apply("v2"))
    run.for_seconds(8)
    assert ordinals_with(run, "v2") == {1}


def test_who_was_let_in_before_is_left_alone(block: Block, hides: bool) -> None:
    """The one that is blocked, and one that reads on."""
    run = at_rest(hides)
    block(run, BLOCKED)
    crash(run, CRASHED)
    run.do("version v2 is applied", lambda o: o.apply("v2"))
    run.for_seconds(60)
    assert ordinals_with(run, "v2") == {CRASHED}


def test_who_crashed_long_ago_and_works_is_left_alone(block: Block, hides: bool) -> None:
    run = at_rest(hides)
    crash(run, 1, 2)
    run.for_seconds(300)
    block(run, BLOCKED)
    rebalance(run)
    run.do("version v2 is applied", lambda o: o.apply("v2"))
    run.for_seconds(60)
    assert ordinals_with(run, "v2") == set()


@pytest.mark.parametrize(
    ("version", "forced"), [("never-consumes", False), ("never-joins", False), ("never-joins", True)]
)
def test_of_many_that_wait_one_gets_a_version_that_has_yet_to_prove_itself(
    block: Block, hides: bool, version: str, forced: bool
) -> None:
    run = at_rest(hides, replicas=4, rejoinTimeout="60s")
    block(run, BLOCKED)
    crash(run, 3, 2, 1)
    run.for_seconds(10)
    run.do(f"{version} is applied", lambda o: o.apply(version))
    if forced:
        run.do("and forced", lambda o: o.force())
    run.for_seconds(40)
    assert ordinals_with(run, version) == {3}


def test_who_ends_again_and_again_goes_before_who_waits(block: Block, hides: bool) -> None:
    """And the version has to prove itself there."""
    run = at_rest(hides, replicas=4, rejoinTimeout="60s")
    block(run, BLOCKED)
    crash(run, 3)
    run.do("pod 2 ends, and takes long to start", lambda o: o.crash(2))
    run.outside.set.pods[2].start_due = run.outside.now + 300
    run.for_seconds(5)
    run.do("a version that never joins", lambda o: o.apply("never-joins"))
    run.for_seconds(40)
    assert ordinals_with(run, "never-joins") == {2}


def test_who_was_let_in_between_two_looks_is_left_alone(
    block: Block, hides: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The rebalance that let it in ended, and the next one began, while nobody looked; others have committed since."""
    run = at_rest(hides)
    run.do("pod 2 crashes", lambda o: o.crash(2))
    run.until_it_is("about to be let in", lambda o: run.operator.history.unsettled_since is not None)
    run.until_it_is("joining", lambda o: o.broker.group.state is GroupState.PREPARING_REBALANCE)
    with monkeypatch.context() as away:
        away.setattr(run.operator, "run_pass", lambda crashes: None)
        run.until_it_is("calm again", lambda o: o.broker.is_calm)
        run.for_seconds(6)
        block(run, 2)
        run.do("somebody comes", lambda o: o.foreign_member(there=True))
        run.for_seconds(1)
    run.do("and is gone", lambda o: o.foreign_member(there=False))
    run.for_seconds(15)
    run.do("version v2 is applied", lambda o: o.apply("v2"))
    run.for_seconds(40)
    assert ordinals_with(run, "v2") == set()


@pytest.mark.parametrize("lost", [False, True], ids=["", "the status is lost"])
def test_a_version_that_may_be_what_blocks_the_group_goes_no_further(block: Block, hides: bool, lost: bool) -> None:
    run = at_rest(hides, stableFor="30s")
    run.do("version v2 is applied", lambda o: o.apply("v2"))
    run.until_it_is("in a pod, and in the group", lambda o: o.image(o.set.pods[2]) == "v2" and o.serves(o.set.pods[2]))
    run.for_seconds(5)
    run.do("paused", lambda o: o.pause())
    block(run, 2)
    crash(run, 1)
    if lost:
        run.do("the status is lost", lambda o: o.lose_status())
    run.do("goes on", lambda o: o.resume())
    run.for_seconds(60)
    assert ordinals_with(run, "v2") == {2}


def test_on_the_way_back_those_that_crashed_and_work_go_one_at_a_time(block: Block, hides: bool) -> None:
    """That no second one goes before the first is back is an invariant of every run."""
    run = at_rest(hides, replicas=4)
    run.do("version v2 is applied", lambda o: o.apply("v2"))
    run.until_it_is("in three pods", lambda o: sum(o.image(pod) == "v2" and o.serves(pod) for pod in o.pods) == 3)
    run.do("paused", lambda o: o.pause())
    for ordinal in (3, 2, 1):
        crash(run, ordinal)
        run.for_seconds(40)
    block(run, BLOCKED)
    rebalance(run)
    run.do("goes on", lambda o: o.resume())
    run.do("and is aborted", lambda o: o.abort())
    run.until_it_is("gone back", lambda o: not ordinals_with(run, "v2"))


def test_a_group_in_which_nobody_consumes_is_not_ready(block: Block, hides: bool) -> None:
    """However long it rebalances."""
    run = at_rest(hides)
    block(run, BLOCKED)
    crash(run, CRASHED)
    run.until_it_is("said", lambda o: o.status["phase"] != "Ready", within_s=90)
    said = {each["type"]: each["message"] for each in run.outside.status["conditions"]}
    assert said["Ready"].startswith("nobody consumes: the group is PreparingRebalance")
