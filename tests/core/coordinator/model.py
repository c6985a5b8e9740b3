"""Kafka's group coordinator as a value: what it answers to each request, and what the group is afterwards.

Every function takes a `Group` and returns the next one with the answers that went out, to the asking member and to
others whose requests were parked. Nothing here knows time: timers are functions of their own, called by who decides
that they fire. `test_recordings.py` holds this model against what a real broker answered.

A classic group is here; what KIP-848 adds stands in `modern.py`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import NamedTuple

from slackwater.core.world.observation import GroupState, GroupType


class Error(StrEnum):
    """Kafka's own names."""

    NONE = "NONE"
    FENCED_INSTANCE_ID = "FENCED_INSTANCE_ID"
    ILLEGAL_GENERATION = "ILLEGAL_GENERATION"
    INCONSISTENT_GROUP_PROTOCOL = "INCONSISTENT_GROUP_PROTOCOL"
    MEMBER_ID_REQUIRED = "MEMBER_ID_REQUIRED"
    REBALANCE_IN_PROGRESS = "REBALANCE_IN_PROGRESS"
    UNKNOWN_MEMBER_ID = "UNKNOWN_MEMBER_ID"
    UNRELEASED_INSTANCE_ID = "UNRELEASED_INSTANCE_ID"


class Awaits(StrEnum):
    """The answer that a member's parked request waits for."""

    NOTHING = ""
    JOIN = "join"
    SYNC = "sync"


class Answer(NamedTuple):
    to: str
    """The member id that the request came from."""
    request: str
    """`join`, `sync`, `heartbeat`, `leave` or `consumer-heartbeat`."""
    error: Error = Error.NONE
    generation: int | None = None
    protocol: str | None = None
    """Of a join that was let in."""


@dataclass(frozen=True, slots=True)
class Member:
    member_id: str
    instance_id: str | None = None
    protocols: tuple[str, ...] = ()
    """What it offers, most wanted first; empty for a member that speaks KIP-848."""
    awaits: Awaits = Awaits.NOTHING
    synced: bool = False
    assignment: frozenset[int] = frozenset()
    released: bool = False
    """KIP-848: left for a while (epoch -2), so that its instance id may be taken over (F12)."""
    reads: frozenset[int] | None = None
    """The partitions of what it subscribes to; None: of all topics."""

    @property
    def classic(self) -> bool:
        return bool(self.protocols)


@dataclass(frozen=True, slots=True)
class Group:
    type: GroupType = GroupType.CLASSIC
    state: GroupState = GroupState.EMPTY
    generation: int = 0
    protocol: str | None = None
    leader: str | None = None
    members: tuple[Member, ...] = ()
    """In the order in which they came."""
    pending: frozenset[str] = frozenset()
    """Ids handed to dynamic members (MEMBER_ID_REQUIRED) that have not come back with them yet."""
    initial: bool = False
    """The rebalance under way began in an empty group: it waits for a while, whoever has joined."""

    def member(self, member_id: str) -> Member | None:
        return next((m for m in self.members if m.member_id == member_id), None)

    def holder(self, instance_id: str | None) -> Member | None:
        """Who holds this instance id."""
        return next((m for m in self.members if instance_id is not None and m.instance_id == instance_id), None)

    @property
    def common_protocols(self) -> frozenset[str]:
        """What every classic member offers."""
        offers = [frozenset(m.protocols) for m in self.members if m.classic]
        return frozenset.intersection(*offers) if offers else frozenset()

    def accepts(self, protocols: tuple[str, ...]) -> bool:
        """Whether somebody who offers this may join; who is replaced by the newcomer is counted as well."""
        nobody = not any(m.classic for m in self.members)
        return bool(protocols) if nobody else not self.common_protocols.isdisjoint(protocols)


Step = tuple[Group, tuple[Answer, ...]]


def select_protocol(group: Group) -> str:
    """By votes: each member for the first of its own that all have. Kafka leaves open how ties end; here by name."""
    votes = Counter(next(p for p in m.protocols if p in group.common_protocols) for m in group.members)
    return max(votes, key=lambda protocol: (votes[protocol], protocol))


