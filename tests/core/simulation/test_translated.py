"""Brokers see none of the pods' own addresses, as behind network address translation. One consumer is blocked for
longer than its session, is put out, and comes back by itself: found by a fresh reader."""

from __future__ import annotations

import pytest

from slackwater.core.world.memory import RolloutPhase
from tests.core.simulation.outside import Outside
from tests.core.simulation.runs import Run

SESSION_S = 45.0
IS_TRANSLATED = pytest.mark.parametrize("translated", [False, True], ids=["own addresses", "translated"])


def evicted_and_back(run: Run, translated: bool) -> None:
    broker = run.outside.broker
    broker.session_s = SESSION_S
    if translated:
        broker._host_of = lambda member: "203.0.113.7"  # type: ignore[method-assign]
    run.until(RolloutPhase.COMPLETE)
    run.for_seconds(60)
    (process,) = run.outside.set.pods[2].processes
    process.alive = False
    run.for_seconds(SESSION_S + 10)
    assert not is_there(run)
    process.alive = True
    run.for_seconds(60)
    assert run.outside.serves(run.outside.set.pods[2])


def is_there(run: Run) -> bool:
    return any(member.instance_id == "payments-2" for member in run.outside.broker.group.members)


@IS_TRANSLATED
def test_its_dead_member_goes_when_its_pod_is_scaled_away(translated: bool) -> None:
    run = Run(Outside())
    run.outside.spec["timeouts"] = {"session": f"{SESSION_S:.0f}s"}
    evicted_and_back(run, translated)
    run.do("scaled in", lambda o: o.scale(2))
    run.for_seconds(SESSION_S / 2)
    assert not is_there(run)


@IS_TRANSLATED
def test_its_id_is_free_for_the_next_process(translated: bool) -> None:
    run = Run(Outside(kip848=True))
    evicted_and_back(run, translated)
    run.do("its container crashes", lambda o: o.crash(2))
    run.for_seconds(SESSION_S / 2)
    assert run.outside.serves(run.outside.set.pods[2])
