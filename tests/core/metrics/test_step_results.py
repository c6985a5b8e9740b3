"""A step of a rollout ends well when the rollout goes on after it, badly when it stops or turns back."""

from __future__ import annotations

from dataclasses import replace

import pytest

from slackwater.core.metrics.step_results import StepResult, step_result
from slackwater.core.world.memory import RolloutMemory, RolloutPhase
from slackwater.core.world.step import Step

FIRST = RolloutMemory(phase=RolloutPhase.PROGRESSING, started_at=100.0, step=Step(2, 110.0))


@pytest.mark.parametrize(
    ("after", "result"),
    [
        (FIRST, None),
        (replace(FIRST, step=Step(1, 130.0)), StepResult.DONE),
        (replace(FIRST, step=Step(2, 111.0)), None),  # decided once more, because the first try was refused
        (replace(FIRST, phase=RolloutPhase.COMPLETE), StepResult.DONE),
        (replace(FIRST, phase=RolloutPhase.FAILED), StepResult.FAILED),
        (replace(FIRST, phase=RolloutPhase.ROLLING_BACK), StepResult.FAILED),
    ],
)
def test_what_becomes_of_the_step_in_hand(after: RolloutMemory, result: StepResult | None) -> None:
    assert step_result(FIRST, after) == result


def test_a_step_of_the_rollout_before_counts_once() -> None:
    """A template that comes in the middle begins the rollout again."""
    again = replace(FIRST, started_at=200.0)
    assert step_result(again, replace(again, step=Step(1, 210.0))) is None


def test_a_rollout_goes_back_step_by_step_too() -> None:
    back = replace(FIRST, phase=RolloutPhase.ROLLING_BACK)
    assert step_result(back, replace(back, phase=RolloutPhase.ROLLED_BACK)) is StepResult.DONE
    assert step_result(back, replace(back, step=Step(1, 130.0))) is StepResult.DONE


def test_at_rest_there_is_no_step() -> None:
    rest = replace(FIRST, phase=RolloutPhase.COMPLETE)
    assert step_result(rest, replace(rest, phase=RolloutPhase.PROGRESSING, started_at=300.0)) is None
    assert step_result(RolloutMemory(), RolloutMemory(phase=RolloutPhase.PROGRESSING)) is None


def test_a_step_that_is_taken_in_the_pass_that_begins_its_rollout_counts() -> None:
    """As after `retry`: the pod that failed goes at once."""
    at_once = replace(FIRST, started_at=110.0)
    assert step_result(at_once, replace(at_once, step=Step(1, 130.0))) is StepResult.DONE
