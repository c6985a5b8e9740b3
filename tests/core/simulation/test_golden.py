"""Whole rollouts in fixed order: every line is as it was before (`kept`)."""

from __future__ import annotations

from pathlib import Path

import pytest

from slackwater.core.world.memory import RolloutPhase
from tests.core.simulation import kept
from tests.core.simulation.outside import Outside
from tests.core.simulation.runs import Run
from tests.core.simulation.scenarios import SCENARIOS

GOLDEN = Path(__file__).parent / "golden"


@pytest.mark.parametrize("name", SCENARIOS)
def test_rollout_goes_as_it_was_told_before(name: str) -> None:
    scenario = SCENARIOS[name]
    run = Run(Outside(**scenario.options), crashes=scenario.crashes())
    run.until(RolloutPhase.COMPLETE)
    before = run.outside.broker.rebalances
    scenario.happens(run)
    rebalances = run.outside.broker.rebalances - before
    costs = f"        {rebalances} rebalances, {run.invariants.restarts} serving pods restarted"
    kept.compare(GOLDEN / f"{name}.txt", [*run.operator.log, costs])
    assert scenario.rebalances in (None, rebalances)


def test_every_log_is_of_a_scenario() -> None:
    assert kept.names_in(GOLDEN) == sorted(SCENARIOS)
