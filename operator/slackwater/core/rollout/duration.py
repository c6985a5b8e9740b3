"""How long a rollout took, written down with its end."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from slackwater.api.telemetry.words import HeldBy
from slackwater.core.decision.decision import Decision
from slackwater.core.decision.reasons import Reason
from slackwater.core.rollout.canary import waits_for_promotion
from slackwater.core.world.in_hand import step_of
from slackwater.core.world.memory import RolloutMemory, RolloutPhase
from slackwater.core.world.took import with_another
from slackwater.core.world.world import World


def timed(world: World, decided: Decision) -> Decision:
    """Of one that went to pods that were there: a group that is made moves nobody."""
    decided = _kept_waiting(world, decided)
    before, memory = world.memory, decided.memory
    is_complete = memory.phase is RolloutPhase.COMPLETE and before.phase is RolloutPhase.PROGRESSING
    stopped = before.upgrade is not None and before.upgrade.stopped_at is not None
    moved = bool(before.last_good_revision) and (step_of(before) is not None or stopped)
    if not is_complete or not moved or before.stood_still or before.started_at is None or world.replicas == 0:
        return decided
    took = with_another(memory.took, world.replicas, world.now - before.started_at)
    return replace(decided, memory=replace(memory, took=took))


def _kept_waiting(world: World, decided: Decision) -> Decision:
    """A rollout that has begun, and stands until people or a fleet let it go on: once noted for each."""
    memory, hold = decided.memory, decided.hold
    begun = memory.phase is RolloutPhase.PROGRESSING and step_of(memory) is not None
    if not begun or memory.stood_still or hold is None or hold.reason not in _KEPT_BY:
        return decided
    if hold.reason is Reason.CANARY_HOLD and not waits_for_promotion(world.remembering(memory)):
        return decided
    if hold.reason is Reason.AWAITING_TURN and not _stands_at_a_gate(world, memory):
        return decided  # it waits for its turn after a canary, as each rollout does there
    return replace(decided, memory=replace(memory, stood_still=True))


def _stands_at_a_gate(world: World, memory: RolloutMemory) -> bool:
    """A window, a freeze, a pause or a halt: it may be days."""
    stopped = memory.turn is not None and memory.turn.is_held
    stand = world.turn.stands_at
    return stopped or (stand is not None and stand.by not in (HeldBy.BUDGET, HeldBy.WAVE, HeldBy.ORDER))


_KEPT_BY: Final = (Reason.PAUSED, Reason.AWAITING_TURN, Reason.CANARY_HOLD)