def join(group: Group, member: Member) -> Step:
    """A newcomer's JoinGroup, under the id that the coordinator makes up for it."""
    refused = Answer(member.member_id, "join", Error.INCONSISTENT_GROUP_PROTOCOL)
    if not group.accepts(member.protocols):
        return group, (refused,)
    if member.instance_id is None:
        required = Answer(member.member_id, "join", Error.MEMBER_ID_REQUIRED)
        return replace(group, pending=group.pending | {member.member_id}), (required,)
    before = group.holder(member.instance_id)
    if before is None:
        return _add(group, member)
    return _replace_static(group, before, member)


def rejoin(group: Group, member: Member) -> Step:
    """JoinGroup of somebody who has a member id already."""
    if not group.accepts(member.protocols):
        return group, (Answer(member.member_id, "join", Error.INCONSISTENT_GROUP_PROTOCOL),)
    if member.member_id in group.pending:
        return _add(replace(group, pending=group.pending - {member.member_id}), member)
    known = group.member(member.member_id)
    if (error := check(group, member.member_id, member.instance_id)) or known is None:
        return group, (Answer(member.member_id, "join", error or Error.UNKNOWN_MEMBER_ID),)
    same = known.protocols == member.protocols
    completing = group.state is GroupState.COMPLETING_REBALANCE
    if same and (completing or (group.state is GroupState.STABLE and group.leader != member.member_id)):
        return group, (Answer(member.member_id, "join", Error.NONE, group.generation, group.protocol),)
    return rebalance(_put(group, replace(known, protocols=member.protocols, awaits=Awaits.JOIN)))


def sync(
    group: Group,
    member_id: str,
    instance_id: str | None,
    generation: int,
    assignments: Mapping[str, frozenset[int]] | None = None,
) -> Step:
    """SyncGroup; `assignments` by member id are the leader's."""
    member = group.member(member_id)
    if (error := check(group, member_id, instance_id)) or member is None:
        return group, (Answer(member_id, "sync", error or Error.UNKNOWN_MEMBER_ID),)
    if generation != group.generation:
        return group, (Answer(member_id, "sync", Error.ILLEGAL_GENERATION),)
    if group.state is GroupState.PREPARING_REBALANCE:
        return group, (Answer(member_id, "sync", Error.REBALANCE_IN_PROGRESS),)
    if group.state is GroupState.STABLE:
        return _put(group, replace(member, synced=True)), (Answer(member_id, "sync"),)
    group = _put(group, replace(member, synced=True, awaits=Awaits.SYNC))
    if group.leader != member_id:
        return group, ()
    given = assignments or {}
    answers = tuple(Answer(m.member_id, "sync") for m in group.members if m.awaits is Awaits.SYNC)
    members = tuple(
        replace(m, awaits=Awaits.NOTHING, assignment=given.get(m.member_id, frozenset())) for m in group.members
    )
    return replace(group, members=members, state=GroupState.STABLE), answers


def heartbeat(group: Group, member_id: str, instance_id: str | None, generation: int) -> Step:
    error = check(group, member_id, instance_id)
    if error is None and generation != group.generation:
        error = Error.ILLEGAL_GENERATION
    if error is None and group.state is GroupState.PREPARING_REBALANCE:
        error = Error.REBALANCE_IN_PROGRESS
    return group, (Answer(member_id, "heartbeat", error or Error.NONE),)


def leave(group: Group, member_id: str, instance_id: str | None) -> Step:
    """A member's own LeaveGroup, or an administrator's: an empty member id means whoever holds the instance id."""
    holder = group.holder(instance_id) if not member_id else group.member(member_id)
    error = check(group, holder.member_id if holder and not member_id else member_id, instance_id)
    if error or holder is None:
        return group, (Answer(member_id, "leave", error or Error.UNKNOWN_MEMBER_ID),)
    after, answers = drop(group, holder.member_id)
    return after, (Answer(member_id, "leave"), *answers)


def drop(group: Group, member_id: str) -> Step:
    """Take a member out: it left, was removed, or its session has ended."""
    gone = group.member(member_id)
    if gone is None:
        return group, ()
    told = (Answer(member_id, "join", Error.UNKNOWN_MEMBER_ID),) if gone.awaits is Awaits.JOIN else ()
    members = tuple(m for m in group.members if m.member_id != member_id)
    leader = group.leader if group.leader != member_id else next((m.member_id for m in members), None)
    after, answers = rebalance(replace(group, members=members, leader=leader))
    return after, (*told, *answers)


