"""What comes next while there are two StatefulSets. Told by the world and the memory of the ordinal in hand alone."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from slackwater.api.rollout import RolloutStrategy
from slackwater.core.decision.acts import Cause, DeletePod, DeleteWorkload, Purpose, WriteWorkload
from slackwater.core.decision.decision import Decision
from slackwater.core.decision.notes import Note
from slackwater.core.decision.reasons import Hold, Reason, waiting_for
from slackwater.core.handover.arrival import find_arrival_failure, has_no_room
from slackwater.core.handover.foresight import let_go_at, with_start
from slackwater.core.handover.holder import (
    Holder,
    begun,
    ended_when_fenced,
    has_all,
    has_not_come,
    holder,
    is_fenced,
    member_ids,
    runs_as_then,
    taken_over,
)
from slackwater.core.handover.ranges import with_ordinal, without_ordinal
from slackwater.core.manifests.writes import written
from slackwater.core.rollout.canary import canary_hold
from slackwater.core.rollout.candidates import has_retry, known_down
from slackwater.core.rollout.failure import Failure, find_failure
from slackwater.core.rollout.gates import first_refusal
from slackwater.core.world.memory import Handover, RolloutMemory, RolloutPhase, Step
from slackwater.core.world.observation import GroupObservation
from slackwater.core.world.pods import Pod
from slackwater.core.world.two_sets import Beside, Direction, arrives_in
from slackwater.core.world.world import World

LOOK_AGAIN_S: Final = 0.2
"""Until the old pod is let go, both deliver: how soon a takeover is seen is how much is delivered twice."""
_SOON_S: Final = 0.02
_MADE_WITHIN_S: Final = 5.0


Pods = tuple[Pod | None, Pod | None]
"""The pod that holds an ordinal, and the one that arrives."""


def at_once(world: World, beside: Beside, way: Direction) -> Decision | None:
    """What needs no gate: ranges put right, an ordinal in both StatefulSets decided, one in neither made."""
    memory = world.memory
    if (ranges := _ranges_due(world, beside)) is not None:
        return Decision(memory, ranges)
    both = sorted(set(beside.in_use.ordinals) & set(beside.newcomer.ordinals))
    if both:
        return _decide(world, beside, way, both[0] if way.forward else both[-1])
    covered = {*beside.in_use.ordinals, *beside.newcomer.ordinals}
    neither = [ordinal for ordinal in range(world.replicas) if ordinal not in covered]
    if neither:
        ordinal = neither[0] if way.forward else neither[-1]
        return Decision(memory, with_ordinal(beside, way.to.name, ordinal, Purpose.FILL))
    return None


def afterwards(world: World, beside: Beside) -> Decision | None:
    """What the last handover has left behind."""
    memory, handover = world.memory, world.memory.handover
    if beside.leaving:
        return Decision(memory, hold=_waits_for(f"{beside.leaving[0].name}, which was replaced, to end"))
    if handover is not None and not handover.over:
        return Decision(replace(memory, handover=replace(handover, over=True, alone_since=world.now)))
    pod = world.pod(handover.ordinal) if handover is not None else None
    if handover is None or pod is None or pod.terminating:
        return None
    # A pod of the new version that does not come is a failure of that version, on the way there.
    to_blame = not memory.phase.goes_back and pod.workload == beside.newcomer.name
    unseen = not to_blame and has_not_come(world, handover, pod)
    if not unseen and not is_fenced(world, handover, pod):
        return _seen_to_have_been_fenced(world, handover, pod)
    fenced = replace(handover, fenced=handover.fenced + 1)
    step = Step(pod.ordinal, world.now, member_ids(world, pod.ordinal))
    cause = Cause.NOT_COME if unseen else Cause.FENCED
    told = _fought(f"{pod.name} was fenced by the other process of its handover, or may have been, and is started anew")
    return Decision(
        replace(memory, handover=fenced, step=step), DeletePod(pod.name, pod.uid, pod.ordinal, cause), notes=told
    )


def _seen_to_have_been_fenced(world: World, handover: Handover, pod: Pod) -> Decision | None:
    """It ended on it, and its node has started it anew: nothing is left to do but to count it, once."""
    if not ended_when_fenced(world, handover, pod):
        return None
    counted = replace(handover, fenced=handover.fenced + 1, holder_uid="", holder_started_at=None, holder_restarts=0)
    told = _fought(f"{pod.name} was fenced by the other process of its handover, or may have been, and started anew")
    return Decision(replace(world.memory, handover=counted), notes=told)


def onwards(world: World, beside: Beside, way: Direction) -> Decision:
    """The next ordinal, once all gates hold."""
    memory, workload = world.memory, world.workload
    assert workload is not None
    down = known_down(world, workload)
    if hold := first_refusal(world, down):
        return Decision(memory, hold=hold)
    ordinal = way.following
    if ordinal is None:
        why = "its last pod has been replaced" if way.forward else "every pod is back where it was"
        return Decision(_without_way_back(world, way), DeleteWorkload(way.off.name, way.off.uid, why))
    tried_again = (pod for pod in world.pods if pod.workload == way.to.name and has_retry(world, pod))
    if (pod := next(tried_again, None)) is not None:
        step = Step(pod.ordinal, world.now, member_ids(world, pod.ordinal))
        act = DeletePod(pod.name, pod.uid, pod.ordinal, Cause.RETRIED)
        return Decision(replace(memory, step=step), act)
    if way.forward:
        canary = canary_hold(world, workload)
        if canary.hold:
            return canary
        memory = canary.memory
    old = world.pod(ordinal)
    handover = begun(world, ordinal, way.to, old)
    step = Step(ordinal, world.now, handover.before)
    return Decision(
        replace(memory, handover=handover, step=step), with_ordinal(beside, way.to.name, ordinal, Purpose.HAND_OVER)
    )


def _without_way_back(world: World, way: Direction) -> RolloutMemory:
    """With a StatefulSet its revisions go as well: what every pod runs is the last good version from here on."""
    if not way.forward or not world.replicas:
        return world.memory
    return replace(world.memory, last_good_revision=way.to.update_revision, last_good_hash=way.to.template_hash)


def failing(world: World, beside: Beside) -> Failure | None:
    """Of the new version: a replacement that does not take over, or a pod that did and works no more."""
    failure = find_arrival_failure(world, beside) or find_failure(world)
    return None if failure is not None and _was_fenced(world, failure) else failure


def _was_fenced(world: World, failure: Failure) -> bool:
    """A pod that ended last when there was another one with its id is not to blame for it."""
    handover, pod = world.memory.handover, world.pod(failure.ordinal)
    if failure.reason is not Reason.POD_STUCK or handover is None or handover.ordinal != failure.ordinal:
        return False
    alone_since = handover.alone_since if handover.over else None
    return pod is not None and pod.ended_at is not None and (alone_since is None or pod.ended_at <= alone_since)


def _ranges_due(world: World, beside: Beside) -> WriteWorkload | None:
    """The number of pods has changed: the upper StatefulSet grows or shrinks, and the lower one where that is not
    enough."""
    replicas, upper, lower = world.replicas, beside.in_use, beside.newcomer
    upper_end = max(upper.start, replicas)
    if upper.end != upper_end:
        return written(upper, Purpose.SCALE, upper.start, upper_end - upper.start)
    if lower.replicas > replicas:
        return written(lower, Purpose.SCALE, 0, replicas)
    return None


def _decide(world: World, beside: Beside, way: Direction, ordinal: int) -> Decision:
    """An ordinal that both StatefulSets have goes to who holds its ids."""
    memory, handover = world.memory, world.memory.handover
    pods = _pods(world, beside, ordinal)
    if not isinstance(world.kafka, GroupObservation):
        return Decision(memory, hold=Hold(world.kafka.reason, world.kafka.message, 1.0))
    if handover is None or handover.ordinal != ordinal:
        to = arrives_in(memory, beside.sets, [pod for pod in pods if pod is not None])
        return _start_over(world, beside, to, ordinal)
    if handover.undone:  # decided before; who has done what meanwhile cannot be told any more
        return Decision(memory, without_ordinal(beside, handover.to, ordinal, Purpose.TAKE_BACK))
    if handover.after:
        lost = member_ids(world, ordinal).items() - handover.after.items()
        return _start_over_fought(world, beside, handover) if lost else _let_go(beside, memory, handover)
    if handover.holder_down and handover.to == way.to.name:
        return _from_a_dead_one(world, beside, handover, pods)
    return _between(world, beside, way, handover, pods)


def _between(world: World, beside: Beside, way: Direction, handover: Handover, pods: Pods) -> Decision:
    """Two pods, of which the old one held the ids when the handover began."""
    memory, (old, new), ordinal = world.memory, pods, handover.ordinal
    match holder(world, handover, old, new):
        case Holder.OLD:
            return _await(world, beside, way, handover, pods)
        case Holder.NEW if new is not None and has_all(world, handover):
            return _let_go(beside, replace(memory, handover=taken_over(world, handover, new)), handover)
        case Holder.NEW | Holder.DOWN if handover.to != way.to.name:
            return _start_over(world, beside, handover.to, ordinal)
        case Holder.NEW:
            return Decision(memory, hold=_waits_for(f"all members with ordinal {ordinal} to take over"))
        case Holder.STARTING:
            hold = _waits_for(f"the node to tell that the replacement with ordinal {ordinal} has started")
            return Decision(memory, hold=replace(hold, look_s=LOOK_AGAIN_S))
        case Holder.DOWN:
            return Decision(memory, hold=_waits_for(f"a member with ordinal {ordinal} that is known to live"))
        case Holder.CAME_BACK:
            again = begun(world, ordinal, beside.named(handover.to), old)
            return Decision(replace(memory, handover=again))
        case Holder.UNCLEAR:
            return _start_over_fought(world, beside, handover)


def _from_a_dead_one(world: World, beside: Beside, handover: Handover, pods: Pods) -> Decision:
    """There was nothing to lose when it began. Should the old pod have come back, it begins anew."""
    assert world.workload is not None
    old, new = pods
    never_ran = old is None or (handover.holder_started_at is None and runs_as_then(handover, old))
    if never_ran and new is not None and new.started_at is not None and has_all(world, handover):
        return _let_go(beside, replace(world.memory, handover=taken_over(world, handover, new)), handover)
    if old is None or old.ordinal in known_down(world, world.workload):
        return _give_up(world, beside, handover)
    return _start_over(world, beside, handover.to, handover.ordinal)


def _await(
    world: World, beside: Beside, way: Direction, handover: Handover, pods: tuple[Pod | None, Pod | None]
) -> Decision:
    """The old pod still holds its ids: wait for the replacement, let the old one go before it, or turn back."""
    assert world.workload is not None
    memory, (old, new) = world.memory, pods
    if handover.to != way.to.name:
        return _start_over(world, beside, handover.to, handover.ordinal)
    if memory.phase is RolloutPhase.FAILED:
        return Decision(memory, hold=Hold(Reason.RESTART_IN_HAND, "the rollout has stopped", LOOK_AGAIN_S))
    if new is not None and memory.retries(new):
        return _start_over(world, beside, handover.to, handover.ordinal)
    cold = handover.cold or world.group.spec.rollout.strategy is RolloutStrategy.IN_PLACE
    if not cold and has_no_room(world, new):
        no_room, cold = _no_room(world, handover, new)
        if not cold:
            return Decision(memory, hold=no_room)
        memory = replace(memory, handover=replace(handover, cold=True))
    if cold:
        return _give_up(replace(world, memory=memory), beside, handover)
    handover = with_start(world, handover, new)
    memory, due_s = replace(memory, handover=handover), LOOK_AGAIN_S
    if (moment := let_go_at(world, handover, new)) is not None:
        due_s = min(due_s, moment - world.now)
        if due_s <= 0 and first_refusal(world, known_down(world, world.workload)) is None:
            act = without_ordinal(beside, beside.other(handover.to).name, handover.ordinal, Purpose.LET_GO_EARLY)
            return Decision(memory, act)
    who = new.name if new is not None else f"{way.to.name}-{handover.ordinal}, which is to be made,"
    whom = old.name if old is not None else "the pod before it"
    hold = _waits_for(f"{who} to take over from {whom}", max(due_s, _SOON_S))
    runs = new is not None and new.started_at is not None
    return Decision(memory, hold=replace(hold, look_s=LOOK_AGAIN_S) if runs else hold)


def _give_up(world: World, beside: Beside, handover: Handover) -> Decision:
    """The old pod goes before its replacement has taken over, once all gates hold."""
    assert world.workload is not None
    if hold := first_refusal(world, known_down(world, world.workload)):
        return Decision(world.memory, hold=hold)
    name = beside.other(handover.to).name
    return Decision(world.memory, without_ordinal(beside, name, handover.ordinal, Purpose.GIVE_UP))


def _no_room(world: World, handover: Handover, new: Pod | None) -> tuple[Hold, bool]:
    """Why the replacement is not there, and whether it has been waited for long enough."""
    timeout_ms = world.group.spec.rollout.surge_timeout_ms
    waited_s = world.now - handover.started_at
    given_up = timeout_ms is not None and waited_s > timeout_ms / 1000
    if new is None and waited_s <= _MADE_WITHIN_S:
        return _waits_for(f"{handover.to}-{handover.ordinal} to be made"), False
    detail = f": {new.waiting_message}" if new is not None and new.waiting_message else ""
    detail = ", or it may not be made: see the StatefulSet's events" if new is None else detail
    ways = "make room, set rollout.surgeTimeout to go on without, or rollout.strategy to InPlace"
    message = f"there is no room for one pod more{detail}. {ways[0].upper()}{ways[1:]}"
    return Hold(Reason.NO_ROOM, message, 5.0), given_up


def _start_over(world: World, beside: Beside, to: str, ordinal: int) -> Decision:
    """The replacement goes; once it has ended, what is seen of the ordinal is the old pod's.

    What that one held is known only if it has not been started anew since.
    """
    known = world.memory.handover
    old = next((pod for pod in (*world.pods, *beside.arriving) if pod.ordinal == ordinal and pod.workload != to), None)
    begun_for_it = known is not None and (known.ordinal, known.to) == (ordinal, to) and not known.after
    if known is None or not begun_for_it or old is None or not runs_as_then(known, old):
        carried = known or Handover(ordinal, to, world.now)
        known = Handover(ordinal, to, world.now, fenced=carried.fenced, cold=carried.cold)
    memory = replace(world.memory, handover=replace(known, undone=True, over=False))
    return Decision(memory, without_ordinal(beside, to, ordinal, Purpose.TAKE_BACK))


def _start_over_fought(world: World, beside: Beside, handover: Handover) -> Decision:
    over = _start_over(world, beside, handover.to, handover.ordinal)
    assert over.memory.handover is not None
    counted = replace(over.memory.handover, fenced=over.memory.handover.fenced + 1)
    told = _fought(
        f"the processes with ordinal {handover.ordinal} may have fenced each other: its replacement starts anew"
    )
    return replace(over, memory=replace(over.memory, handover=counted), notes=told)


def _let_go(beside: Beside, memory: RolloutMemory, handover: Handover) -> Decision:
    name = beside.other(handover.to).name
    return Decision(memory, without_ordinal(beside, name, handover.ordinal, Purpose.LET_GO))


def _pods(world: World, beside: Beside, ordinal: int) -> Pods:
    """Who holds the ordinal, and who arrives."""
    arriving = next((pod for pod in beside.arriving if pod.ordinal == ordinal), None)
    return world.pod(ordinal), arriving


def _fought(message: str) -> tuple[Note, ...]:
    return (Note(Reason.FENCED_EACH_OTHER, message, warning=True),)


def _waits_for(whom: str, recheck_s: float = LOOK_AGAIN_S) -> Hold:
    return waiting_for(Reason.RESTART_IN_HAND, whom, recheck_s)
