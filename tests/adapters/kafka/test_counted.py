"""What an answer says that it has is counted before anything of it is made."""

from __future__ import annotations

import struct
from dataclasses import replace
from io import BytesIO
from typing import Any, Final
from uuid import UUID

import pytest
from kafka.protocol.admin import (
    DescribeConfigsResponse,
    DescribeGroupsResponse,
    ListGroupsResponse,
)
from kafka.protocol.consumer import ListOffsetsResponse, OffsetFetchResponse
from kafka.protocol.metadata import ApiVersionsResponse, FindCoordinatorResponse, MetadataResponse

from slackwater.adapters.kafka.consumer_group_describe import ConsumerGroupDescribeResponse
from slackwater.adapters.kafka.counted import MOST_TAGS, TooMuch, counted, varint_at
from slackwater.adapters.kafka.library import set_up
from slackwater.adapters.kafka.sizes import USUAL, Limits

set_up()
SMALL: Final = Limits(partitions=10, members=3, brokers=2)
OURS: Final = (
    ApiVersionsResponse,
    ConsumerGroupDescribeResponse,
    DescribeConfigsResponse,
    DescribeGroupsResponse,
    FindCoordinatorResponse,
    ListGroupsResponse,
    ListOffsetsResponse,
    MetadataResponse,
    OffsetFetchResponse,
)
TOPIC: Final = MetadataResponse.MetadataResponseTopic
PARTITION: Final = TOPIC.MetadataResponsePartition
BROKER: Final = MetadataResponse.MetadataResponseBroker
GROUP: Final = DescribeGroupsResponse.DescribedGroup


def metadata(brokers: int = 0, topics: int = 1, partitions: int = 1, replicas: int = 1, version: int = 4) -> bytes:
    rows = [
        PARTITION(partition_index=n, leader_id=1, replica_nodes=[1] * replicas, isr_nodes=[]) for n in range(partitions)
    ]
    answer = MetadataResponse(
        brokers=[BROKER(node_id=n, host="h", port=1) for n in range(brokers)],
        cluster_id="",
        controller_id=1,
        topics=[TOPIC(name="t", partitions=rows) for _ in range(topics)],
    )
    return bytes(answer.encode(version=version))


def groups(*members: int, version: int = 0) -> bytes:
    member = GROUP.DescribedGroupMember(member_id="m", client_id="c", client_host="/h")
    rows = [GROUP(group_id="g", group_state="Stable", members=[member] * count) for count in members]
    return bytes(DescribeGroupsResponse(groups=rows).encode(version=version))


def read(kind: Any, version: int, data: bytes, limits: Limits = SMALL) -> Any:
    with counted(limits):
        return kind.decode(data, version=version)


@pytest.mark.parametrize(
    ("kind", "version", "allowed", "refused", "said"),
    [
        (MetadataResponse, 4, metadata(brokers=2), metadata(brokers=3), "3 brokers, and slackwater looks at 2"),
        (
            MetadataResponse,
            4,
            metadata(partitions=10),
            metadata(partitions=11),
            "11 partitions, and slackwater looks at 10",
        ),
        (DescribeGroupsResponse, 0, groups(3, 3), groups(3, 4), "4 members, and slackwater looks at 3"),
        (
            DescribeGroupsResponse,
            5,
            groups(3, 3, version=5),
            groups(3, 4, version=5),
            "4 members, and slackwater looks at 3",
        ),
    ],
    ids=["brokers", "partitions", "members", "members, with numbers of any length"],
)
def test_more_than_is_looked_at_is_refused(kind: Any, version: int, allowed: bytes, refused: bytes, said: str) -> None:
    assert read(kind, version, allowed) == kind.decode(allowed, version=version)
    with pytest.raises(TooMuch, match=said):
        read(kind, version, refused)
    assert kind.decode(refused, version=version), "only where somebody counts"


def test_it_is_refused_at_the_number_itself_with_nothing_behind_it() -> None:
    whole = groups(2**10)
    number = struct.pack(">i", 2**10)
    with pytest.raises(TooMuch, match="1,024 members"):
        read(DescribeGroupsResponse, 0, whole[: whole.index(number) + len(number)])


