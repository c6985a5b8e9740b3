"""The restart in hand, or the last one, of the rollout under way."""

from __future__ import annotations

from slackwater.core.world.memory import RolloutMemory
from slackwater.core.world.step import Step


def step_of(memory: RolloutMemory) -> Step | None:
    """None where nobody has been restarted in this rollout yet: what is remembered then is of the one before it."""
    step = memory.step
    is_earlier = step is not None and step.started_at < (memory.started_at or 0.0) and memory.retried_at is None
    return None if is_earlier else step


def has_moved(memory: RolloutMemory) -> bool:
    """A pod was restarted in this rollout, or all were stopped for it, or are to be."""
    upgrade = memory.upgrade
    stops = upgrade is not None and (upgrade.step > 1 or upgrade.stopped_at is not None)
    return stops or step_of(memory) is not None
