"""Who is in the group, by the places that the operator fills: a static member's instance id, a dynamic one's pod."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from slackwater.core.world.observation import GroupObservation, TopicPartition
from slackwater.core.world.world import World

JOIN_KNOWN_WITHIN_S: Final = 15.0
"""Groups in motion are looked at every second. What came about while Kafka was out of sight has no known time."""


@dataclass(frozen=True, slots=True)
class Holding:
    """The members in one place, and what they own."""

    place: str
    ordinal: int
    instance_id: str | None
    member_ids: frozenset[str]
    partitions: frozenset[TopicPartition]
    joined: Mapping[str, float]
    """Member id → the first look that saw it, where the look before, which did not, was shortly before that."""

    def joined_by(self, member_ids: frozenset[str]) -> float | None:
        """When the last of these was first seen; None when that is not known of all of them."""
        known = [self.joined[each] for each in member_ids if each in self.joined]
        return max(known) if known and len(known) == len(member_ids) else None


def holdings(world: World) -> Mapping[str, Holding] | None:
    """By place; None while Kafka is not known. Strangers hold no place."""
    if world.seen is None:
        return None
    found = [*(_static(world, world.seen) if world.has_static else ()), *_dynamic(world)]
    return {holding.place: holding for holding in found}


def _static(world: World, kafka: GroupObservation) -> list[Holding]:
    held = []
    for member in kafka.members:
        ordinal = world.ordinal_of(member.instance_id)
        if member.instance_id is None or ordinal is None:
            continue
        joined = _joined(world, member.instance_id, member.member_id)
        ids = frozenset((member.member_id,))
        held.append(Holding(member.instance_id, ordinal, member.instance_id, ids, member.assignment, joined))
    return held


def _dynamic(world: World) -> list[Holding]:
    held = []
    for pod in world.pods:
        members = world.members_of(pod)
        if not members or world.made_with(pod).is_static:
            continue
        joined: dict[str, float] = {}
        for member in members:
            joined |= _joined(world, member.member_id, member.member_id)
        ids = frozenset(member.member_id for member in members)
        owned = frozenset(partition for member in members for partition in member.assignment)
        held.append(Holding(pod.name, pod.ordinal, None, ids, owned, joined))
    return held


def _joined(world: World, key: str, member_id: str) -> dict[str, float]:
    sighting = world.history.members.get(key)
    if sighting is None or sighting.member_id != member_id or sighting.absent_at is None:
        return {}
    return {member_id: sighting.since} if sighting.came_by - sighting.absent_at <= JOIN_KNOWN_WITHIN_S else {}