@pytest.mark.parametrize(
    ("many", "said"),
    [
        (metadata(topics=5, partitions=9), "more than 40 rows"),
        (metadata(partitions=9, replicas=50), "more than 400 values"),
    ],
    ids=["small arrays, and many", "of what is in the rows"],
)
def test_all_arrays_of_an_answer_count_together(many: bytes, said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("slackwater.adapters.kafka.sizes._MOST_ROWS", 40)
    with pytest.raises(TooMuch, match=said):
        read(MetadataResponse, 4, many)
    once = metadata(topics=3, partitions=9)
    for _ in range(3):  # each answer has its own count
        assert len(read(MetadataResponse, 4, once).topics) == 3


def test_the_largest_topic_that_is_looked_at_has_room_for_its_replicas() -> None:
    limits = replace(USUAL, partitions=2_000)
    assert read(MetadataResponse, 4, metadata(brokers=100, partitions=2_000, replicas=8), limits)
    assert USUAL.rows >= USUAL.partitions + USUAL.members + USUAL.brokers
    assert USUAL.values >= 8 * USUAL.partitions
    huge = replace(USUAL, partitions=1_000_000)
    assert huge.rows >= huge.partitions + huge.members


def described(**of_the_member: Any) -> bytes:
    kind = ConsumerGroupDescribeResponse.DescribedGroup
    topic = kind.Member.Assignment.TopicPartitions(topic_id=UUID(int=0), topic_name="t", partitions=[0])
    owned = kind.Member.Assignment(topic_partitions=[topic])
    usual = {"member_id": "m", "client_id": "c", "client_host": "/h", "subscribed_topic_names": ["t"]}
    member = kind.Member(**{**usual, "assignment": owned, "target_assignment": owned, **of_the_member})
    row = kind(group_id="g", group_state="Stable", assignor_name="uniform", members=[member])
    return bytes(ConsumerGroupDescribeResponse(groups=[row]).encode(version=0))


def no_groups(number: int) -> bytes:
    return struct.pack(">i", number)


@pytest.mark.parametrize(
    ("kind", "version", "encoded", "said"),
    [
        (ConsumerGroupDescribeResponse, 0, described(client_host=None), "there is no client_host"),
        (ConsumerGroupDescribeResponse, 0, described(member_id=None), "there is no member_id"),
        (
            ConsumerGroupDescribeResponse,
            0,
            described(subscribed_topic_names=None),
            "there is no subscribed_topic_names",
        ),
        (ConsumerGroupDescribeResponse, 0, described(subscribed_topic_names=[None]), "is no subscribed_topic_names"),
        (DescribeGroupsResponse, 0, no_groups(-1), "there is no groups"),
        (DescribeGroupsResponse, 0, no_groups(-(2**31)), "there are -2147483648 groups"),
        (MetadataResponse, 4, metadata(brokers=1).replace(b"\0\x01h", b"\xff\xff"), "there is no host"),
    ],
)
def test_a_null_is_refused_where_the_protocol_has_none(kind: Any, version: int, encoded: bytes, said: str) -> None:
    """As Java's client does: what is made of answers counts on the schema, and a negative number gave more room."""
    assert kind.decode(encoded, version=version), "only where somebody counts"
    with pytest.raises(ValueError, match=said):
        read(kind, version, encoded)


def test_a_null_is_read_where_the_protocol_has_one() -> None:
    found = read(
        ConsumerGroupDescribeResponse, 0, described(instance_id=None, rack_id=None, subscribed_topic_regex=None)
    )
    (member,) = found.groups[0].members
    assert (member.instance_id, member.rack_id, member.subscribed_topic_regex) == (None, None, None)
    assert member.assignment.topic_partitions[0].topic_id is None, "which is how zeros are read"


@pytest.mark.parametrize("kind", OURS, ids=lambda kind: kind.__name__)
def test_no_array_of_what_is_asked_for_is_left_uncounted(kind: Any) -> None:
    for version in range(kind.max_version + 1):
        flexible = kind.flexible_version_q(version)
        decode = kind._struct.compiled_decode_from(version, compact=flexible, tagged=flexible, data_class=kind)
        assert "range" not in decode.__code__.co_names
        assert "_BytesIO" not in decode.__code__.co_names, "which copies all that follows for each element"


@pytest.mark.parametrize(
    ("encoded", "number"), [(b"\0", 0), (b"\x7f", 127), (b"\xac\x02", 300), (b"\xff" * 4 + b"\x0f", 2**32 - 1)]
)
def test_a_number_of_a_few_bytes_is_read(encoded: bytes, number: int) -> None:
    assert varint_at(b"x" + encoded + b"x", 1) == (number, 1 + len(encoded))


@pytest.mark.parametrize(("encoded", "error"), [(b"\x80" * 1_000, ValueError), (b"\x80\x80", IndexError)])
def test_one_that_does_not_end_is_none(encoded: bytes, error: type[Exception]) -> None:
    with pytest.raises(error):
        varint_at(encoded, 0)
    with pytest.raises(error):
        FindCoordinatorResponse.decode(bytes(4) + encoded, version=4)


def test_tags_that_nobody_knows_are_passed_over_wherever_they_stand() -> None:
    """A later Kafka may send them with each element."""
    row = FindCoordinatorResponse.Coordinator(key="g", node_id=7, host="h", port=1)
    plain = bytes(FindCoordinatorResponse(coordinators=[row] * 3).encode(version=4))
    assert plain.endswith(b"\0")
    element = b"\x02g" + struct.pack(">i", 7)
    tags = b"\x02" + b"\x05\x03abc" + b"\x06\x01x"
    one = plain[plain.index(element) : plain.index(element, plain.index(element) + 1)]
    tagged = plain.replace(one, one[:-1] + tags)[:-1] + tags
    assert len(tagged) > len(plain)
    found = FindCoordinatorResponse.decode(tagged, version=4)
    assert [(each.key, each.node_id) for each in found.coordinators] == [("g", 7)] * 3


def test_tags_that_are_known_are_read() -> None:
    feature = ApiVersionsResponse.FinalizedFeatureKey
    asked = ApiVersionsResponse(
        api_keys=[ApiVersionsResponse.ApiVersion(api_key=3, min_version=0, max_version=9)],
        finalized_features=[feature(name="group.version", max_version_level=1, min_version_level=1)],
        finalized_features_epoch=5,
    )
    found = ApiVersionsResponse.decode(asked.encode(version=4), version=4)
    assert [(each.name, each.max_version_level) for each in found.finalized_features] == [("group.version", 1)]
    assert found.finalized_features_epoch == 5
    assert len(found.api_keys) == 1


def _many(number: int) -> bytes:
    return bytes([number]) + b"".join(bytes([20 + each, 0]) for each in range(number))


@pytest.mark.parametrize("read_header", [True, False], ids=["of the header", "of an element"])
def test_of_tags_there_are_few(read_header: bool) -> None:
    def found(number: int) -> object:
        told = _many(number)
        if not read_header:
            return FindCoordinatorResponse.decode(bytes(4) + b"\x01" + told, version=4)
        return FindCoordinatorResponse.parse_header(BytesIO(bytes(4) + told), version=4)

    assert found(MOST_TAGS)
    with pytest.raises(ValueError, match="too many tags"):
        found(MOST_TAGS + 1)
