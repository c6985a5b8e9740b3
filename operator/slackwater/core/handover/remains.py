"""What a handover has left behind: a pod that ends, a state to write down, a process that was fenced.

The chain `REMAINS` is asked in order once no ordinal is in both StatefulSets any more.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final

from slackwater.api.annotations import PAUSE
from slackwater.core.decision.acts import Cause, DeletePod
from slackwater.core.decision.decision import Decision
from slackwater.core.decision.notes import Note
from slackwater.core.decision.reasons import Reason, waiting_for
from slackwater.core.handover.fencing import ended_when_fenced, is_fenced
from slackwater.core.handover.latecomers import TRIES, is_to_start_again
from slackwater.core.handover.overlap import LOOK_AGAIN_S
from slackwater.core.handover.transitions import counted, member_ids, over, started_again, without_its_run
from slackwater.core.world.handover import Handover
from slackwater.core.world.pods import Pod
from slackwater.core.world.step import Step
from slackwater.core.world.two_sets import Beside
from slackwater.core.world.world import World


def afterwards(world: World, beside: Beside) -> Decision | None:
    """The first that is left to be done; None when nothing is."""
    left = (decision for remain in REMAINS if (decision := remain(world, beside)) is not None)
    return next(left, None)


def replaced_pod_ends(world: World, beside: Beside) -> Decision | None:
    """Until it has ended, two processes may have the id."""
    if not beside.leaving:
        return None
    whom = f"{beside.leaving[0].name}, which was replaced, to end"
    return Decision(world.memory, hold=waiting_for(Reason.RESTART_IN_HAND, whom, LOOK_AGAIN_S))


def handover_is_over(world: World, beside: Beside) -> Decision | None:
    """Written down with the moment: what was seen of the id before may have been the other pod's doing."""
    handover = world.memory.handover
    if handover is None or handover.over:
        return None
    return Decision(replace(world.memory, handover=over(world, handover)))


def note_what_is_over(world: World) -> Decision:
    """Of a handover one of whose StatefulSets is gone, without its pods perhaps: it is over with the last of these."""
    handover = world.memory.handover
    goes_on = handover is not None and not handover.over and world.beside is None and bool(world.sets)
    if handover is None or not goes_on or handover.ordinal in world.loose:
        return Decision(world.memory)
    return Decision(replace(world.memory, handover=over(world, handover)))


def fenced_pod_restarts(world: World, beside: Beside) -> Decision | None:
    """Its process is dead to the group. By its uid, so that no other pod is ever meant."""
    left = _left_alone(world)
    if left is None or not is_fenced(world, *left):
        return None
    handover, pod = left
    message = f"{pod.name} was fenced by the other process of its handover, or may have been, and is started again"
    return _restarts(world, counted(handover), pod, Cause.FENCED, _fought(message))


def missing_pod_restarts(world: World, beside: Beside) -> Decision | None:
    """It may have been fenced and nobody saw it. It may as well be slow, or its node bad: so that ends after a few."""
    left = _left_alone(world)
    if left is None or not is_to_start_again(world, *left):
        return None
    handover, pod = left
    # A pod of the new version that does not come is a failure of that version, on the way there.
    if not world.memory.phase.goes_back and pod.workload == beside.newcomer.name:
        return None
    tried = started_again(handover)
    message = f"{pod.name} has not joined the group, and is started again: {tried.not_come} of {TRIES} times at most"
    notes = (Note(Reason.POD_NOT_JOINING, message, warning=True),)
    return _restarts(world, tried, pod, Cause.NOT_COME, notes)


def fenced_process_is_counted(world: World, beside: Beside) -> Decision | None:
    """It ended when it was fenced, and its node has started it again: it is counted and said, once."""
    handover = world.memory.handover
    pod = world.pod(handover.ordinal) if handover is not None else None
    if handover is None or pod is None or pod.terminating or not ended_when_fenced(world, handover, pod):
        return None
    memory = replace(world.memory, handover=without_its_run(counted(handover)))
    message = f"{pod.name} was fenced by the other process of its handover, or may have been, and started again"
    return Decision(memory, notes=_fought(message))


REMAINS: Final[tuple[Callable[[World, Beside], Decision | None], ...]] = (
    replaced_pod_ends,
    handover_is_over,
    fenced_pod_restarts,
    missing_pod_restarts,
    fenced_process_is_counted,
)


def _left_alone(world: World) -> tuple[Handover, Pod] | None:
    """The handover, which is over, and the pod that has its ordinal; None where nobody may restart that."""
    handover = world.memory.handover
    pod = world.pod(handover.ordinal) if handover is not None else None
    if handover is None or pod is None or pod.terminating or PAUSE in world.group.metadata.annotations:
        return None
    return handover, pod


def _restarts(world: World, handover: Handover, pod: Pod, cause: Cause, notes: tuple[Note, ...]) -> Decision:
    step = Step(pod.ordinal, world.now, member_ids(world, pod.ordinal), uid_before=pod.uid)
    memory = replace(world.memory, handover=handover, step=step)
    return Decision(memory, DeletePod(pod.name, pod.uid, pod.ordinal, cause), notes=notes)


def _fought(message: str) -> tuple[Note, ...]:
    return (Note(Reason.FENCED_EACH_OTHER, message, warning=True),)
