"""What comes next while there are two StatefulSets: what needs no gate, and the next ordinal.

The two pods of one ordinal are `outcomes`' matter, what the last handover has left behind is `remains`'. All of it
follows from the world and from what is remembered of the ordinal that was handed over last.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from slackwater.core.decision.acts import Cause, DeletePod, DeleteWorkload, Purpose
from slackwater.core.decision.decision import Decision
from slackwater.core.decision.reasons import Reason
from slackwater.core.fleet.turn import given, judged, not_yet, turn_refusal
from slackwater.core.handover.arrival import find_arrival_failure
from slackwater.core.handover.latecomers import keeps_a_third_waiting, not_joining
from slackwater.core.handover.outcomes import outcome
from slackwater.core.handover.ranges import in_both, in_neither, scaled, with_ordinal, without_ordinal
from slackwater.core.handover.transitions import begun, member_ids, returned_so_far
from slackwater.core.members.presence import is_down, lives
from slackwater.core.rollout.canary import canary_hold, is_held_at_canary
from slackwater.core.rollout.candidates import has_retry, known_down, step_with
from slackwater.core.rollout.failure import Failure, find_failure
from slackwater.core.rollout.gates import first_refusal
from slackwater.core.world.memory import RolloutMemory
from slackwater.core.world.step import Step
from slackwater.core.world.two_sets import Beside, Direction, is_overtaken, never_was_whole
from slackwater.core.world.workload import Workload
from slackwater.core.world.world import World

RETURNS: Final = 3
"""So often a pod that was down may be back before its replacement, or the two may fence each other; after that it is
replaced as in place."""
OF_A_POD: Final = (Reason.POD_NOT_READY, Reason.MEMBER_MISSING, Reason.MEMBER_NOT_REJOINED)
"""What the gates say of a pod that does not come, without what helps."""


def at_once(world: World, beside: Beside, way: Direction) -> Decision | None:
    """What needs no gate: a set that was to go, the number of pods, an ordinal in both StatefulSets, one in neither."""
    if _was_closed(world, beside, way):
        return _delete(world.memory, beside, beside.in_use, forward=True)
    if (write := scaled(world, beside)) is not None:
        return Decision(world.memory, write)
    if both := in_both(beside):
        return outcome(world, beside, way, both[0] if way.forward else both[-1])
    if neither := in_neither(beside, world.replicas):
        ordinal = neither[0] if way.forward else neither[-1]
        return Decision(world.memory, with_ordinal(beside, way.to.name, ordinal, Purpose.FILL))
    return None


def onwards(world: World, beside: Beside, way: Direction) -> Decision:
    """The next ordinal, once all gates hold."""
    workload = world.workload or way.to
    down, again = known_down(world, workload), _try_again(world, way)
    needs_turn = again is None and way.following is not None and way.following not in down
    if needs_turn and not is_held_at_canary(world) and (hold := turn_refusal(world)):
        return Decision(world.memory, hold=hold)
    if hold := first_refusal(judged(world), down):
        forced_on = hold.reason in OF_A_POD and _is_forced_on(world, beside)
        if way.following is None and (forced_on or _is_no_good_either(world, beside, way)):
            return _delete(world.memory, beside, way.off, forward=way.forward)
        missing = not_joining(world) if hold.reason in OF_A_POD else None
        return Decision(world.memory, hold=missing or not_yet(world, hold))
    if again is not None:
        return again
    if way.following is None:
        return _close(world, beside, way)
    is_tried = way.forward and way.to.template_hash == world.memory.target_hash
    canary = canary_hold(world, workload) if is_tried else Decision(world.memory)
    if canary.hold:
        return canary
    next_one = _next_one(world, beside, way, way.following, canary.memory)
    return _by_turn(world, next_one) if needs_turn else next_one


def _next_one(world: World, beside: Beside, way: Direction, ordinal: int, memory: RolloutMemory) -> Decision:
    if comes_and_goes(world, ordinal):
        return _without_overlap(world, beside, way, ordinal)
    handover = begun(world, ordinal, way.to, world.pod(ordinal))
    step = Step(ordinal, world.now, handover.before, uid_before=_uid_of(world, ordinal))
    write = with_ordinal(beside, way.to.name, ordinal, Purpose.HAND_OVER)
    return Decision(replace(memory, handover=handover, step=step), write)


def _by_turn(world: World, decided: Decision) -> Decision:
    if hold := turn_refusal(world):  # a canary's hold has just ended
        return Decision(world.memory, hold=hold)
    return replace(decided, memory=given(world, decided.memory))


def comes_and_goes(world: World, ordinal: int) -> bool:
    """The pod was down each time that a replacement was made, and back before that one could take over; or the two
    fenced each other each time."""
    return returned_so_far(world, ordinal) >= RETURNS


def leads_nowhere(world: World, beside: Beside) -> bool:
    """Back is a version of which a pod does not take over; or one that was never whole, and of which a pod does not
    consume. One of the younger version does."""
    if keeps_a_third_waiting(world, beside):
        return True
    memory = world.memory
    if memory.phase.goes_back or not is_overtaken(beside, memory.target_hash):
        return False
    # One that got the younger version in the older StatefulSet, in place, says nothing about the older one.
    younger = beside.newcomer.template_hash
    old = [p for p in world.wanted_pods if p.workload == beside.in_use.name and p.template_hash != younger]
    new = [pod for pod in world.wanted_pods if pod.workload == beside.newcomer.name]
    if not never_was_whole(beside, memory.target_hash, memory):
        # Its StatefulSet may hold the good version, and no pod of it have that yet.
        old = [pod for pod in old if pod.template_hash not in ("", memory.last_good_hash)]
    return any(is_down(world, pod) for pod in old) and any(lives(world, pod) for pod in new)


def _without_overlap(world: World, beside: Beside, way: Direction, ordinal: int) -> Decision:
    """As in place: the old pod goes first, and its replacement is made once neither StatefulSet has the ordinal."""
    step = Step(ordinal, world.now, member_ids(world, ordinal), uid_before=_uid_of(world, ordinal))
    write = without_ordinal(beside, way.off.name, ordinal, Purpose.GIVE_UP)
    return Decision(replace(world.memory, step=step), write)


def _uid_of(world: World, ordinal: int) -> str:
    pod = world.pod(ordinal)
    return pod.uid if pod is not None else ""


def _is_no_good_either(world: World, beside: Beside, way: Direction) -> bool:
    """All pods have one version by now, one does not work, and a third is wanted. The emptied StatefulSet has no good
    version to go back to."""
    memory = world.memory
    back_again = not way.forward and not memory.phase.goes_back and is_overtaken(beside, memory.target_hash)
    nothing_is_lost = back_again and not _is_known_good(memory, way.off)
    overtaken = nothing_is_lost or never_was_whole(beside, memory.target_hash, memory)
    return overtaken and any(is_down(world, pod) for pod in world.wanted_pods)


def failing(world: World, beside: Beside) -> Failure | None:
    """The new version's: a replacement that does not take over, or a pod that did and works no more."""
    return find_arrival_failure(world, beside) or find_failure(world)


