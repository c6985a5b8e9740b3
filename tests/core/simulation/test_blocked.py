"""Dynamic members: one is blocked by a record while its heartbeats go on, so no rebalance ends; another one crashed.

It runs again, Ready for the kubelet, and waits to be let in. Nobody consumes.
"""

from __future__ import annotations

import pytest

from slackwater.core.world.memory import RolloutPhase
from tests.core.coordinator import clients
from tests.core.coordinator.model import Group
from tests.core.simulation.outside import Outside
from tests.core.simulation.runs import Run

BLOCKED, CRASHED = 0, 2


def at_rest(*, static: bool = False, stable_for: str = "3s") -> Run:
    run = Run(Outside(static=static, rejoinTimeout="5m", stableFor=stable_for))
    run.until(RolloutPhase.COMPLETE)
    run.for_seconds(20)
    return run


def block_and_crash(run: Run, monkeypatch: pytest.MonkeyPatch, blocked: int, crashed: int) -> None:
    ids = {process.member_id for process in run.outside.set.pods[blocked].processes}
    join_again = clients.join_again

    def but_the_blocked(group: Group, lives: clients.Lives) -> Group:
        return join_again(group, lambda member: lives(member) and member.member_id not in ids)

    monkeypatch.setattr(clients, "join_again", but_the_blocked)
    run.do(f"pod {crashed} crashes", lambda o: o.crash(crashed))
    run.for_seconds(20)


def ordinals_with(run: Run, version: str) -> set[int]:
    return {pod.ordinal for pod in run.outside.pods if run.outside.image(pod) == version}


@pytest.mark.parametrize("static", [True, False], ids=["static", "dynamic"])
def test_the_fix_reaches_the_pod_that_crashed_while_the_other_one_is_blocked(
    monkeypatch: pytest.MonkeyPatch, static: bool
) -> None:
    run = at_rest(static=static)
    block_and_crash(run, monkeypatch, BLOCKED, CRASHED)
    run.do("version v2 is applied", lambda o: o.apply("v2"))
    run.until_it_is("in the pod that crashed", lambda o: ordinals_with(run, "v2") == {CRASHED}, within_s=15)


def test_who_was_let_in_before_it_is_blocked_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody else: they own partitions, and one of them may read on."""
    run = at_rest()
    block_and_crash(run, monkeypatch, BLOCKED, CRASHED)
    run.do("version v2 is applied", lambda o: o.apply("v2"))
    run.for_seconds(60)
    assert ordinals_with(run, "v2") == {CRASHED}


def test_a_version_that_may_be_what_blocks_the_group_goes_no_further(monkeypatch: pytest.MonkeyPatch) -> None:
    run = at_rest(stable_for="30s")
    run.do("version v2 is applied", lambda o: o.apply("v2"))
    run.until_it_is("in a pod, and in the group", lambda o: o.image(o.set.pods[2]) == "v2" and o.serves(o.set.pods[2]))
    run.for_seconds(5)
    run.do("paused", lambda o: o.pause())
    block_and_crash(run, monkeypatch, blocked=2, crashed=1)
    run.do("goes on", lambda o: o.resume())
    run.for_seconds(60)
    assert ordinals_with(run, "v2") == {2}


def test_a_group_in_which_nobody_consumes_is_not_ready(monkeypatch: pytest.MonkeyPatch) -> None:
    """However long it rebalances."""
    run = at_rest()
    block_and_crash(run, monkeypatch, BLOCKED, CRASHED)
    run.until_it_is("said", lambda o: o.status["phase"] != "Ready", within_s=90)
    said = {each["type"]: each["message"] for each in run.outside.status["conditions"]}
    assert said["Ready"].startswith("nobody consumes: the group is PreparingRebalance")
