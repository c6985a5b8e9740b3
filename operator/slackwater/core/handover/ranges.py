"""Which ordinals each of the two StatefulSets has, and the writes that change that.

The younger one grows from ordinal 0; the older one, which is in use, gives its ordinals up from below; going back is
the mirror image.
"""

from __future__ import annotations

from dataclasses import replace

from slackwater.core.decision.acts import Purpose, WriteWorkload
from slackwater.core.manifests.writes import keeps_the_good_one, written
from slackwater.core.world.two_sets import Beside
from slackwater.core.world.world import World


def in_both(beside: Beside) -> tuple[int, ...]:
    """Ordinals that both have, the lowest first."""
    return tuple(sorted(set(beside.in_use.ordinals) & set(beside.newcomer.ordinals)))


def in_neither(beside: Beside, replicas: int) -> tuple[int, ...]:
    """Ordinals below `replicas` that neither has, the lowest first."""
    covered = {*beside.in_use.ordinals, *beside.newcomer.ordinals}
    return tuple(ordinal for ordinal in range(replicas) if ordinal not in covered)


def scaled(world: World, beside: Beside) -> WriteWorkload | None:
    """The number of pods has changed: the upper one grows or shrinks, and then the lower one if that is not enough."""
    upper, lower, replicas = beside.in_use, beside.newcomer, world.replicas
    upper_end = max(upper.start, replicas)
    if upper.end != upper_end:
        act = written(upper, Purpose.SCALE, upper.start, upper_end - upper.start)
        keeps_it = upper.start == 0 and keeps_the_good_one(world, upper)
        return replace(act, partition=min(upper.partition, act.partition)) if keeps_it else act
    if lower.replicas > replicas:
        return written(lower, Purpose.SCALE, 0, replicas)
    return None


def with_ordinal(beside: Beside, name: str, ordinal: int, purpose: Purpose) -> WriteWorkload:
    """That StatefulSet with one more ordinal, at its end that meets the other one."""
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
