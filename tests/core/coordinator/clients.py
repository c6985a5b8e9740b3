"""What Kafka's clients do with the coordinator's answers, as pure functions: joining, stopping, rebalancing.

Both worlds use it: the one that is explored event by event, and the one that is simulated in time. Who is alive, and
when anything happens, is theirs to say.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from slackwater.core.world.observation import GroupState
from tests.core.coordinator import model, modern
from tests.core.coordinator.fleet import balanced
from tests.core.coordinator.model import Awaits, Error, Group, Member

Lives = Callable[[Member], bool]
"""Whether the member's process runs."""


def ask_to_join(group: Group, member: Member) -> tuple[Group, Error]:
    """A process asks to be let in; a dynamic one comes back at once with the id that it is given."""
    if not member.classic:
        group, answers = modern.consumer_join(group, member)
    else:
        group, answers = modern.classic_join(group, member)
        if answers and answers[0].error is Error.MEMBER_ID_REQUIRED:
            group, answers = modern.classic_rejoin(group, member)
    errors = [answer.error for answer in answers if answer.to == member.member_id]
    return group, next((error for error in errors if error is not Error.NONE), Error.NONE)


def stop(group: Group, member: Member) -> Group:
    """SIGTERM: classic static members stay listed, dynamic ones leave, KIP-848 ones release their id (F10, F12)."""
    if not member.classic:
        ids = (member.member_id, member.instance_id)
        group, _ = modern.consumer_leave(group, *ids, for_a_while=member.instance_id is not None)
    elif member.instance_id is None:
        group, _ = modern.leave(group, member.member_id, None)
    return group


def join_again(group: Group, lives: Lives) -> Group:
    """Every living member has learned of the rebalance by its heartbeat. It goes on while dead ones are waited for."""
    for member in group.members:
        if lives(member) and member.awaits is Awaits.NOTHING and group.state is GroupState.PREPARING_REBALANCE:
            group, _ = model.rejoin(group, member)
    return group


def sync(group: Group, lives: Lives, partitions: int) -> Group:
    """Every living member syncs, the leader last, who says who is given what."""
    if group.state is not GroupState.COMPLETING_REBALANCE or group.leader is None:
        return group
    for member in [m for m in group.members if m.member_id != group.leader and lives(m)]:
        group, _ = model.sync(group, member.member_id, member.instance_id, group.generation)
    leader = group.member(group.leader or "")
    assert leader is not None
    given = balanced(group.members, partitions)
    group, _ = model.sync(group, leader.member_id, leader.instance_id, group.generation, given)
    return group


def reconcile(group: Group, lives: Lives, partitions: int) -> Group:
    """KIP-848: everybody has what the coordinator wants, unless somebody dead would have to give something up."""
    target = balanced(group.members, partitions)
    if any(m.assignment - target[m.member_id] for m in group.members if not lives(m)):
        return group
    return replace(group, members=tuple(replace(m, assignment=target[m.member_id]) for m in group.members))
