"""Two Kubernetes clusters on one Kafka: the same ConsumerGroup in each, of which one is scaled to nothing."""

from __future__ import annotations

import pytest

from slackwater.core.world.memory import RolloutPhase
from tests.core.simulation.broker import Process
from tests.core.simulation.outside import Outside
from tests.core.simulation.runs import Run

SESSION_S = 65
"""A session with all its margins: by then who is listed lives."""


def failed_back(*, restarted: bool = False) -> tuple[Run, list[Process]]:
    """The pods of the other cluster are started, and fence those of this one, which is then scaled to nothing."""
    run = Run(Outside(version="v1"))
    run.until(RolloutPhase.COMPLETE)
    run.for_seconds(SESSION_S + 5)
    theirs = [Process(f"payments-{ordinal}", f"10.9.9.{ordinal}") for ordinal in range(3)]
    for process in theirs:
        run.outside.broker.join(process, run.outside.now)
    run.for_seconds(5)
    if restarted:
        run.operator.die("for an upgrade")
    return run, theirs


@pytest.mark.parametrize("restarted", [False, True])
def test_who_took_the_ids_over_lives_on_when_the_pods_here_are_scaled_away(restarted: bool) -> None:
    run, theirs = failed_back(restarted=restarted)
    rebalances = run.outside.broker.rebalances
    run.do("scale to nothing", lambda outside: outside.scale(0))
    run.for_seconds(30)
    assert not run.outside.pods
    assert [run.outside.broker.works(process) for process in theirs] == [True] * 3
    assert run.outside.broker.rebalances == rebalances, run.operator.log


def test_who_is_restarted_and_scaled_away_is_taken_out_at_once() -> None:
    """A pod's own process took the id from the one before it."""
    run = Run(Outside(version="v1"))
    run.until(RolloutPhase.COMPLETE)
    run.for_seconds(SESSION_S + 5)
    run.outside.crash(2)
    run.for_seconds(20)
    run.do("scale down", lambda outside: outside.scale(2))
    run.for_seconds(10)
    assert any("remove payments-2" in line for line in run.operator.log), run.operator.log