def _is_forced_on(world: World, beside: Beside) -> bool:
    """All pods have one version by now, and a third one is forced: an empty set that goes disturbs nobody."""
    return world.memory.is_forced and is_overtaken(beside, world.memory.target_hash)


def _close(world: World, beside: Beside, way: Direction) -> Decision:
    """The emptied StatefulSet goes, and its revisions with it: what every pod runs is the last good version then."""
    memory = world.memory
    if (way.forward or _is_known_good(memory, way.off)) and world.replicas:
        memory = replace(memory, last_good_revision=way.to.update_revision, last_good_hash=way.to.template_hash)
    return _delete(memory, beside, way.off, forward=way.forward)


def _was_closed(world: World, beside: Beside, way: Direction) -> bool:
    """All pods had the newer version, which was written down as good; a third one was applied before the act.

    It need not wait until all have gone back: the older set is empty, and the newer one holds the last good version.
    """
    another_is_wanted = not way.forward or is_overtaken(beside, world.memory.target_hash)
    return another_is_wanted and beside.in_use.replicas == 0 and _is_known_good(world.memory, beside.newcomer)


def _is_known_good(memory: RolloutMemory, workload: Workload) -> bool:
    """Its revision is the one to go back to; a StatefulSet that its controller has not read yet has none."""
    return workload.update_revision != "" and workload.update_revision == memory.last_good_revision


def _delete(memory: RolloutMemory, beside: Beside, emptied: Workload, *, forward: bool) -> Decision:
    why = "its last pod has been replaced" if forward else "every pod is back where it was"
    kept = (beside.other(emptied.name).update_revision, memory.last_good_revision)
    return Decision(memory, DeleteWorkload(emptied.name, emptied.uid, why, tuple(filter(None, dict.fromkeys(kept)))))


def _try_again(world: World, way: Direction) -> Decision | None:
    """A pod that has taken over, does not work, and was made before `retry`."""
    pods = (pod for pod in world.pods if pod.workload == way.to.name and has_retry(world, pod))
    if (pod := next(pods, None)) is None:
        return None
    step = step_with(world, pod, member_ids(world, pod.ordinal))
    act = DeletePod(pod.name, pod.uid, pod.ordinal, Cause.RETRIED)
    return Decision(replace(world.memory, step=step), act)
