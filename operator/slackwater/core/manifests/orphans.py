"""Pods whose StatefulSet was deleted without them: one of its name takes them back, and no other one has their place.

A pod of the other StatefulSet would have the same instance id, and the two would fence each other as long as both live.
"""

from __future__ import annotations

from slackwater.api.annotations import PAUSE
from slackwater.core.decision.acts import Purpose, WriteWorkload
from slackwater.core.decision.reasons import Hold, Reason
from slackwater.core.decision.words import listing
from slackwater.core.manifests.writes import written
from slackwater.core.world.memory import RolloutPhase
from slackwater.core.world.two_sets import name_to_make, set_of
from slackwater.core.world.world import World


def in_the_way(world: World) -> Hold | None:
    """Orphans of the other StatefulSet than the one that there is, or that is made next: nothing is made beside them.

    To make theirs again would end those above its number of pods, and which of them work nobody knows.
    """
    left = _left(world)
    if not left:
        return None
    names = [left[ordinal] for ordinal in sorted(left)]
    message = (
        f"a StatefulSet was deleted without its pods {listing(names)}, whose instance ids those of {_made(world)} need."
        f" {_way_on(world, names)}"
    )
    return Hold(Reason.ORPHANED_PODS, message, 30.0)


def up_to_them(world: World) -> WriteWorkload | None:
    """The StatefulSet with the pods that nobody is in the way of any more, and none above those that are wanted; None
    where it has just these."""
    workload, left = world.workload, _left(world)
    if workload is None or not left or not workload.settled:
        return None
    start, end = workload.start, workload.end
    if _are_made_again(world):
        start, end = (0, max(end, min(left))) if start == 0 else (min(start, max(left) + 1), end)
    end = max(start, min(end, world.replicas))
    if (start, end) == (workload.start, workload.end):
        return None
    return written(workload, Purpose.SCALE, start, end - start)


def _way_on(world: World, names: list[str]) -> str:
    delete = f"kubectl delete pod -n {world.group.metadata.namespace}"
    if world.workload is None:
        return f"Delete them, and the others are taken back: {delete} {' '.join(names)}"
    if not _are_made_again(world):
        return f"Delete them: {delete} {' '.join(names)}. As long as nothing may move, none of them is made again"
    first = names[0 if world.workload.start == 0 else -1]
    return f"Delete them, one after the other, as each is made again; first: {delete} {first}"


def _are_made_again(world: World) -> bool:
    """A pod that is deleted comes back at once with the version of the StatefulSet that there is."""
    phase, paused = world.memory.phase, PAUSE in world.group.metadata.annotations
    gives_up = phase is RolloutPhase.FAILED or phase.goes_back
    return world.replicas > 0 and not paused and not gives_up


def _left(world: World) -> dict[int, str]:
    """By ordinal, those that no StatefulSet will take back."""
    taken_back = {_made(world), *(each.name for each in world.sets)}
    return {int(pod.rpartition("-")[2]): pod for pod in world.orphans if set_of(pod) not in taken_back}


def _made(world: World) -> str:
    return world.workload.name if world.workload is not None else name_to_make(world.group.name, world.orphans)
