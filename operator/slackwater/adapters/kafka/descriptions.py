"""What a coordinator's answer says about a group: state, type, members, who owns what. Pure: answers in, values out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from kafka.protocol.consumer.metadata import ConsumerProtocolAssignment

from slackwater.adapters.kafka.errors import Code, Failure, group_failure, unanswered
from slackwater.adapters.kafka.sizes import USUAL, Limits, crowded, named_in, overcrowded, partitions_in
from slackwater.adapters.kafka.subscriptions import subscribed
from slackwater.core.decision.reasons import Reason
from slackwater.core.decision.words import shown
from slackwater.core.world.observation import GroupState, GroupType, Member, TopicPartition


@dataclass(frozen=True, slots=True)
class Description:
    state: GroupState
    type: GroupType
    assignor: str = ""
    epoch: int | None = None
    members: tuple[Member, ...] = ()


@dataclass(frozen=True, slots=True)
class NotOfThisType:
    """The coordinator has no group of this id and of the type that was asked for."""


Answer = Description | NotOfThisType | Failure

NO_SUCH_GROUP: Final = Description(GroupState.DEAD, GroupType.CLASSIC)
"""A group that nobody has joined yet, or that was deleted: a legitimate thing to see."""

_BYTES_OF_A_PARTITION: Final = 4
_CONSUMER_PROTOCOLS: Final = frozenset({"", "consumer"})
_STATES: Final = {state.value: state for state in GroupState}
_TYPES: Final = {"classic": GroupType.CLASSIC, "consumer": GroupType.CONSUMER}


def classic_answers(response: Any, limits: Limits = USUAL) -> dict[str, Answer]:
    """Read a DescribeGroupsResponse by group id. Groups of other types and missing ones look alike in it (F18)."""
    return {group.group_id: _read(_classic, group, limits) for group in response.groups}


def consumer_answers(response: Any, limits: Limits = USUAL) -> dict[str, Answer]:
    """Read a ConsumerGroupDescribeResponse by group id."""
    return {group.group_id: _read(_consumer, group, limits) for group in response.groups}


def _read(read: Callable[[Any, Limits], Answer], group: Any, limits: Limits) -> Answer:
    """What one group's bytes are takes no other group out of sight."""
    try:
        return read(group, limits)
    except Exception as error:  # noqa: BLE001 - bytes that the broker, or anybody in the group, may have made up
        return unanswered(f"a readable description of group {group.group_id} ({error})")


def weight_of(response: Any) -> int:
    """As much as how many partitions there is to be read in either."""
    return sum(_weight(member) for group in response.groups for member in group.members)


def _weight(member: Any) -> int:
    if (assignment := getattr(member, "assignment", None)) is not None:
        return 1 + named_in(assignment) + named_in(member.target_assignment)
    return 1 + (len(member.member_assignment or b"") + len(member.member_metadata or b"")) // _BYTES_OF_A_PARTITION


def listed_answer(group_id: str, listed: Any | None) -> Description | Failure:
    """Judge a group that is neither classic nor KIP-848 to the describing requests, by its row of ListGroups."""
    if listed is None:
        return NO_SUCH_GROUP
    if str(listed.group_type).lower() in {"classic", "consumer", ""}:
        message = f"group {group_id} changed its protocol while it was looked at; this passes by itself"
        return Failure(Reason.OBSERVATION_INCOMPLETE, message)
    return _of_another_type(group_id, f"{shown(str(listed.group_type).lower())} group")


def _of_another_type(group_id: str, what: str) -> Failure:
    """Not an empty group: members that cannot be described are not known to be away."""
    message = (
        f"group {group_id} is a {what}; Slackwater runs classic and KIP-848 consumer groups: give these consumers"
        " another group.id, or the one that is there its own"
    )
    return Failure(Reason.GROUP_OF_ANOTHER_TYPE, message)


def _classic(group: Any, limits: Limits) -> Answer:
    # Up to version 5 a missing group has no error and is Dead, from version 6 on (KIP-1043) there is the error.
    if group.error_code == Code.GROUP_ID_NOT_FOUND or (group.error_code == Code.NONE and group.group_state == "Dead"):
        return NotOfThisType()
    if group.error_code != Code.NONE:
        return group_failure(group.group_id, group.error_code)
    if group.protocol_type not in _CONSUMER_PROTOCOLS:
        return _of_another_type(group.group_id, f"group of the protocol type {shown(group.protocol_type)}")
    if failure := overcrowded(f"group {group.group_id}", len(group.members), limits):
        return failure
    owned = sum(partitions_in(bytes(member.member_assignment or b"")) for member in group.members)
    if failure := crowded(f"group {group.group_id}", owned, limits):
        return failure
    names = _Names()
    members = tuple(_classic_member(member, names) for member in group.members)
    return Description(
        _state(group.group_state), GroupType.CLASSIC, assignor=shown(group.protocol_data or ""), members=members
    )


class _Names(dict[str, str]):
    """Topics' names, each of which is kept once, however many members name it."""

    def __missing__(self, name: str) -> str:
        self[name] = name
        return name


def _classic_member(member: Any, names: _Names) -> Member:
    encoded = bytes(member.member_assignment or b"")  # empty while the group rebalances
    decoded = ConsumerProtocolAssignment.decode(encoded) if encoded else ConsumerProtocolAssignment()
    return Member(
        member_id=member.member_id,
        instance_id=member.group_instance_id,
        client_id=member.client_id,
        host=_host(member.client_host),
        assignment=frozenset(
            TopicPartition(names[owned.topic], number)
            for owned in decoded.assigned_partitions
            for number in owned.partitions
        ),
        assignor_data=bool(decoded.user_data),
        subscribed=subscribed(bytes(member.member_metadata or b"")),
    )


def _consumer(group: Any, limits: Limits) -> Answer:
    # A broker whose group.version is 0 knows the request but none of these groups (F6).
    if group.error_code in (Code.GROUP_ID_NOT_FOUND, Code.UNSUPPORTED_VERSION):
        return NotOfThisType()
    if group.error_code != Code.NONE:
        return group_failure(group.group_id, group.error_code)
    name = f"group {group.group_id}"
    if failure := overcrowded(name, len(group.members), limits):
        return failure
    owned = sum(named_in(member.assignment) for member in group.members)
    wanted = sum(named_in(member.target_assignment) for member in group.members)
    if failure := crowded(name, max(owned, wanted), limits):
        return failure
    names = _Names()
    members = tuple(
        Member(
            member_id=member.member_id,
            instance_id=member.instance_id,
            client_id=member.client_id,
            host=_host(member.client_host),
            assignment=_partitions(member.assignment, names),
            target=_partitions(member.target_assignment, names),
            epoch=member.member_epoch,
            subscribed=None
            if member.subscribed_topic_regex
            else frozenset(map(names.__getitem__, member.subscribed_topic_names)),
        )
        for member in group.members
    )
    return Description(
        _state(group.group_state), GroupType.CONSUMER, shown(group.assignor_name or ""), group.group_epoch, members
    )


def _partitions(assignment: Any, names: _Names) -> frozenset[TopicPartition]:
    return frozenset(
        TopicPartition(names[owned.topic_name], number)
        for owned in assignment.topic_partitions
        for number in owned.partitions
    )


def _state(name: str) -> GroupState:
    """A state that we do not know is not Stable; with KIP-848 it counts as rebalancing (F16)."""
    return _STATES.get(name, GroupState.UNKNOWN)


def _host(client_host: str) -> str:
    """Java prints addresses as `name/address`, the name mostly empty."""
    return client_host.removeprefix("/")
