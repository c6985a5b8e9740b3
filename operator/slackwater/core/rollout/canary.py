"""Canary holds: stop when so many pods have the new version, for so long, or until somebody promotes it."""

from __future__ import annotations

from dataclasses import replace

from slackwater.api.annotations import PROMOTE
from slackwater.api.rollout import Stop
from slackwater.core.decision.decision import Decision
from slackwater.core.decision.reasons import Hold, Reason
from slackwater.core.decision.words import by_command, count, seconds
from slackwater.core.members.presence import is_down
from slackwater.core.world.memory import Canary, RolloutMemory, RolloutPhase
from slackwater.core.world.workload import Workload
from slackwater.core.world.world import World


def canary_hold(world: World, workload: Workload) -> Decision:
    """The hold that is due at this many updated pods, if any, and the memory of it. A rollback holds nowhere.

    A hold goes on though some of its pods were scaled away. Where its step was taken out of the spec, or made smaller,
    the one before it counts: it has passed, or is held from the same moment.
    """
    if _lost_its_pods(world, workload):
        return _tried_again(world)
    memory, steps = world.memory, world.canary
    updated = _updated(world, workload)
    canary = _held_now(memory)
    size = canary.size_in(steps) if canary is not None else 0
    reached = [i for i, step in enumerate(steps) if step.replicas <= max(updated, size)]
    if not reached or memory.phase is not RolloutPhase.PROGRESSING:
        return Decision(memory)
    index = reached[-1]
    step = steps[index]
    if canary is None or size < step.replicas:
        behind = 0 if canary is None else max(canary.behind, size if canary.passed else 0)
        canary = Canary(index, world.now, replicas=step.replicas, of=world.replicas, behind=behind)
    elif size > step.replicas > canary.behind and not canary.passed:
        canary = replace(canary, index=index, replicas=step.replicas)
    if (size > step.replicas and step.replicas <= canary.behind) or _left_s(step, canary, world.now) <= 0:
        canary = replace(canary, passed=True)
    memory = replace(memory, canary=canary)
    if canary.passed:
        return Decision(memory)
    until = "until it is promoted" if step.hold_ms is None else f"for {seconds(step.hold_ms / 1000)}"
    pods, promoting = count(max(updated, step.replicas), "pod"), by_command(PROMOTE, world.group.name)
    message = f"canary of {pods} held {until}; to go on now: {promoting}"
    left_s = _left_s(step, canary, world.now)
    return Decision(memory, hold=Hold(Reason.CANARY_HOLD, message, min(left_s, 60.0)))


def _held_now(memory: RolloutMemory) -> Canary | None:
    """None where its hold begins again, with pods that have come since it lost its own."""
    canary = memory.canary
    return None if canary is not None and canary.lost and not canary.passed else canary


def _updated(world: World, workload: Workload) -> int:
    return sum(pod.revision == workload.update_revision for pod in world.wanted_pods)


def _lost_its_pods(world: World, workload: Workload) -> bool:
    """All of them were scaled away before the hold was over: nobody tries the version any more."""
    canary, steps = world.memory.canary, world.canary
    held = canary is not None and not canary.passed and world.memory.phase is RolloutPhase.PROGRESSING
    return held and bool(steps) and _updated(world, workload) == 0


def _tried_again(world: World) -> Decision:
    """By other pods, from the first step on. Not by all that are left, of which nobody would be held back; but where
    none of them works, there is nothing to hold back."""
    memory, first = world.memory, world.canary[0].replicas
    if world.replicas > first or all(is_down(world, pod) for pod in world.wanted_pods):
        return Decision(replace(memory, canary=None))
    if memory.canary is not None:
        memory = replace(memory, canary=replace(memory.canary, lost=True))
    promoting = by_command(PROMOTE, world.group.name)
    message = (
        f"the pods of the canary were scaled away, and a canary of {count(first, 'pod')} would be all that are left:"
        f" held until there are more; to go on now: {promoting}"
    )
    return Decision(memory, hold=Hold(Reason.CANARY_HOLD, message, 60.0))


def room_before_the_next_step(world: World, workload: Workload) -> int:
    """How many more pods may have the version before the next step is held; as many as there are where none is."""
    if world.memory.phase is not RolloutPhase.PROGRESSING:
        return world.replicas
    steps, canary, updated = world.canary, world.memory.canary, _updated(world, workload)
    passed = canary.size_in(steps) if canary is not None and canary.passed else 0
    return min(
        (step.replicas - updated for step in steps if step.replicas > max(updated, passed)), default=world.replicas
    )


def canary_ahead(world: World) -> bool:
    """Whether some canary step of the rollout under way is still to be held."""
    steps, canary = world.canary, world.memory.canary
    if not steps or world.memory.phase is not RolloutPhase.PROGRESSING:
        return False
    return canary is None or not canary.passed or canary.size_in(steps) < steps[-1].replicas


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
    canary, steps = world.memory.canary, world.canary
    if canary is None or canary.passed or world.memory.phase is not RolloutPhase.PROGRESSING:
        return False
    if world.workload is not None and _lost_its_pods(world, world.workload):
        return world.replicas <= steps[0].replicas
    if canary.lost:
        return True
    held = next((step for step in steps if step.replicas == canary.size_in(steps)), None)
    return held is not None and _left_s(held, canary, world.now) > 0


def waits_for_promotion(world: World) -> bool:
    """It is held for no time of its own."""
    canary, steps = world.memory.canary, world.canary
    held = canary is not None and any(step.replicas == canary.size_in(steps) and step.hold_ms is None for step in steps)
    return held or (canary is not None and canary.lost)


def _left_s(step: Stop, canary: Canary, now: float) -> float:
    """How long the step is still held."""
    return float("inf") if step.hold_ms is None else step.hold_ms / 1000 - (now - canary.held_since)
