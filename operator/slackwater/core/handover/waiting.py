"""The old pod still holds its ids: what can end the wait for its replacement, and when it is looked at again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final

from slackwater.api.annotations import ABORT
from slackwater.api.rollout import RolloutStrategy
from slackwater.core.decision.acts import Purpose
from slackwater.core.decision.decision import Decision
from slackwater.core.decision.reasons import Hold, Reason
from slackwater.core.decision.words import by_command
from slackwater.core.handover.arrival import fits_no_node, has_no_room
from slackwater.core.handover.foresight import let_go_at, with_start
from slackwater.core.handover.latecomers import not_taking_over
from slackwater.core.handover.overlap import LOOK_AGAIN_S, Overlap
from slackwater.core.handover.transitions import member_ids, undone
from slackwater.core.members.presence import is_down
from slackwater.core.rollout.failure import is_stuck
from slackwater.core.rollout.gates import Down, first_refusal
from slackwater.core.world.memory import RolloutPhase
from slackwater.core.world.pods import Pod
from slackwater.core.world.world import World

MADE_WITHIN_S: Final = 5.0
"""A StatefulSet that may make a pod has made it by then."""
SHORTEST_WAIT_S: Final = 0.02
NO_ROOM_AGAIN_S: Final = 5.0


def wait_or_end_the_wait(overlap: Overlap) -> Decision:
    """The first thing that ends the wait decides; without any, the replacement is waited for."""
    ended = (decision for end in ENDS if (decision := end(overlap)) is not None)
    return next(ended, None) or wait_for_the_join(overlap)


def take_back(overlap: Overlap) -> Decision:
    """Remove the replacement; once it has ended, whoever has the ids is the old pod."""
    return overlap.remembering(undone(overlap.world, overlap.handover, overlap.old)).removes_new()


def give_up(overlap: Overlap, on_their_way: Down = frozenset()) -> Decision:
    """The old pod goes before its replacement has taken over, once all gates hold.

    `on_their_way`: ordinals of pods that are waited for although they are to be replaced.
    """
    if hold := first_refusal(overlap.world, overlap.down - on_their_way):
        return Decision(overlap.world.memory, hold=hold)
    return overlap.removes_old(Purpose.GIVE_UP)


def rollout_has_stopped(overlap: Overlap) -> Decision | None:
    """A failed rollout gives no pod of the version before up."""
    if overlap.world.memory.phase is not RolloutPhase.FAILED:
        return None
    hold = Hold(Reason.RESTART_IN_HAND, "the rollout has stopped", LOOK_AGAIN_S)
    return Decision(overlap.world.memory, hold=hold)


def replacement_is_tried_again(overlap: Overlap) -> Decision | None:
    """`retry` was given since the replacement was made: another one takes its place."""
    again = overlap.new is not None and overlap.world.memory.retries(overlap.new)
    return take_back(overlap) if again else None


def old_pods_go_first(overlap: Overlap) -> Decision | None:
    """It is to go on in place. Where another pod is down, and this one works, it would be a second away: its
    replacement may take over as it began to, until it is late."""
    world, handover = overlap.world, overlap.handover
    if world.group.spec.rollout.strategy is not RolloutStrategy.IN_PLACE:
        return None
    if hold := _fits_nowhere(overlap):
        return Decision(world.memory, hold=hold)
    second = overlap.down and handover.ordinal not in overlap.down
    late = has_no_room(overlap.new) or not_taking_over(world, handover, overlap.old, overlap.new) is not None
    if second and not late:
        return None
    return give_up(overlap, _coming_up(overlap))


def replacement_has_no_room(overlap: Overlap) -> Decision | None:
    """It is not made, or no node can take it: wait for up to `surgeTimeout` once in a rollout, then go on without."""
    if not has_no_room(overlap.new):
        return None
    handover, timeout_ms = overlap.handover, overlap.world.group.spec.rollout.surge_timeout_ms
    waited_s = overlap.world.now - handover.started_at
    if overlap.new is None and waited_s <= MADE_WITHIN_S:
        return overlap.waits_for(f"{handover.to}-{handover.ordinal} to be made")
    if hold := _fits_nowhere(overlap):
        return Decision(overlap.world.memory, hold=hold)
    if handover.cold or (timeout_ms is not None and waited_s > timeout_ms / 1000):
        return give_up(overlap.remembering(replace(handover, cold=True)), _on_their_way(overlap))
    return Decision(overlap.world.memory, hold=Hold(Reason.NO_ROOM, _no_room_in_words(overlap), NO_ROOM_AGAIN_S))


def neither_works(overlap: Overlap) -> Decision | None:
    """The old pod has gone down since, nobody has its ids, and its replacement is late: there is nothing to lose."""
    world, old = overlap.world, overlap.old
    late = not_taking_over(world, overlap.handover, old, overlap.new)
    if late is None or old is None or member_ids(world, old.ordinal) or not is_down(world, old):
        return None
    given_up = give_up(overlap)
    return given_up if given_up.act is not None else None


ENDS: Final[tuple[Callable[[Overlap], Decision | None], ...]] = (
    rollout_has_stopped,
    replacement_is_tried_again,
    old_pods_go_first,
    replacement_has_no_room,
    neither_works,
)


def wait_for_the_join(overlap: Overlap) -> Decision:
    """Look often once the replacement runs; where its join can be predicted, let the old pod go just before it."""
    handover = with_start(overlap.world, overlap.handover, overlap.new)
    overlap, due_s = overlap.remembering(handover), LOOK_AGAIN_S
    old, new, world = overlap.old, overlap.new, overlap.world
    if (moment := let_go_at(world, handover, new)) is not None:
        due_s = min(due_s, moment - world.now)
        alone_away = not overlap.down - {
            handover.ordinal
        }  # where another pod is down, nobody goes before he is replaced
        if due_s <= 0 and alone_away and first_refusal(world, overlap.down) is None:
            return overlap.removes_old(Purpose.LET_GO_EARLY)
    who, whom = f"{handover.to}-{handover.ordinal}", old.name if old is not None else "the pod before it"
    look_s = LOOK_AGAIN_S if new is not None and new.started_at is not None else None
    return overlap.waits_for(f"{who} to take over from {whom}", max(due_s, SHORTEST_WAIT_S), look_s)


def _on_their_way(overlap: Overlap) -> Down:
    """Ordinals of pods for whose sake one that works does not go for want of room: two would be away.

    They have found no node, and the room of that one would be theirs; or they are just coming up.
    """
    if overlap.new is None or overlap.handover.ordinal in overlap.down:
        return frozenset()
    without = frozenset(pod.ordinal for pod in overlap.world.wanted_pods if has_no_room(pod))
    return without | _coming_up(overlap)


def _coming_up(overlap: Overlap) -> Down:
    """There is `rejoinTimeout` for it in a handover, however often they begin, and the same again for one that came and
    went down since."""
    world, handover = overlap.world, overlap.handover
    if handover.ordinal in overlap.down:
        return frozenset()
    found = (p for p in world.wanted_pods if not has_no_room(p) and _is_coming_up(world, p, handover.started_at))
    return frozenset(pod.ordinal for pod in found)


def _is_coming_up(world: World, pod: Pod, begun_at: float) -> bool:
    down_since = pod.ready_changed_at or 0.0
    came_before = pod.ended_at is not None or (pod.started_at is not None and down_since > pod.started_at)
    since = max(begun_at, down_since if came_before else 0.0)
    in_time = world.now - since <= world.group.spec.rollout.rejoin_timeout_s
    return in_time and not is_stuck(world, pod)


def _fits_nowhere(overlap: Overlap) -> Hold | None:
    """A pod that works would go for one that cannot come."""
    new = overlap.new
    if new is None or not fits_no_node(new):
        return None
    ways_out = f"Apply a template that a node can take, or {by_command(ABORT, overlap.world.group.name)}"
    return Hold(
        Reason.NO_ROOM, f"no node is as pod {new.name} asks: {new.waiting_message}. {ways_out}", NO_ROOM_AGAIN_S
    )


def _no_room_in_words(overlap: Overlap) -> str:
    new = overlap.new
    detail = f": {new.waiting_message}" if new is not None and new.waiting_message else ""
    detail = ", or it may not be made: see the StatefulSet's events" if new is None else detail
    ways_out = (
        "Make room, or apply a template that a node can take; else set rollout.surgeTimeout to go on without, or"
        " rollout.strategy to InPlace"
    )
    return f"there is no room for one pod more{detail}. {ways_out}"
