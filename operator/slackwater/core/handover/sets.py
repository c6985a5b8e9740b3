"""Two StatefulSets over one range of ordinals, seen as one: which pod holds each ordinal, who arrives, who leaves.

The younger one grows from ordinal 0; the older one, which is in use, gives its ordinals up from below; going back is
the mirror image. Which of them all pods are to be in is told by the templates alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from slackwater.core.acts import Purpose, WriteWorkload
from slackwater.core.memory import RolloutMemory
from slackwater.core.world import Beside, Pod, UpdateStrategy, Workload, World

SUFFIX: Final = "-alt"
"""Of the StatefulSet that takes turns with the one that is called as the group is."""


_NEVER: Final = float("inf")


def names_of(group: str) -> tuple[str, str]:
    """What the group's StatefulSets may be called."""
    return group, f"{group}{SUFFIX}"


def other_name(group: str, name: str) -> str:
    first, second = names_of(group)
    return second if name == first else first


@dataclass(frozen=True, slots=True)
class Way:
    """From which StatefulSet to which the pods go, one ordinal after the other."""

    off: Workload
    to: Workload
    forward: bool
    """The younger one grows; else it shrinks."""

    @property
    def following(self) -> int | None:
        """The next ordinal to be handed over; None when all are."""
        if self.off.replicas == 0:
            return None
        return self.off.start if self.forward else self.off.end - 1


def joined(world: World, sets: tuple[Workload, Workload], pods: Iterable[Pod]) -> World:
    """The world with both StatefulSets as one, and one pod for each ordinal."""
    in_use, newcomer = sorted(sets, key=lambda each: (each.created_at, each.name != world.group.name))
    pods = tuple(pods)
    arrives = {
        ordinal: arrives_in(world.memory, (in_use, newcomer), [pod for pod in pods if pod.ordinal == ordinal])
        for ordinal in set(in_use.ordinals) & set(newcomer.ordinals)
    }
    holding, arriving, leaving = [], [], []
    for pod in pods:
        wanted_by = [each.name for each in (in_use, newcomer) if pod.ordinal in each.ordinals]
        if pod.workload not in wanted_by:
            leaving.append(pod)
        elif arrives.get(pod.ordinal) == pod.workload:
            arriving.append(pod)
        else:
            holding.append(pod)
    beside = Beside(in_use, newcomer, _by_ordinal(arriving), _by_ordinal(leaving))
    return replace(world, workload=_as_one(beside, world.memory), pods=_by_ordinal(holding), beside=beside)


def seen_anew(world: World) -> World:
    """The same after the memory has changed: that may turn the way round."""
    beside = world.beside
    if beside is None:
        return world
    return joined(world, beside.sets, (*world.pods, *beside.arriving, *beside.leaving))


def arrives_in(memory: RolloutMemory, sets: tuple[Workload, Workload], pods: Sequence[Pod]) -> str:
    """Of two StatefulSets that both have an ordinal, the one whose pod does not hold it. `pods`: those of the ordinal.

    Where the memory of it was lost: the younger one, or the one that is still to be made.
    """
    in_use, newcomer = sets
    handover = memory.handover
    if handover is None or not pods or handover.ordinal != pods[0].ordinal:
        there = {pod.workload: pod.created_at for pod in pods}
        older = there.get(newcomer.name, _NEVER) < there.get(in_use.name, _NEVER)
        return in_use.name if older else newcomer.name
    has_taken_over = bool(handover.after)
    return newcomer.name if (handover.to == newcomer.name) != has_taken_over else in_use.name


def way_of(beside: Beside, template_hash: str) -> Way:
    """To the StatefulSet with that template; where neither has it, back to the one in use, so that a third can come."""
    forward = beside.newcomer.template_hash == template_hash
    return (
        Way(beside.in_use, beside.newcomer, forward=True)
        if forward
        else Way(beside.newcomer, beside.in_use, forward=False)
    )


def to_hand_over(world: World, beside: Beside) -> tuple[Pod, ...]:
    """The pods that have not been replaced yet, in their order; the one in hand is the first."""
    way = way_of(beside, "" if world.memory.phase.goes_back else world.memory.target_hash)
    left = [pod for pod in world.pods if pod.workload == way.off.name]
    return tuple(left if way.forward else reversed(left))


def with_ordinal(beside: Beside, name: str, ordinal: int, purpose: Purpose) -> WriteWorkload:
    """That StatefulSet with one ordinal more, at its end that meets the other one."""
    if name == beside.newcomer.name:
        return written(beside.newcomer, purpose, 0, ordinal + 1, ordinal)
    end = beside.in_use.end if beside.in_use.replicas else ordinal + 1  # an empty one has no pods above
    return written(beside.in_use, purpose, ordinal, end - ordinal, ordinal)


def without_ordinal(beside: Beside, name: str, ordinal: int, purpose: Purpose) -> WriteWorkload:
    """That StatefulSet with one ordinal less, at its end that meets the other one."""
    if name == beside.newcomer.name:
        return written(beside.newcomer, purpose, 0, ordinal, ordinal)
    above = ordinal + 1
    return written(beside.in_use, purpose, above, beside.in_use.end - above, ordinal)


def written(
    workload: Workload, purpose: Purpose, start: int, replicas: int, ordinal: int | None = None
) -> WriteWorkload:
    """With the template that it has: what changes is how many pods it makes."""
    return WriteWorkload(
        purpose=purpose,
        template=workload.template,
        replicas=replicas,
        strategy=UpdateStrategy.ROLLING_UPDATE,
        partition=replicas,  # counted from `start`
        resource_version=workload.resource_version,
        ordinal=ordinal,
        name=workload.name,
        start=start,
    )


def opened(name: str, template: Mapping[str, Any]) -> WriteWorkload:
    """The second StatefulSet, without a pod yet."""
    return WriteWorkload(
        purpose=Purpose.OPEN_BESIDE,
        template=template,
        replicas=0,
        strategy=UpdateStrategy.ROLLING_UPDATE,
        partition=0,
        resource_version="",
        name=name,
    )


def put_right(workload: Workload, template: Mapping[str, Any]) -> WriteWorkload:
    """With the template that it was made with, after somebody has edited it; no pod moves."""
    return written(replace(workload, template=template), Purpose.TAKE_TEMPLATE, workload.start, workload.replicas)


def _as_one(beside: Beside, memory: RolloutMemory) -> Workload:
    way = way_of(beside, "" if memory.phase.goes_back else memory.target_hash)
    end = max(beside.in_use.end, beside.newcomer.end)
    settled = beside.in_use.settled and beside.newcomer.settled
    return replace(way.to, start=0, replicas=end, partition=end, generation=1, observed_generation=int(settled))


def _by_ordinal(pods: Iterable[Pod]) -> tuple[Pod, ...]:
    return tuple(sorted(pods, key=lambda pod: pod.ordinal))
