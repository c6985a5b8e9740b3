"""A pod that was restarted a minute ago and is back in the group: what was seen of its partitions, look by look."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from slackwater.core.world.observation import GroupObservation, PartitionOffsets
from slackwater.core.world.world import World
from tests.core.factories import NEW, NOW, folded, fresh_pod, member, members, observation, owned_by, pod, world

BEFORE_IT = observation(members(0, 2), at=NOW - 70)
STARTED = fresh_pod(1, age_s=60)


def returned(*looks: GroupObservation, **changes: Any) -> World:
    """Pod 1 was restarted a minute ago, and is back; pod 0 before it."""
    usual: dict[str, Any] = {"kafka": looks[-1], "history": folded(*looks), "pods": (pod(0, NEW), STARTED, pod(2))}
    return world(**(usual | changes))


def look(ago_s: float, committed: int | None = 100, end: int = 100, **changes: Any) -> GroupObservation:
    """Pod 1's partitions, so many seconds ago; the others' do not move."""
    usual = observation((member(0), member(1, "b"), member(2)), at=NOW - ago_s)
    mine = dict.fromkeys(owned_by(1), PartitionOffsets(committed, end))
    return replace(usual, **({"offsets": {**usual.offsets, **mine}} | changes))


def one_stands(ago_s: float, moving: int, standing: int, end: int) -> GroupObservation:
    """What was committed in the first of pod 1's partitions, and in the other one."""
    seen = look(ago_s)
    first, other = sorted(owned_by(1))
    mine = {first: PartitionOffsets(moving, end), other: PartitionOffsets(standing, end)}
    return replace(seen, offsets={**seen.offsets, **mine})


def never_commits(ago_s: float, end: int) -> GroupObservation:
    seen = look(ago_s)
    return replace(seen, offsets=dict.fromkeys(seen.partitions, PartitionOffsets(None, end)))
