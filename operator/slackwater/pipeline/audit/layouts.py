"""What stands in the records of `__consumer_offsets`: our own tables after Kafka 4.3's public record schemas.

Only group records of the classic and the consumer protocol are read in full, and of offset commits what tells a topic's
name. Imports nothing but the reader.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Final

from slackwater.pipeline.audit.wire import Field, Kind, Layout


class KeyType(IntEnum):
    """The int16 that every key begins with. Share and streams groups, and what comes later, are only counted."""

    LEGACY_OFFSET_COMMIT = 0
    OFFSET_COMMIT = 1
    CLASSIC_GROUP = 2
    CONSUMER_GROUP_EPOCH = 3
    CONSUMER_GROUP_TOPICS = 4  # until Kafka 4.0; later ones write a hash into the epoch's record (KIP-1101)
    CONSUMER_GROUP_MEMBER = 5
    TARGET_ASSIGNMENT = 6
    MEMBER_TARGET = 7
    MEMBER_CURRENT = 8
    SHARE_GROUP_TOPICS = 9
    SHARE_GROUP_MEMBER = 10
    SHARE_GROUP_EPOCH = 11
    SHARE_GROUP_TARGET = 12
    SHARE_GROUP_MEMBER_TARGET = 13
    SHARE_GROUP_MEMBER_CURRENT = 14
    SHARE_GROUP_STATE = 15
    REGULAR_EXPRESSION = 16
    STREAMS_GROUP_EPOCH = 17
    STREAMS_GROUP_TOPICS = 18
    STREAMS_GROUP_MEMBER = 19
    STREAMS_GROUP_TARGET = 20
    STREAMS_GROUP_MEMBER_TARGET = 21
    STREAMS_GROUP_MEMBER_CURRENT = 22
    STREAMS_GROUP_TOPOLOGY = 23


GROUP_RECORDS: Final = tuple(KeyType(each) for each in range(KeyType.CLASSIC_GROUP, KeyType.MEMBER_CURRENT + 1))
"""Those that the history of a group is made of."""
COMMITS_WITH_TOPIC_ID_SINCE: Final = 4
"""From this version of its value on, an offset commit names its topic (in the key) and the topic's id."""

_GROUP: Final = Field("group", Kind.TEXT)
_MEMBER: Final = Field("member", Kind.TEXT)
_OF_GROUP: Final = (_GROUP,)
_OF_MEMBER: Final = (_GROUP, _MEMBER)
_OF_PARTITION: Final = (_GROUP, Field("topic", Kind.TEXT), Field("partition", Kind.INT32))

KEYS: Final = {
    KeyType.OFFSET_COMMIT: _OF_PARTITION,
    KeyType.CLASSIC_GROUP: _OF_GROUP,
    KeyType.CONSUMER_GROUP_EPOCH: _OF_GROUP,
    KeyType.CONSUMER_GROUP_TOPICS: _OF_GROUP,
    KeyType.CONSUMER_GROUP_MEMBER: _OF_MEMBER,
    KeyType.TARGET_ASSIGNMENT: _OF_GROUP,
    KeyType.MEMBER_TARGET: _OF_MEMBER,
    KeyType.MEMBER_CURRENT: _OF_MEMBER,
}

_BY_NAME: Final = (Field("topic", Kind.TEXT), Field("partitions", Kind.INT32, many=True))
_BY_ID: Final = (Field("topic_id", Kind.UUID), Field("partitions", Kind.INT32, many=True))
_BY_ID_WITH_EPOCHS: Final = (*_BY_ID, Field("epochs", Kind.INT32, many=True, nullable=True, tag=0))

