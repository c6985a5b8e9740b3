"""Pods whose StatefulSet was deleted without them: one of its name takes them back, and no other one has their place.

A pod of the other StatefulSet would have the same instance id, and the two would fence each other as long as both live.
"""

from __future__ import annotations

from slackwater.core.decision.acts import Purpose, WriteWorkload
from slackwater.core.decision.reasons import Hold, Reason
from slackwater.core.decision.words import listing
from slackwater.core.manifests.writes import written
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
    upwards = world.workload is None or world.workload.start == 0
    first = names[0 if upwards else -1]
    message = (
        f"a StatefulSet was deleted without its pods {listing(names)}, whose instance ids those of {_made(world)} need."
        f" Delete them, one after the other, as each is made again; first: kubectl delete pod {first}"
    )
    return Hold(Reason.ORPHANED_PODS, message, 30.0)


def up_to_them(world: World) -> WriteWorkload | None:
    """The StatefulSet with the pods that nobody is in the way of any more; None where it has them."""
    workload, left = world.workload, _left(world)
    if workload is None or not left or not workload.settled:
        return None
    start, end = workload.start, workload.end
    if start == 0:
        end = max(end, min(*left, world.replicas))
    else:
        start = min(start, max(left) + 1)
    if (start, end) == (workload.start, workload.end):
        return None
    return written(workload, Purpose.SCALE, start, end - start)


def _left(world: World) -> dict[int, str]:
    """By ordinal, those that no StatefulSet will take back."""
    taken_back = {_made(world), *(each.name for each in world.sets)}
    left = {pod: int(pod.rpartition("-")[2]) for pod in world.orphans if set_of(pod) not in taken_back}
    return {ordinal: pod for pod, ordinal in left.items()}


def _made(world: World) -> str:
    return world.workload.name if world.workload is not None else name_to_make(world.group.name, world.orphans)
