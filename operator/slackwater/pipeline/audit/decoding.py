"""From a record's key and value to the fact that it states. Plain Python, no Spark; the only error is Undecodable."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final

from slackwater.pipeline.audit.errors import Reason, Undecodable
from slackwater.pipeline.audit.facts import (
    ClassicGroup,
    EpochBumped,
    Fact,
    GroupGone,
    Member,
    MemberCurrent,
    MemberDescribed,
    MemberGone,
    MemberTarget,
    MemberTargetGone,
    Nothing,
    Partitions,
    TargetMade,
    TopicsNamed,
)
from slackwater.pipeline.audit.layouts import ASSIGNMENT, KEYS, SUBSCRIPTION, VALUES, KeyType
from slackwater.pipeline.audit.wire import Layout, Values, read

CONSUMER_PROTOCOL: Final = "consumer"
"""The protocol type of consumers. Other users of groups (Connect, registries) have bytes of their own in them."""
_UNSET: Final = -1


@dataclass(frozen=True, slots=True)
class Decoded:
    """A fact, and what within its record could not be read."""

    fact: Fact
    refused: tuple[Undecodable, ...] = ()


def decode(key: bytes | None, value: bytes | None) -> Decoded:
    """What a record of a key type that is known here says; `value` None is a tombstone. Raises Undecodable."""
    if key is None:
        raise Undecodable(Reason.NO_KEY, "every record of this topic has a key")
    key_type = key_type_of(key)
    if (fields := KEYS.get(key_type)) is None:
        raise Undecodable(Reason.FUTURE_VERSION, f"key type {int(key_type)} is not read here")
    named = read(Layout("the key", fields, last_version=key_type), key)
    if value is None:
        return Decoded(_tombstone(key_type, named))
    return _READERS[key_type](named, read(VALUES[key_type], value))


def key_type_of(key: bytes) -> KeyType:
    """Raises Undecodable for one that is cut off or not among those of Kafka 4.3."""
    if len(key) < 2:
        raise Undecodable(Reason.TRUNCATED, f"a key of {len(key)} bytes")
    number = int.from_bytes(key[:2], "big", signed=True)
    try:
        return KeyType(number)
    except ValueError as error:
        raise Undecodable(Reason.FUTURE_VERSION, f"key type {number} is not known here") from error


def _tombstone(key_type: KeyType, named: Values) -> Fact:
    match key_type:
        case KeyType.CLASSIC_GROUP | KeyType.CONSUMER_GROUP_EPOCH:
            return GroupGone()
        case KeyType.CONSUMER_GROUP_MEMBER:
            return MemberGone(named["member"])
        case KeyType.MEMBER_TARGET:
            return MemberTargetGone(named["member"])
        case _:
            return Nothing()


def _commit(named: Values, values: Values) -> Decoded:
    topic_id = values["topic_id"]
    return Decoded(TopicsNamed({topic_id: named["topic"]}) if topic_id is not None else Nothing())


def _classic_group(_: Values, values: Values) -> Decoded:
    refused: list[Undecodable] = []
    of_consumers = values["protocol_type"] == CONSUMER_PROTOCOL
    members = tuple(_classic_member(each, of_consumers, refused) for each in values["members"])
    group = ClassicGroup(
        protocol_type=values["protocol_type"],
        generation=values["generation"],
        assignor=values["protocol"],
        leader=values["leader"],
        members=members,
    )
    return Decoded(group, tuple(refused))


def _classic_member(values: Values, of_consumers: bool, refused: list[Undecodable]) -> Member:
    subscription = _inner(SUBSCRIPTION, values["subscription"], refused) if of_consumers else None
    assignment = _inner(ASSIGNMENT, values["assignment"], refused) if of_consumers else None
    return Member(
        member_id=values["member_id"],
        instance_id=values["instance_id"],
        client_id=values["client_id"],
        client_host=values["client_host"],
        session_timeout_ms=values["session_timeout_ms"],
        rebalance_timeout_ms=_unless_unset(values["rebalance_timeout_ms"]),
        subscription=tuple(sorted(subscription["topics"])) if subscription is not None else (),
        partitions=_partitions(assignment["assigned"], "topic") if assignment is not None else None,
    )


def _inner(layout: Layout, content: bytes, refused: list[Undecodable]) -> Values | None:
    """Consumers put these together, not the broker: where one is damaged, the group's record still tells the rest."""
    if not content and layout is ASSIGNMENT:
        return {"assigned": []}  # the broker's own, for a member that the leader forgot
    try:
        return read(layout, content)
    except Undecodable as error:
        refused.append(error)
        return None


def _epoch(_: Values, values: Values) -> Decoded:
    return Decoded(EpochBumped(values["epoch"]))


def _topics(_: Values, values: Values) -> Decoded:
    return Decoded(TopicsNamed({each["topic_id"]: each["topic"] for each in values["topics"]}))


def _consumer_member(named: Values, values: Values) -> Decoded:
    classic, pattern = values["classic"], values["topic_regex"]
    member = Member(
        member_id=named["member"],
        instance_id=values["instance_id"],
        client_id=values["client_id"],
        client_host=values["client_host"],
        session_timeout_ms=classic["session_timeout_ms"] if classic is not None else None,
        rebalance_timeout_ms=_unless_unset(values["rebalance_timeout_ms"]),
        subscription=(*sorted(values["topics"]), *((f"regex:{pattern}",) if pattern else ())),
        partitions=None,
        assignor=values["assignor"] or None,
    )
    return Decoded(MemberDescribed(member))


def _target(_: Values, values: Values) -> Decoded:
    return Decoded(TargetMade(values["epoch"]))


def _member_target(named: Values, values: Values) -> Decoded:
    return Decoded(MemberTarget(named["member"], _partitions(values["assigned"], "topic_id")))


def _member_current(named: Values, values: Values) -> Decoded:
    owned = _partitions(values["assigned"], "topic_id")
    return Decoded(MemberCurrent(named["member"], values["epoch"], owned))


def _partitions(topics: Iterable[Values], topic: str) -> Partitions:
    return frozenset((each[topic], number) for each in topics for number in each["partitions"])


def _unless_unset(value: int | None) -> int | None:
    return None if value is None or value == _UNSET else value


_READERS: Final[dict[KeyType, Callable[[Values, Values], Decoded]]] = {
    KeyType.OFFSET_COMMIT: _commit,
    KeyType.CLASSIC_GROUP: _classic_group,
    KeyType.CONSUMER_GROUP_EPOCH: _epoch,
    KeyType.CONSUMER_GROUP_TOPICS: _topics,
    KeyType.CONSUMER_GROUP_MEMBER: _consumer_member,
    KeyType.TARGET_ASSIGNMENT: _target,
    KeyType.MEMBER_TARGET: _member_target,
    KeyType.MEMBER_CURRENT: _member_current,
}