_CLASSIC_MEMBER: Final = (
    Field("member_id", Kind.TEXT),
    Field("instance_id", Kind.TEXT, nullable=True, since=3),
    Field("client_id", Kind.TEXT),
    Field("client_host", Kind.TEXT),
    Field("rebalance_timeout_ms", Kind.INT32, since=1),
    Field("session_timeout_ms", Kind.INT32),
    Field("subscription", Kind.BYTES),
    Field("assignment", Kind.BYTES),
)
_CLASSIC_GROUP: Final = (
    Field("protocol_type", Kind.TEXT),
    Field("generation", Kind.INT32),
    Field("protocol", Kind.TEXT, nullable=True),
    Field("leader", Kind.TEXT, nullable=True),
    Field("state_since_ms", Kind.INT64, since=2),
    Field("members", _CLASSIC_MEMBER, many=True),
)
_SUPPORTED_PROTOCOL: Final = (Field("name", Kind.TEXT), Field("metadata", Kind.BYTES))
_CLASSIC_SIDE: Final = (
    Field("session_timeout_ms", Kind.INT32),
    Field("protocols", _SUPPORTED_PROTOCOL, many=True),
)
_CONSUMER_MEMBER: Final = (
    Field("instance_id", Kind.TEXT, nullable=True),
    Field("rack_id", Kind.TEXT, nullable=True),
    Field("client_id", Kind.TEXT),
    Field("client_host", Kind.TEXT),
    Field("topics", Kind.TEXT, many=True),
    Field("topic_regex", Kind.TEXT, nullable=True),
    Field("rebalance_timeout_ms", Kind.INT32),
    Field("assignor", Kind.TEXT, nullable=True),
    Field("classic", _CLASSIC_SIDE, nullable=True, tag=0),  # a member that speaks the classic protocol to this group
)
_RACKS: Final = (Field("partition", Kind.INT32), Field("racks", Kind.TEXT, many=True))
_TOPIC: Final = (
    Field("topic_id", Kind.UUID),
    Field("topic", Kind.TEXT),
    Field("partitions", Kind.INT32),
    Field("racks", _RACKS, many=True),
)
_CURRENT: Final = (
    Field("epoch", Kind.INT32),
    Field("previous_epoch", Kind.INT32),
    Field("state", Kind.INT8),
    Field("assigned", _BY_ID_WITH_EPOCHS, many=True),
    Field("revoking", _BY_ID_WITH_EPOCHS, many=True),
)
_COMMIT: Final = (
    Field("offset", Kind.INT64),
    Field("leader_epoch", Kind.INT32, since=3),
    Field("metadata", Kind.TEXT),
    Field("committed_at_ms", Kind.INT64),
    Field("expires_at_ms", Kind.INT64, since=1, until=1),
    Field("topic_id", Kind.UUID, since=4, tag=0),
)


def _flexible(name: str, *fields: Field) -> Layout:
    """A record of KIP-848: one version so far, flexible from the first on."""
    return Layout(name, fields, last_version=0, flexible_since=0)


VALUES: Final = {
    KeyType.OFFSET_COMMIT: Layout("an offset commit", _COMMIT, last_version=4, flexible_since=4),
    KeyType.CLASSIC_GROUP: Layout("a classic group", _CLASSIC_GROUP, last_version=4, flexible_since=4),
    KeyType.CONSUMER_GROUP_EPOCH: _flexible(
        "a group epoch", Field("epoch", Kind.INT32), Field("metadata_hash", Kind.INT64, tag=0)
    ),
    KeyType.CONSUMER_GROUP_TOPICS: _flexible("a group's topics", Field("topics", _TOPIC, many=True)),
    KeyType.CONSUMER_GROUP_MEMBER: _flexible("a member", *_CONSUMER_MEMBER),
    KeyType.TARGET_ASSIGNMENT: _flexible(
        "a target assignment", Field("epoch", Kind.INT32), Field("assigned_at_ms", Kind.INT64, tag=0)
    ),
    KeyType.MEMBER_TARGET: _flexible("a member's target", Field("assigned", _BY_ID, many=True)),
    KeyType.MEMBER_CURRENT: _flexible("a member's current assignment", *_CURRENT),
}

_OPEN_ENDED_VERSION: Final = 3
SUBSCRIPTION: Final = Layout(
    "a subscription",
    (
        Field("topics", Kind.TEXT, many=True),
        Field("user_data", Kind.BYTES, nullable=True),
        Field("owned", _BY_NAME, many=True, since=1),
        Field("generation", Kind.INT32, since=2),
        Field("rack_id", Kind.TEXT, nullable=True, since=3),
    ),
    last_version=_OPEN_ENDED_VERSION,
    open_ended=True,
)
"""What a classic member tells the group's leader, inside the group's record."""
ASSIGNMENT: Final = Layout(
    "an assignment",
    (Field("assigned", _BY_NAME, many=True), Field("user_data", Kind.BYTES, nullable=True)),
    last_version=_OPEN_ENDED_VERSION,
    open_ended=True,
)
"""What the leader tells a classic member."""
