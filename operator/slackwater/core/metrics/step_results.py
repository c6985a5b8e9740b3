"""How the steps of a rollout end: a pod that is restarted or replaced is one step; those that go together, too."""

from __future__ import annotations

from enum import StrEnum

from slackwater.core.world.memory import RolloutMemory, RolloutPhase


class StepResult(StrEnum):
    DONE = "done"
    """The pods came back into the group: the rollout went on, or was complete."""
    FAILED = "failed"
    """The rollout stopped, or turned back, with this step in hand."""


def step_result(before: RolloutMemory, after: RolloutMemory) -> StepResult | None:
    """What a decision that turns `before` into `after` says of the step in hand; None: nothing."""
    step = before.step
    if step is None or not before.phase.under_way or step.started_at < (before.started_at or 0.0):
        return None
    turns_back = before.phase is RolloutPhase.PROGRESSING and after.phase.goes_back
    if turns_back or after.phase is RolloutPhase.FAILED:
        return StepResult.FAILED
    next_one = after.step is not None and after.step.ordinal != step.ordinal
    return StepResult.DONE if next_one or not after.phase.under_way else None
