"""Two StatefulSets over one range of ordinals: which pod holds each ordinal, who arrives, who leaves.

The younger one grows from ordinal 0; the older one, which is in use, gives its ordinals up from below; going back is
the mirror image. Only the templates say which of them all pods are to be in.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from slackwater.core.world.handover import TakenOver
from slackwater.core.world.memory import RolloutMemory
from slackwater.core.world.pods import Pod
from slackwater.core.world.workload import Workload

SUFFIX: Final = "-alt"
"""The end of the name of the StatefulSet that takes turns with the one that is called as the group is."""

_NEVER: Final = float("inf")


def names_of(group: str) -> tuple[str, str]:
    """What the group's StatefulSets may be called."""
    return group, f"{group}{SUFFIX}"


def other_name(group: str, name: str) -> str:
    first, second = names_of(group)
    return second if name == first else first


def set_of(pod: str) -> str:
    """The StatefulSet that a pod of this name belongs to."""
    return pod.rpartition("-")[0]


def name_to_make(group: str, orphans: Iterable[str]) -> str:
    """Of the StatefulSet that there is to be where there is none: the one to which most of the orphaned pods belong."""
    belong = Counter(map(set_of, orphans))
    return max(names_of(group), key=lambda name: belong[name])


@dataclass(frozen=True, slots=True)
class Beside:
    """Both StatefulSets and their pods, while a warm rollout is under way: `in_use` is the older one."""

    in_use: Workload
    newcomer: Workload
    holding: tuple[Pod, ...] = ()
    """At most one for each ordinal."""
    arriving: tuple[Pod, ...] = ()
    """Pods beside the one that holds their ordinal, to take its place."""
    leaving: tuple[Pod, ...] = ()
    """Pods whose ordinal their own StatefulSet has given up, and that have not ended yet."""

    @property
    def sets(self) -> tuple[Workload, Workload]:
        return self.in_use, self.newcomer

    def other(self, name: str) -> Workload:
        return self.newcomer if name == self.in_use.name else self.in_use

    def named(self, name: str) -> Workload:
        return self.in_use if name == self.in_use.name else self.newcomer


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


def arranged(sets: Sequence[Workload], pods: Iterable[Pod], memory: RolloutMemory, group: str) -> Beside | None:
    """Who holds each ordinal, who arrives, who leaves; None unless there are two StatefulSets. `group`: its name."""
    if len(sets) != 2:
        return None
    in_use, newcomer = sorted(sets, key=lambda each: (each.created_at, each.name != group))
    by_ordinal: defaultdict[int, list[Pod]] = defaultdict(list)
    for pod in pods:
        by_ordinal[pod.ordinal].append(pod)
    holding, arriving, leaving = [], [], []
    for ordinal, there in sorted(by_ordinal.items()):
        wanted_by = [each.name for each in (in_use, newcomer) if ordinal in each.ordinals]
        arrives = arrives_in(memory, (in_use, newcomer), there) if len(wanted_by) == 2 else ""
        for pod in there:
            if pod.workload not in wanted_by:
                leaving.append(pod)
            elif pod.workload == arrives:
                arriving.append(pod)
            else:
                holding.append(pod)
    return Beside(in_use, newcomer, tuple(holding), tuple(arriving), tuple(leaving))


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
    has_taken_over = isinstance(handover.reached, TakenOver)
    return newcomer.name if (handover.to == newcomer.name) != has_taken_over else in_use.name


def is_handed_over(beside: Beside) -> bool:
    """One of the two StatefulSets has given all its ordinals up, and its pods have ended."""
    return 0 in (beside.in_use.replicas, beside.newcomer.replicas) and not beside.arriving and not beside.leaving


def direction_of(beside: Beside, template_hash: str, memory: RolloutMemory) -> Direction:
    """To the StatefulSet with that template; where neither has it, back to the one in use, so that a third can come.

    Not back where it was decided to go on (`RolloutMemory.onwards_hash`), nor to a version that was never whole where
    all pods have the younger one by now.
    """
    back, forth = beside.in_use, beside.newcomer
    forward = forth.template_hash == template_hash
    if is_overtaken(beside, template_hash) and not memory.phase.goes_back:
        is_empty = back.replicas == 0 and never_was_whole(beside, template_hash, memory)
        forward = is_empty or memory.onwards_hash == template_hash != ""
    return Direction(back, forth, forward=True) if forward else Direction(forth, back, forward=False)


def never_was_whole(beside: Beside, template_hash: str, memory: RolloutMemory) -> bool:
    """A third template is wanted, and the older StatefulSet has no good version to go back to."""
    back = beside.in_use
    owner, _, _ = memory.last_good_revision.rpartition("-")  # revisions are named after their StatefulSet
    is_good = back.template_hash == memory.last_good_hash or owner == back.name
    return is_overtaken(beside, template_hash) and not is_good and not memory.phase.goes_back


def is_overtaken(beside: Beside, template_hash: str) -> bool:
    """A third template is wanted, which neither has."""
    return template_hash not in (beside.in_use.template_hash, beside.newcomer.template_hash)
