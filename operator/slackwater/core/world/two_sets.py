"""Two StatefulSets over one range of ordinals: which pod holds each ordinal, who arrives, who leaves.

The younger one grows from ordinal 0; the older one, which is in use, gives its ordinals up from below; going back is
the mirror image. Only the templates say which of them all pods are to be in.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from slackwater.core.world.memory import RolloutMemory
from slackwater.core.world.pods import Pod
from slackwater.core.world.workload import Beside, Workload
from slackwater.core.world.world import World

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
class Direction:
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


def seen_again(world: World) -> World:
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


def direction_of(beside: Beside, template_hash: str) -> Direction:
    """To the StatefulSet with that template; where neither has it, back to the one in use, so that a third can come."""
    forward = beside.newcomer.template_hash == template_hash
    return (
        Direction(beside.in_use, beside.newcomer, forward=True)
        if forward
        else Direction(beside.newcomer, beside.in_use, forward=False)
    )


def to_hand_over(world: World, beside: Beside) -> tuple[Pod, ...]:
    """The pods that have not been replaced yet, in their order; the one in hand is the first."""
    way = direction_of(beside, "" if world.memory.phase.goes_back else world.memory.target_hash)
    left = [pod for pod in world.pods if pod.workload == way.off.name]
    return tuple(left if way.forward else reversed(left))


def _as_one(beside: Beside, memory: RolloutMemory) -> Workload:
    way = direction_of(beside, "" if memory.phase.goes_back else memory.target_hash)
    end = max(beside.in_use.end, beside.newcomer.end)
    settled = beside.in_use.settled and beside.newcomer.settled
    return replace(way.to, start=0, replicas=end, partition=end, generation=1, observed_generation=int(settled))


def _by_ordinal(pods: Iterable[Pod]) -> tuple[Pod, ...]:
    return tuple(sorted(pods, key=lambda pod: pod.ordinal))
