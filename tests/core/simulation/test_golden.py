"""Whole rollouts in fixed order, told line by line and compared with what was told before.

SLACKWATER_UPDATE_GOLDEN=1 writes the logs anew; read the difference before you commit it.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from slackwater.core.world.memory import RolloutPhase
from tests.core.simulation.outside import Outside
from tests.core.simulation.runs import Run
from tests.core.simulation.scenarios import SCENARIOS

GOLDEN = Path(__file__).parent / "golden"
UPDATE = os.environ.get("SLACKWATER_UPDATE_GOLDEN") == "1"


@pytest.mark.parametrize("name", SCENARIOS)
def test_rollout_goes_as_it_was_told_before(name: str) -> None:
    scenario = SCENARIOS[name]
    run = Run(Outside(**scenario.options), crashes=scenario.crashes())
    run.until(RolloutPhase.COMPLETE)
    before = run.outside.broker.rebalances
    scenario.happens(run)
    rebalances = run.outside.broker.rebalances - before
    costs = f"        {rebalances} rebalances, {run.invariants.restarts} serving pods restarted"
    told = "\n".join([*run.operator.log, costs, ""])
    path = GOLDEN / f"{name}.txt"
    if UPDATE:
        path.write_text(told)
    assert path.read_text().splitlines() == told.splitlines()
    assert scenario.rebalances in (None, rebalances)


def test_every_log_is_of_a_scenario() -> None:
    assert sorted(path.stem for path in GOLDEN.glob("*.txt")) == sorted(SCENARIOS)
