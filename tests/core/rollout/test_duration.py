"""What a rollout took is written down with its end, and of nothing else."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

import pytest

from slackwater.core.decision.decision import Decision
from slackwater.core.rollout.duration import timed
from slackwater.core.world.memory import RolloutMemory, RolloutPhase
from slackwater.core.world.step import Step
from slackwater.core.world.took import with_another
from tests.core.factories import NOW, group, world

MEMORY: Final = RolloutMemory(
    RolloutPhase.PROGRESSING, last_good_revision="payments-1", started_at=NOW - 60, step=Step(0, NOW - 20)
)


@pytest.mark.parametrize(
    ("before", "phase", "replicas", "is_timed"),
    [
        ({}, RolloutPhase.COMPLETE, 3, True),
        ({}, RolloutPhase.FAILED, 3, False),
        ({}, RolloutPhase.PROGRESSING, 3, False),
        ({"phase": RolloutPhase.COMPLETE}, RolloutPhase.COMPLETE, 3, False),
        ({"phase": RolloutPhase.ROLLING_BACK}, RolloutPhase.ROLLED_BACK, 3, False),
        ({"last_good_revision": ""}, RolloutPhase.COMPLETE, 3, False),  # the group was made
        ({"step": Step(0, NOW - 99)}, RolloutPhase.COMPLETE, 3, False),  # nobody was restarted
        ({}, RolloutPhase.COMPLETE, 0, False),
    ],
)
def test_a_rollout_that_went_to_pods_is_timed(
    before: dict[str, Any], phase: RolloutPhase, replicas: int, is_timed: bool
) -> None:
    memory = replace(MEMORY, **before)
    seen = world(memory=memory, group=group(replicas=replicas))
    took = timed(seen, Decision(replace(memory, phase=phase))).memory.took
    assert took == (with_another(None, 3, 60.0) if is_timed else None)
