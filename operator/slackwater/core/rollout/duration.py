"""How long a rollout took, written down with its end."""

from __future__ import annotations

from dataclasses import replace

from slackwater.core.decision.decision import Decision
from slackwater.core.rollout.step import step_of
from slackwater.core.world.memory import RolloutPhase
from slackwater.core.world.took import with_another
from slackwater.core.world.world import World


def timed(world: World, decided: Decision) -> Decision:
    """Of one that went to pods that were there: a group that is made moves nobody."""
    before, memory = world.memory, decided.memory
    is_complete = memory.phase is RolloutPhase.COMPLETE and before.phase is RolloutPhase.PROGRESSING
    stopped = before.upgrade is not None and before.upgrade.stopped_at is not None
    moved = bool(before.last_good_revision) and (step_of(before) is not None or stopped)
    if not is_complete or not moved or before.started_at is None or world.replicas == 0:
        return decided
    took = with_another(memory.took, world.replicas, world.now - before.started_at)
    return replace(decided, memory=replace(memory, took=took))
