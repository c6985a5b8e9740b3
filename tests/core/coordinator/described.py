"""A modelled group as the operator's observation of it: what a description and the offsets of a real one would say."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from slackwater.core.world.observation import GroupObservation, GroupType, PartitionOffsets, TopicPartition
from slackwater.core.world.observation import Member as SeenMember
from tests.core.coordinator.fleet import balanced, state_seen
from tests.core.coordinator.model import Group, Member
from tests.core.factories import NAME

TOPIC = "orders"
EPOCH, RELEASED_EPOCH = 7, -2


def topic(numbers: frozenset[int] | range) -> frozenset[TopicPartition]:
    return frozenset(TopicPartition(TOPIC, number) for number in numbers)


def observed(
    group: Group,
    now: float,
    host_of: Callable[[Member], str],
    offsets: Mapping[TopicPartition, PartitionOffsets],
    settings: Mapping[str, str] | None = None,
) -> GroupObservation:
    """The group as it stands now; its topic has the partitions that there are offsets of."""
    target = balanced(group.members, len(offsets)) if group.type is GroupType.CONSUMER else {}
    return GroupObservation(
        NAME,
        now,
        state_seen(group, len(offsets)),
        group.type,
        (group.protocol or "") if group.type is GroupType.CLASSIC else "uniform",
        members=tuple(_seen(group, m, host_of(m), target.get(m.member_id)) for m in group.members),
        partitions=frozenset(offsets),
        offsets=offsets,
        settings=settings,
    )


def _seen(group: Group, member: Member, host: str, target: frozenset[int] | None) -> SeenMember:
    epoch = None if group.type is GroupType.CLASSIC else RELEASED_EPOCH if member.released else EPOCH
    assignment, wanted = topic(member.assignment), None if target is None else topic(target)
    return SeenMember(member.member_id, member.instance_id, "consumer", f"/{host}", assignment, wanted, epoch)
