"""Canary holds: stop when so many pods have the new version, for so long, or until somebody promotes it."""

from __future__ import annotations

from dataclasses import replace

from slackwater.api.annotations import PROMOTE
from slackwater.core.decision.decision import Decision
from slackwater.core.decision.reasons import Hold, Reason
from slackwater.core.decision.words import by_command, count, seconds
from slackwater.core.world.memory import Canary, RolloutPhase
from slackwater.core.world.workload import Workload
from slackwater.core.world.world import World


def canary_hold(world: World, workload: Workload) -> Decision:
    """The hold that is due at this many updated pods, if any, and the memory of it. A rollback holds nowhere."""
    memory = world.memory
    updated = sum(pod.revision == workload.update_revision for pod in world.wanted_pods)
    reached = [i for i, step in enumerate(world.group.spec.rollout.canary) if step.replicas <= updated]
    if not reached or memory.phase is not RolloutPhase.PROGRESSING:
        return Decision(memory)
    index = reached[-1]
    canary = memory.canary
    if canary is None or canary.index < index:
        canary = Canary(index, world.now)
    hold_ms = world.group.spec.rollout.canary[index].hold_ms
    left_s = _left_s(world, canary)
    if left_s <= 0:
        canary = replace(canary, passed=True)
    memory = replace(memory, canary=canary)
    if canary.passed:
        return Decision(memory)
    until = "until it is promoted" if hold_ms is None else f"for {seconds(hold_ms / 1000)}"
    size, promoting = count(updated, "pod"), by_command(PROMOTE, world.group.name)
    message = f"canary of {size} held {until}; to go on now: {promoting}"
    return Decision(memory, hold=Hold(Reason.CANARY_HOLD, message, min(left_s, 60.0)))


def canary_ahead(world: World) -> bool:
    """Whether some canary step of the rollout under way is still to be held."""
    steps, canary = world.group.spec.rollout.canary, world.memory.canary
    if not steps or world.memory.phase is not RolloutPhase.PROGRESSING:
        return False
    return canary is None or not canary.passed or canary.index < len(steps) - 1


def is_broken_off(world: World) -> bool:
    """Its canary had begun, and no pod is wanted any more."""
    return world.replicas == 0 and _can_begin_again(world)


def begins_again(world: World, workload: Workload) -> bool:
    """It was broken off, and no pod is left: those that come have the last good version first, and a canary is tried of
    them as before."""
    as_good = workload.template_hash == world.memory.last_good_hash
    return not world.pods and (workload.replicas == 0 or as_good) and _can_begin_again(world)


def _can_begin_again(world: World) -> bool:
    """Not in a stop for another protocol, whose pods may not meet."""
    memory = world.memory
    tried = memory.step is not None or memory.canary is not None
    alone = memory.upgrade is None and world.beside is None
    return canary_ahead(world) and tried and alone and world.last_good_template is not None


def note_that_it_begins_again(world: World) -> Decision:
    """Its holds, too: who was held before is gone. Once pods are wanted: until then it may be promoted."""
    memory, workload = world.memory, world.workload
    if memory.canary is None or workload is None or world.replicas == 0 or not begins_again(world, workload):
        return Decision(memory)
    return Decision(replace(memory, canary=None))


def is_held_at_canary(world: World) -> bool:
    """Whether the rollout stands at a canary step, and its hold is not over, whatever has become of its pods since."""
    canary, steps = world.memory.canary, world.group.spec.rollout.canary
    if canary is None or canary.passed or canary.index >= len(steps):
        return False
    return world.memory.phase is RolloutPhase.PROGRESSING and _left_s(world, canary) > 0


def _left_s(world: World, canary: Canary) -> float:
    """How long the step is still held."""
    hold_ms = world.group.spec.rollout.canary[canary.index].hold_ms
    return float("inf") if hold_ms is None else hold_ms / 1000 - (world.now - canary.held_since)
