"""What KIP-848 adds to the model: members that speak the new protocol, and groups that change their type.

A classic group becomes a consumer group when the first such member joins, its classic members stay in it as they are,
and it becomes classic again when the last one has gone (F6). Epochs, and the way from the coordinator's target to what
a member owns, are not here: no strategy depends on them.
"""

from __future__ import annotations

from dataclasses import replace

from slackwater.core.world.observation import GroupState, GroupType
from tests.core.coordinator import model
from tests.core.coordinator.model import Answer, Awaits, Error, Group, Member, Step

CONSUMER_HEARTBEAT = "consumer-heartbeat"


def consumer_join(group: Group, member: Member) -> Step:
    """ConsumerGroupHeartbeat with epoch 0, by a member that made up its own id."""
    before = group.holder(member.instance_id)
    if before is not None and not before.classic and not before.released and before.member_id != member.member_id:
        return group, (Answer(member.member_id, CONSUMER_HEARTBEAT, Error.UNRELEASED_INSTANCE_ID),)
    group, interrupted = _as_consumer_group(group)
    return _seat(group, before, member), (*interrupted, Answer(member.member_id, CONSUMER_HEARTBEAT))


def consumer_leave(group: Group, member_id: str, instance_id: str | None, *, for_a_while: bool) -> Step:
    """ConsumerGroupHeartbeat with epoch -2 (`for_a_while`: the instance id is released, nothing moves) or -1."""
    member = group.member(member_id)
    if (error := model.check(group, member_id, instance_id)) or member is None:
        return group, (Answer(member_id, CONSUMER_HEARTBEAT, error or Error.UNKNOWN_MEMBER_ID),)
    left = Answer(member_id, CONSUMER_HEARTBEAT)
    if for_a_while:
        members = tuple(replace(m, released=True) if m is member else m for m in group.members)
        return replace(group, members=members), (left,)
    after, answers = drop(group, member_id)
    return after, (left, *answers)


def classic_join(group: Group, member: Member) -> Step:
    """JoinGroup of a newcomer, whatever the group's type: in a consumer group it is answered at once."""
    if group.type is not GroupType.CONSUMER or not group.members:
        return model.join(replace(group, type=GroupType.CLASSIC), member)
    if not group.accepts(member.protocols):
        return group, (Answer(member.member_id, "join", Error.INCONSISTENT_GROUP_PROTOCOL),)
    if member.instance_id is None and group.member(member.member_id) is None:
        return group, (Answer(member.member_id, "join", Error.MEMBER_ID_REQUIRED),)
    return _let_in(group, member)


def classic_rejoin(group: Group, member: Member) -> Step:
    """JoinGroup of somebody who has a member id already."""
    if group.type is not GroupType.CONSUMER or not group.members:
        return model.rejoin(group, member)
    if not group.accepts(member.protocols):
        return group, (Answer(member.member_id, "join", Error.INCONSISTENT_GROUP_PROTOCOL),)
    if member.instance_id is not None and (error := model.check(group, member.member_id, member.instance_id)):
        return group, (Answer(member.member_id, "join", error),)
    return _let_in(group, member)


def leave(group: Group, member_id: str, instance_id: str | None) -> Step:
    """LeaveGroup, by the member itself or by an administrator, whatever the group's type (F11)."""
    if group.type is not GroupType.CONSUMER:
        return model.leave(group, member_id, instance_id)
    holder = group.holder(instance_id) if not member_id else group.member(member_id)
    error = model.check(group, holder.member_id if holder and not member_id else member_id, instance_id)
    if error or holder is None:
        return group, (Answer(member_id, "leave", error or Error.UNKNOWN_MEMBER_ID),)
    after, answers = drop(group, holder.member_id)
    return after, (Answer(member_id, "leave"), *answers)


def drop(group: Group, member_id: str) -> Step:
    """Take a member out; a group whose last KIP-848 member goes is classic again, and rebalances."""
    gone = group.member(member_id)
    if group.type is not GroupType.CONSUMER or gone is None:
        return model.drop(group, member_id)
    members = tuple(m for m in group.members if m is not gone)
    left = replace(group, members=members, state=GroupState.STABLE if members else GroupState.EMPTY)
    if not members or gone.classic or not all(m.classic for m in members):
        return left, ()
    return model.rebalance(_as_classic_group(left))


def _let_in(group: Group, member: Member) -> Step:
    before = group.member(member.member_id) or group.holder(member.instance_id)
    after = _seat(group, before, member)
    if before is not None and not before.classic and all(m.classic for m in after.members):
        after = _as_classic_group(after)
    return after, (Answer(member.member_id, "join", Error.NONE, group.generation, member.protocols[0]),)


def _seat(group: Group, before: Member | None, member: Member) -> Group:
    if before is None:
        return replace(group, members=(*group.members, member), state=GroupState.STABLE)
    came = replace(member, assignment=before.assignment, released=False)
    return replace(group, members=tuple(came if m.member_id == before.member_id else m for m in group.members))


def _as_consumer_group(group: Group) -> Step:
    if group.type is GroupType.CONSUMER:
        return group, ()
    parked = [m for m in group.members if m.awaits is not Awaits.NOTHING]
    told = tuple(Answer(m.member_id, m.awaits.value, Error.REBALANCE_IN_PROGRESS) for m in parked)
    members = tuple(replace(m, awaits=Awaits.NOTHING) for m in group.members)
    state = GroupState.STABLE if members else GroupState.EMPTY
    return Group(GroupType.CONSUMER, state, group.generation, members=members), told


def _as_classic_group(group: Group) -> Group:
    members = tuple(replace(m, synced=True, released=False) for m in group.members)
    classic = replace(group, type=GroupType.CLASSIC, members=members, state=GroupState.STABLE)
    return replace(classic, protocol=model.select_protocol(classic), leader=members[0].member_id)