def rebalance(group: Group) -> Step:
    """Begin a rebalance, or go on with the one under way; it completes when all are there."""
    answers: tuple[Answer, ...] = ()
    if group.state is not GroupState.PREPARING_REBALANCE:
        interrupted = [m for m in group.members if m.awaits is Awaits.SYNC]
        answers = tuple(Answer(m.member_id, "sync", Error.REBALANCE_IN_PROGRESS) for m in interrupted)
        members = tuple(replace(m, awaits=Awaits.NOTHING) if m in interrupted else m for m in group.members)
        initial = group.state is GroupState.EMPTY
        group = replace(group, members=members, state=GroupState.PREPARING_REBALANCE, initial=initial)
    all_here = all(m.awaits is Awaits.JOIN for m in group.members) and not group.pending
    if group.initial or not all_here:
        return group, answers
    after, more = complete(group)
    return after, (*answers, *more)


def complete(group: Group) -> Step:
    """End the joining: dynamic members that did not come are out, static ones stay. Also what the timer does."""
    members = tuple(m for m in group.members if m.awaits is Awaits.JOIN or m.instance_id is not None)
    came = [m for m in members if m.awaits is Awaits.JOIN]
    if members and not came:
        return group, ()  # nobody came: it goes on until their sessions end
    if not members:
        empty = Group(generation=group.generation + 1, pending=group.pending)
        return empty, ()
    leader = group.leader if any(m.member_id == group.leader for m in came) else came[0].member_id
    members = tuple(replace(m, awaits=Awaits.NOTHING, synced=False) for m in members)
    state, generation = GroupState.COMPLETING_REBALANCE, group.generation + 1
    after = replace(group, members=members, state=state, generation=generation, leader=leader, initial=False)
    after = replace(after, protocol=select_protocol(after))
    return after, tuple(Answer(m.member_id, "join", Error.NONE, generation, after.protocol) for m in came)


def give_up_on_sync(group: Group) -> Step:
    """The timer for SyncGroup: who has not sent one is out, static or not."""
    late = [m.member_id for m in group.members if not m.synced]
    if group.state not in (GroupState.COMPLETING_REBALANCE, GroupState.STABLE) or not late:
        return group, ()
    members = tuple(m for m in group.members if m.synced)
    leader = group.leader if group.leader not in late else next((m.member_id for m in members), None)
    return rebalance(replace(group, members=members, leader=leader))


def check(group: Group, member_id: str, instance_id: str | None) -> Error | None:
    """What is wrong with these ids."""
    if instance_id is not None:
        holder = group.holder(instance_id)
        if holder is None:
            return Error.UNKNOWN_MEMBER_ID
        if holder.member_id != member_id:
            return Error.FENCED_INSTANCE_ID
    return Error.UNKNOWN_MEMBER_ID if group.member(member_id) is None else None


def _add(group: Group, member: Member) -> Step:
    came = replace(member, awaits=Awaits.JOIN)
    return rebalance(replace(group, members=(*group.members, came), leader=group.leader or member.member_id))


def _replace_static(group: Group, before: Member, member: Member) -> Step:
    """The newcomer takes the place and the assignment over; whoever had the id is fenced.

    In a stable group this costs a rebalance only when another protocol would be selected now.
    """
    fenced: tuple[Answer, ...] = ()
    if before.awaits is not Awaits.NOTHING:
        fenced = (Answer(before.member_id, before.awaits.value, Error.FENCED_INSTANCE_ID),)
    came = replace(member, awaits=Awaits.JOIN, assignment=before.assignment, synced=before.synced)
    members = tuple(came if m is before else m for m in group.members)
    leader = member.member_id if group.leader == before.member_id else group.leader
    group = replace(group, members=members, leader=leader)
    if group.state is GroupState.STABLE and select_protocol(group) == group.protocol:
        let_in = Answer(member.member_id, "join", Error.NONE, group.generation, group.protocol)
        return _put(group, replace(came, awaits=Awaits.NOTHING)), (*fenced, let_in)
    after, answers = rebalance(group)
    return after, (*fenced, *answers)


def _put(group: Group, member: Member) -> Group:
    members = tuple(member if m.member_id == member.member_id else m for m in group.members)
    return replace(group, members=members)
