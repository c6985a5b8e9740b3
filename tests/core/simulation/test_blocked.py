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

pytestmark = pytest.mark.slow

BLOCKED, CRASHED = 0, 2


def stuck(monkeypatch: pytest.MonkeyPatch, *, static: bool = False) -> Run:
    run = Run(Outside(static=static, rejoinTimeout="5m"))
    run.until(RolloutPhase.COMPLETE)
    run.for_seconds(20)
    blocked = {process.member_id for process in run.outside.set.pods[BLOCKED].processes}
    join_again = clients.join_again

    def but_the_blocked(group: Group, lives: clients.Lives) -> Group:
        return join_again(group, lambda member: lives(member) and member.member_id not in blocked)

    monkeypatch.setattr(clients, "join_again", but_the_blocked)
    run.do("pod 2 crashes", lambda o: o.crash(CRASHED))
    run.for_seconds(20)
    return run


@pytest.mark.parametrize("static", [True, False], ids=["static", "dynamic"])
def test_the_fix_reaches_the_pod_that_crashed_while_the_other_one_is_blocked(
    monkeypatch: pytest.MonkeyPatch, static: bool
) -> None:
    run = stuck(monkeypatch, static=static)
    run.do("version v2 is applied", lambda o: o.apply("v2"))
    run.until_it_is("in the pod that crashed", lambda o: CRASHED in {p.ordinal for p in o.pods if o.image(p) == "v2"})


def test_a_group_in_which_nobody_consumes_is_not_ready(monkeypatch: pytest.MonkeyPatch) -> None:
    """However long it rebalances."""
    run = stuck(monkeypatch)
    run.until_it_is("said", lambda o: o.status["phase"] != "Ready")
