"""Partition-seconds in which nobody read: a fold over what passes see.

Counted are partitions without an owner, and those of a static member whose process does not run or has not joined yet.
A classic group tells no owners while it rebalances: all its partitions count where its assignor is eager, because each
member has given up all; none where it is another one. While Kafka does not answer nothing is counted.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from slackwater.core.members.death import has_ended
from slackwater.core.members.ownership import given_ordinal
from slackwater.core.world.observation import GroupObservation, GroupState, GroupType, Member
from slackwater.core.world.world import World

_EAGER: Final = frozenset(("range", "roundrobin", "sticky"))
_REBALANCING: Final = (GroupState.PREPARING_REBALANCE, GroupState.COMPLETING_REBALANCE)


@dataclass(frozen=True, slots=True)
class IdleTime:
    observed_at: float | None = None
    """The newest look; None while Kafka does not answer."""
    idle: int = 0
    """Partitions that were idle then, and are taken to be so until the next look."""
    assignor: str = ""
    """The last one that the group told."""
    partition_s: float = 0.0
    """The sum so far."""


def follow_idle_time(time: IdleTime, world: World) -> IdleTime:
    """Fold one more pass in."""
    if (kafka := world.seen) is None:
        return replace(time, observed_at=None)
    passed_s = max(0.0, kafka.observed_at - time.observed_at) if time.observed_at is not None else 0.0
    assignor = kafka.assignor or time.assignor
    idle = _idle_partitions(world, kafka, assignor)
    return IdleTime(kafka.observed_at, idle, assignor, time.partition_s + time.idle * passed_s)


def _idle_partitions(world: World, kafka: GroupObservation, assignor: str) -> int:
    if world.replicas == 0:
        return 0  # stopped on purpose
    if kafka.type is not GroupType.CONSUMER and kafka.state in _REBALANCING:
        return len(kafka.partitions) if assignor in _EAGER else 0
    read = {partition for member in kafka.members if _works(world, member) for partition in member.assignment}
    return len(kafka.partitions - read)


def _works(world: World, member: Member) -> bool:
    """As far as is known."""
    if member.has_left:
        return False
    ordinal = given_ordinal(world, member)
    if ordinal is None:
        return True
    pod = world.pod(ordinal)
    return pod is not None and pod.started_at is not None and not has_ended(world, member)
