"""What is done about an ordinal that both StatefulSets have: `NEXT`, a row for each stage and holder.

An overlap ends in favour of who holds the ids (decision 9). Where that cannot be known, the replacement is removed, and
the handover begins again once it has ended.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final

from slackwater.core.decision.acts import Purpose
from slackwater.core.decision.decision import Decision
from slackwater.core.decision.notes import Note
from slackwater.core.decision.reasons import Hold, Reason
from slackwater.core.handover.holder import Holder
from slackwater.core.handover.overlap import LOOK_AGAIN_S, Overlap, Stage
from slackwater.core.handover.transitions import begun, counted, lost, returned, taken_over, undone
from slackwater.core.handover.waiting import (
    give_up,
    replacement_is_tried_again,
    rollout_has_stopped,
    take_back,
    wait_or_end_the_wait,
)
from slackwater.core.world.observation import Unobserved
from slackwater.core.world.two_sets import Beside, Direction, arrives_in
from slackwater.core.world.world import World


def outcome(world: World, beside: Beside, way: Direction, ordinal: int) -> Decision:
    """Look the row up. An ordinal of which nothing was written down loses the younger of its pods."""
    if isinstance(world.kafka, Unobserved):
        return Decision(world.memory, hold=Hold(world.kafka.reason, world.kafka.message, 1.0))
    handover, old = world.memory.handover, world.pod(ordinal)
    new = next((pod for pod in beside.arriving if pod.ordinal == ordinal), None)
    if handover is None or handover.ordinal != ordinal:
        there = [pod for pod in (old, new) if pod is not None]
        handover = lost(world, ordinal, arrives_in(world.memory, beside.sets, there))
    overlap = Overlap(world, beside, way, handover, old, new).remembering(handover)
    return NEXT[overlap.stage][overlap.holder](overlap)


def wait_for_the_rest(overlap: Overlap) -> Decision:
    return replacement_is_tried_again(overlap) or overlap.waits_for(
        f"all members with ordinal {overlap.handover.ordinal} to take over"
    )


def wait_for_the_node(overlap: Overlap) -> Decision:
    ordinal = overlap.handover.ordinal
    return overlap.waits_for(
        f"the node to tell that the replacement with ordinal {ordinal} has started", look_s=LOOK_AGAIN_S
    )


def wait_for_a_living_one(overlap: Overlap) -> Decision:
    return overlap.waits_for(f"a member with ordinal {overlap.handover.ordinal} that is known to live")


def hand_the_ordinal_over(overlap: Overlap) -> Decision:
    """It has taken over, which is written down before the old pod is let go."""
    return let_the_old_one_go(overlap.remembering(taken_over(overlap.world, overlap.handover, overlap.new)))


def let_the_old_one_go(overlap: Overlap) -> Decision:
    return overlap.removes_old(Purpose.LET_GO)


def give_the_dead_one_up(overlap: Overlap) -> Decision:
    """There is nothing to lose. But where the new version has failed, it may come back with the one that worked."""
    return rollout_has_stopped(overlap) or give_up(overlap)


def begin_again(overlap: Overlap) -> Decision:
    """The old pod holds the ids as another member, which is written down: the next pass judges by that."""
    ordinal, to = overlap.handover.ordinal, overlap.beside.named(overlap.handover.to)
    return Decision(overlap.remembering(begun(overlap.world, ordinal, to, overlap.old)).world.memory)


def take_back_from_the_dead(overlap: Overlap) -> Decision:
    """It was not dead. One that comes and goes does so again: that is counted (`steps.comes_and_goes`)."""
    return take_back(overlap.remembering(returned(overlap.handover)))


def take_back_again(overlap: Overlap) -> Decision:
    """It was decided before."""
    return overlap.removes_new()


def part_them(overlap: Overlap) -> Decision:
    """Two processes may fence each other by turns: one of them goes, and it is counted and said."""
    handover = undone(overlap.world, overlap.handover, overlap.old)
    message = f"the processes with ordinal {handover.ordinal} may have fenced each other: its replacement starts again"
    notes = (Note(Reason.FENCED_EACH_OTHER, message, warning=True),)
    return replace(overlap.remembering(returned(counted(handover))).removes_new(), notes=notes)


Next = Callable[[Overlap], Decision]

NEXT: Final[Mapping[Stage, Mapping[Holder, Next]]] = {
    Stage.BEGUN: {
        Holder.OLD: wait_or_end_the_wait,
        Holder.PARTLY_NEW: wait_for_the_rest,
        Holder.NEW: hand_the_ordinal_over,
        Holder.STARTING: wait_for_the_node,
        Holder.CAME_BACK: begin_again,
        Holder.DOWN: wait_for_a_living_one,
        Holder.UNCLEAR: part_them,
    },
    Stage.TURNED_ROUND: {
        Holder.OLD: take_back,
        Holder.PARTLY_NEW: take_back,
        Holder.NEW: hand_the_ordinal_over,
        Holder.STARTING: wait_for_the_node,
        Holder.CAME_BACK: begin_again,
        Holder.DOWN: take_back,
        Holder.UNCLEAR: part_them,
    },
    Stage.FROM_A_DEAD_ONE: {
        Holder.NOBODY: give_the_dead_one_up,
        Holder.PARTLY_NEW: wait_for_the_rest,
        Holder.NEW: hand_the_ordinal_over,
        Holder.CAME_BACK: take_back_from_the_dead,
    },
    Stage.TAKEN_OVER: {
        Holder.NEW: let_the_old_one_go,
        Holder.UNCLEAR: part_them,
    },
    Stage.UNDONE: {
        Holder.UNCLEAR: take_back_again,
    },
}
