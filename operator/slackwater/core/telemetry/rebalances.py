"""What moved partitions, or stopped a group for a while: `rebalance` events, told when the group is calm again.

Of a KIP-848 group the epoch says that there was one. Of a classic group, whose generation no admin request tells
(F17), it is seen under way, or by other members or other owners than before; a static member that came back to its
partitions is no rebalance (F41). What several looks did not see is not told.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Final

from slackwater.api.telemetry.bodies import Rebalance
from slackwater.api.telemetry.events import RebalanceEvent
from slackwater.api.telemetry.words import EventType, RebalanceCause, RestartReason
from slackwater.core.members.ownership import find_strangers
from slackwater.core.telemetry.sight import Sight
from slackwater.core.world.observation import GroupObservation, GroupState, GroupType, Member, TopicPartition

_NOBODY: Final = (GroupState.EMPTY, GroupState.DEAD)
_CRASHES: Final = frozenset((RestartReason.CRASH, RestartReason.OUT_OF_MEMORY, RestartReason.NODE_LOST))


@dataclass(frozen=True, slots=True)
class Standing:
    """Somebody in a calm group; by instance id, for a static member."""

    member_id: str
    instance_id: str | None
    partitions: frozenset[TopicPartition]
    strange: bool


@dataclass(frozen=True, slots=True)
class Calm:
    """A group that is at rest."""

    members: Mapping[str, Standing]
    type: GroupType
    assignor: str
    epoch: int | None
    replicas: int

    def owners(self) -> dict[TopicPartition, str]:
        return {partition: key for key, standing in self.members.items() for partition in standing.partitions}


@dataclass(frozen=True, slots=True)
class Rebalances:
    observed_at: float = 0.0
    calm: Calm | None = None
    """How it was when it was last at rest; None: it never was while we watched."""
    began_at: float | None = None
    reasons: frozenset[RestartReason] = frozenset()
    """Of restarts since then."""
    upgrading: bool = False
    """It was being taken to another protocol at some time since then."""


def follow_rebalances(
    track: Rebalances, sight: Sight, reasons: Iterable[RestartReason]
) -> tuple[Rebalances, tuple[RebalanceEvent, ...]]:
    """Fold one more sight in. `reasons`: of the restarts that it told of, and of those that are not over."""
    kafka = sight.world.kafka
    upgrading = track.upgrading or sight.decided.memory.upgrade is not None
    track = replace(track, reasons=track.reasons | frozenset(reasons), upgrading=upgrading)
    if not isinstance(kafka, GroupObservation) or kafka.observed_at <= track.observed_at:
        return track, ()
    track = replace(track, observed_at=kafka.observed_at)
    if not kafka.calm and kafka.state not in _NOBODY:
        return (track if track.began_at is not None else replace(track, began_at=kafka.observed_at)), ()
    now = _calm(sight, kafka)
    events = () if track.calm is None else _told(sight, track, track.calm, now)
    return Rebalances(kafka.observed_at, now), events


def _calm(sight: Sight, kafka: GroupObservation) -> Calm:
    strange = frozenset(find_strangers(sight.world, kafka))  # there may be thousands
    members = {_key(m): Standing(m.member_id, m.instance_id, m.assignment, m in strange) for m in kafka.members}
    return Calm(members, kafka.type, kafka.assignor, kafka.epoch, sight.world.replicas)


def _key(member: Member) -> str:
    return member.instance_id or member.member_id


def _told(sight: Sight, track: Rebalances, before: Calm, after: Calm) -> tuple[RebalanceEvent, ...]:
    was, owner = before.owners(), after.owners()
    moved = {partition for partition in {*was, *owner} if was.get(partition) != owner.get(partition)}
    if not _was_one(track, before, after, moved):
        return ()
    body = Rebalance(
        started_at=track.began_at,
        ended_at=track.observed_at,
        generation_before=before.epoch,
        generation_after=after.epoch,
        members_before=len(before.members),
        members_after=len(after.members),
        partitions_moved=len(moved),
        cause=_cause(track, before, after),
        instance_ids=tuple(sorted(s.instance_id for s in _changed(before, after) if s.instance_id is not None)),
    )
    fact = ("epoch", after.epoch) if after.epoch is not None else ("at", track.observed_at)
    event = RebalanceEvent(**sight.envelope("rebalance", *fact), type=EventType.REBALANCE, rebalance=body)
    return (event,)


def _was_one(track: Rebalances, before: Calm, after: Calm, moved: set[TopicPartition]) -> bool:
    if before.epoch is not None and after.epoch is not None:
        return before.epoch != after.epoch
    others = bool(moved) or set(before.members) != set(after.members)
    transitional = GroupType.CONSUMER in (before.type, after.type)  # a member that is away makes such a group uneasy
    return others or (track.began_at is not None and not transitional)


def _cause(track: Rebalances, before: Calm, after: Calm) -> RebalanceCause:
    changed = _changed(before, after)
    other_protocol = (before.type, before.assignor) != (after.type, after.assignor)
    if track.upgrading or (before.members and after.members and other_protocol):
        return RebalanceCause.UPGRADE
    if any(standing.strange for standing in changed):
        return RebalanceCause.FOREIGN
    newcomers = set(after.members) - set(before.members)
    if RestartReason.SCALED_AWAY in track.reasons or before.replicas != after.replicas:
        return RebalanceCause.SCALE
    if track.reasons & _CRASHES:
        return RebalanceCause.CRASH
    if track.reasons:
        return RebalanceCause.RESTART
    return RebalanceCause.SCALE if newcomers and set(before.members) < set(after.members) else RebalanceCause.UNKNOWN


def _changed(before: Calm, after: Calm) -> list[Standing]:
    """Who came, went, or came back as another member."""
    keys = {*before.members, *after.members}
    pairs = [(before.members.get(key), after.members.get(key)) for key in sorted(keys)]
    return [
        standing
        for was, now in pairs
        if was is None or now is None or was.member_id != now.member_id
        for standing in (now or was,)
        if standing is not None
    ]
