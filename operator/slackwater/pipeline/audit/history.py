"""The facts of one group, told in the order in which they stand in the topic, folded into rows. Pure Python.

What is held is the group as it is at that point, however long its history. What the coordinator does at once (a static
member's old id goes and its new one comes; all records of one protocol go and those of the other come) it appends as
one batch with one time: so a change of membership is judged when the time moves on, and not within it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from slackwater.pipeline.audit.comparison import owned, rebalance_between
from slackwater.pipeline.audit.consumer_group import ConsumerGroup
from slackwater.pipeline.audit.decoding import CONSUMER_PROTOCOL
from slackwater.pipeline.audit.facts import (
    ClassicGroup,
    EpochBumped,
    Fact,
    GroupGone,
    GroupType,
    Member,
    MemberCurrent,
    MemberDescribed,
    MemberGone,
    MemberTarget,
    MemberTargetGone,
    Nothing,
    Partitions,
    Position,
    TargetMade,
    TopicsNamed,
)
from slackwater.pipeline.audit.numbering import Numbering
from slackwater.pipeline.audit.rows import Generation, Rebalance, Row
from slackwater.pipeline.audit.stays import Stays


@dataclass(slots=True)
class GroupStory:
    """Folds one group: `tell` it each record, then `end` it; both give the rows that are complete by then."""

    _group: ConsumerGroup = field(default_factory=ConsumerGroup)
    _numbers: Numbering = field(default_factory=Numbering)
    _stays: Stays = field(default_factory=Stays.none)
    _type: GroupType | None = None
    _last: Generation | None = None
    _before: tuple[Member, ...] = ()
    """The members as they were before whatever leads to the next generation."""
    _known: Partitions = frozenset()
    _open: Rebalance | None = None
    """The last one of KIP-848, as long as its members have not caught up."""
    _now: Position | None = None
    _bumped_at: Position | None = None
    _changed: bool = False
    _gone: bool = False

    def tell(self, position: Position, fact: Fact) -> Iterator[Row]:
        """The next record of the group."""
        if self._now is not None and position.at_ms != self._now.at_ms:
            yield from self._settle(self._now)
        self._now = position
        match fact:
            case ClassicGroup():
                yield from self._classic(position, fact)
            case GroupGone() if self._stays:
                self._gone = True  # or goes over to the other protocol: what follows at once will tell
            case GroupGone():
                yield from self._deleted(position)
            case TopicsNamed(names):
                self._group.learn(names)
            case Nothing():
                pass
            case _:
                yield from self._consumer(position, fact)

    def end(self) -> Iterator[Row]:
        """No more records: what is still open is told as it stands."""
        if self._now is not None:
            yield from self._settle(self._now)
        yield from self._closed_rebalance()
        yield from self._stays.still_there()

    def _classic(self, position: Position, group: ClassicGroup) -> Iterator[Row]:
        self._is_of(GroupType.CLASSIC)
        if group.generation == 0:  # the group was made, and has had no member yet
            yield from self._forget(position)
            self._numbers.forget(known=True)
            return
        if not self._numbers.reach(group.generation, begins=group.generation == 1):
            yield from self._forget(position)
        yield from self._generation(
            Generation(
                position=position,
                generation=group.generation,
                group_type=GroupType.CLASSIC,
                protocol_type=group.protocol_type,
                assignor=group.assignor,
                leader=group.leader,
                members=_in_order({member.member_id: member for member in group.members}),
                unrecorded_before=self._numbers.unrecorded,
            )
        )

    def _consumer(self, position: Position, fact: Fact) -> Iterator[Row]:
        self._is_of(GroupType.CONSUMER)
        group = self._group
        match fact:
            case MemberDescribed(member):
                group.describe(member)
                self._changed = True
            case MemberGone(member_id):
                group.remove(member_id)
                self._changed = True
            case MemberTarget(member_id, partitions):
                group.targets[member_id] = partitions
            case MemberTargetGone(member_id):
                group.targets.pop(member_id, None)
            case EpochBumped(epoch):
                # Groups of Kafka 4.1 and later begin with 2. Two members would be of two epochs, the first one lost.
                if not self._numbers.reach(epoch, begins=epoch <= 2 and len(group.members) == 1):
                    yield from self._forget(position)
                group.epoch, self._bumped_at = epoch, position
            case TargetMade(epoch):
                group.assign(epoch)
                yield from self._generation(self._of_consumers(position, epoch))
            case MemberCurrent() if group.caught_up(fact):
                yield from self._closed_rebalance(position)

    def _settle(self, then: Position) -> Iterator[Row]:
        """The batch is complete: what it made of the group."""
        if self._gone:
            yield from self._deleted(then)
        if self._type is not GroupType.CONSUMER:
            return
        group = self._group
        # In a cleaned topic an epoch may stand before all members: who was never there has not left.
        all_left = bool(self._stays) and not group.members
        if all_left and group.awaits_assignment and group.epoch is not None and self._bumped_at is not None:
            group.assigned_epoch = group.epoch  # with nobody left, there will be none
            yield from self._generation(self._of_consumers(self._bumped_at, group.epoch))
        if self._changed:
            self._changed = False
            members = group.assigned_members()
            yield from self._membership(members, GroupType.CONSUMER, then)
            if not group.awaits_assignment:
                self._before = _in_order(members)

    def _generation(self, now: Generation) -> Iterator[Row]:
        """A generation stands in the topic: once more, or a new one."""
        last, before = self._last, self._before
        members = {member.member_id: member for member in now.members}
        yield from self._membership(members, now.group_type, now.position)
        self._last, self._before = now, now.members
        known, self._known = self._known, self._known | owned(now.members)
        if last is not None and (last.generation, last.group_type) == (now.generation, now.group_type):
            self._last = replace(now, unrecorded_before=last.unrecorded_before)
            return
        yield from self._closed_rebalance()
        self._numbers.told()
        yield now
        is_new = last is None or last.generation != now.generation
        if is_new and now.members and (last is not None or self._numbers.known):
            self._open = rebalance_between(before, last, now, known if self._numbers.known else None)
            if now.group_type is GroupType.CLASSIC:
                yield from self._closed_rebalance()

    def _of_consumers(self, position: Position, epoch: int) -> Generation:
        return Generation(
            position=position,
            generation=epoch,
            group_type=GroupType.CONSUMER,
            protocol_type=CONSUMER_PROTOCOL,
            assignor=self._group.assignor(),
            leader=None,
            members=_in_order(self._group.assigned_members()),
            unrecorded_before=self._numbers.unrecorded,
        )

    def _closed_rebalance(self, caught_up: Position | None = None) -> Iterator[Rebalance]:
        if (rebalance := self._open) is None:
            return
        self._open = None
        if caught_up is not None:
            rebalance = replace(rebalance, duration_ms=max(0, caught_up.at_ms - rebalance.position.at_ms))
        yield rebalance

    def _is_of(self, group_type: GroupType) -> None:
        """A record of this protocol: a tombstone just before it was a going over, not an end."""
        self._gone = False
        if self._type is not group_type and group_type is GroupType.CONSUMER:
            self._group = ConsumerGroup(names=self._group.names)
        self._type = group_type

    def _deleted(self, then: Position) -> Iterator[Row]:
        yield from self._forget(then)
        self._numbers.forget(known=True)
        self._group = ConsumerGroup(names=self._group.names)

    def _forget(self, then: Position) -> Iterator[Row]:
        """What follows is another group of the same name."""
        yield from self._closed_rebalance()
        yield from self._membership({}, GroupType.CLASSIC, then)
        self._last, self._before, self._known = None, (), frozenset()
        self._gone = False

    def _membership(self, members: Mapping[str, Member], group_type: GroupType, at: Position) -> Iterator[Row]:
        seen_coming = self._numbers.known or self._last is not None
        yield from self._stays.now(members, group_type, at.at_ms, seen_coming=seen_coming)


def _in_order(members: Mapping[str, Member]) -> tuple[Member, ...]:
    return tuple(sorted(members.values(), key=lambda member: (member.identity, member.member_id)))
