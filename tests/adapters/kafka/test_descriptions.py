"""Bytes that a 4.3 broker sent, and answers that must not be mistaken for others."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from kafka.protocol.admin import DescribeGroupsResponse
from kafka.protocol.consumer.metadata import ConsumerProtocolAssignment, ConsumerProtocolSubscription

from slackwater.adapters.kafka.consumer_group_describe import (
    ConsumerGroupDescribeRequest,
    ConsumerGroupDescribeResponse,
)
from slackwater.adapters.kafka.descriptions import (
    Answer,
    Description,
    NotOfThisType,
    classic_answers,
    consumer_answers,
    listed_answer,
)
from slackwater.adapters.kafka.errors import Failure
from slackwater.core.decision.reasons import Reason
from slackwater.core.world.observation import GroupState, GroupType

ROW = DescribeGroupsResponse.DescribedGroup


def described(**of_the_member: bytes) -> Answer:
    """A classic group of one member, as it is read."""
    member = ROW.DescribedGroupMember(member_id="m", client_id="c", client_host="/h", **of_the_member)
    row = ROW(group_id="payments", group_state="Stable", protocol_type="consumer", members=[member])
    return classic_answers(DescribeGroupsResponse(groups=[row]))["payments"]


def test_the_request_for_new_groups_is_encoded_as_the_protocol_says() -> None:
    request = ConsumerGroupDescribeRequest(group_ids=["a"], include_authorized_operations=False)

    assert (
        bytes(request.encode(version=0)) == b"\x02\x02a\x00\x00"
    )  # compact array of one compact string, false, no tags


def test_before_version_6_a_missing_group_is_dead_without_an_error() -> None:
    response = DescribeGroupsResponse(groups=[ROW(group_id="payments", group_state="Dead")])

    assert classic_answers(response) == {"payments": NotOfThisType()}


@pytest.mark.parametrize(
    "assignment", [b"\x00\x00\x00", b"\x00\x00" + b"\xff" * 8], ids=["too short", "a list that is null"]
)
def test_an_assignment_that_cannot_be_read_is_a_failure_and_no_empty_one(assignment: bytes) -> None:
    answer = described(member_assignment=assignment)

    assert isinstance(answer, Failure)
    assert answer.reason == "ObservationIncomplete"


def test_of_a_null_where_the_protocol_has_none_that_group_alone_is_not_seen() -> None:
    kind = ConsumerGroupDescribeResponse.DescribedGroup
    nobody = kind.Member.Assignment(topic_partitions=[])
    member = {"member_id": "m", "client_id": "c", "assignment": nobody, "target_assignment": nobody}
    rows = [
        kind(group_id=name, group_state="Stable", members=[kind.Member(client_host=host, **member)])
        for name, host in (("payments", None), ("orders", "/h"))
    ]
    answers = consumer_answers(ConsumerGroupDescribeResponse(groups=rows))
    answers |= classic_answers(
        DescribeGroupsResponse(groups=[ROW(group_id="sink", group_state="Stable", protocol_type=None)])
    )
    assert isinstance(answers["orders"], Description)
    for name in ("payments", "sink"):
        answer = answers[name]
        assert isinstance(answer, Failure)
        assert answer.reason is Reason.OBSERVATION_INCOMPLETE
        assert answer.message.startswith(f"Kafka's answer left out a readable description of group {name}")


def test_a_group_of_another_kind_of_client_is_not_ours() -> None:
    response = DescribeGroupsResponse(groups=[ROW(group_id="sink", group_state="Stable", protocol_type="connect")])

    answer = classic_answers(response)["sink"]
    assert isinstance(answer, Failure)
    assert answer.reason is Reason.GROUP_OF_ANOTHER_TYPE
    assert "connect" in answer.message


def test_of_a_long_type_little_is_said() -> None:
    """It is kept for as long as the group is looked at, and counts in no budget."""
    long = "x" * 3_900_000
    rows = [ROW(group_id="sink", group_state="Stable", protocol_type=long)]
    for answer in (
        classic_answers(DescribeGroupsResponse(groups=rows))["sink"],
        listed_answer("sink", SimpleNamespace(group_type=long, group_state="Stable")),
    ):
        assert isinstance(answer, Failure)
        assert len(answer.message) < 500


def test_a_group_that_no_list_has_is_dead() -> None:
    assert listed_answer("payments", None) == Description(GroupState.DEAD, GroupType.CLASSIC)


def test_a_listed_streams_group_is_not_ours() -> None:
    listed = SimpleNamespace(group_type="Streams", group_state="Stable")

    answer = listed_answer("payments", listed)
    assert isinstance(answer, Failure)
    assert (answer.reason, "streams" in answer.message) == (Reason.GROUP_OF_ANOTHER_TYPE, True)


@pytest.mark.parametrize(("user_data", "kept"), [(None, False), (b"", False), (b"\x00\x00\x00\x01", True)])
def test_an_assignors_own_data_in_an_assignment_is_seen(user_data: bytes | None, kept: bool) -> None:
    encoded = bytes(ConsumerProtocolAssignment(assigned_partitions=[], user_data=user_data).encode(version=0))
    answer = described(member_assignment=encoded)

    assert isinstance(answer, Description)
    assert [each.assignor_data for each in answer.members] == [kept]


def subscription(*topics: str) -> bytes:
    return bytes(
        ConsumerProtocolSubscription(topics=list(topics), user_data=b"", owned_partitions=[]).encode(version=1)
    )


@pytest.mark.parametrize(
    ("metadata", "topics"),
    [
        (subscription("orders", "refunds"), frozenset({"orders", "refunds"})),
        (subscription(), frozenset()),
        (b"", None),
        (b"\x00\x01\xff", None),
        (b"\x00\x00" + b"\x00\x00\x00\x01" + b"\xff\xff" + b"\xff\xff\xff\xff", None),
    ],
    ids=["two", "none", "the group rebalances", "made up", "a topic that is null"],
)
def test_what_a_classic_member_asks_for(metadata: bytes, topics: frozenset[str] | None) -> None:
    answer = described(member_metadata=metadata)

    assert isinstance(answer, Description)
    assert [each.subscribed for each in answer.members] == [topics]


@pytest.mark.parametrize(
    ("names", "regex", "topics"),
    [(["orders"], None, frozenset({"orders"})), ([], "^orders.*", None), (["orders"], "^refunds.*", None)],
)
def test_what_a_kip848_member_asks_for(names: list[str], regex: str | None, topics: frozenset[str] | None) -> None:
    """A pattern that the broker matches says nothing of the topics."""
    assigned = SimpleNamespace(topic_partitions=[])
    member = SimpleNamespace(
        member_id="m",
        instance_id=None,
        client_id="c",
        client_host="/h",
        member_epoch=1,
        assignment=assigned,
        target_assignment=assigned,
        subscribed_topic_names=names,
        subscribed_topic_regex=regex,
    )
    group = SimpleNamespace(
        group_id="payments",
        error_code=0,
        group_state="Stable",
        group_epoch=1,
        assignor_name="uniform",
        members=[member],
    )

    answer = consumer_answers(SimpleNamespace(groups=[group]))["payments"]

    assert isinstance(answer, Description)
    assert [each.subscribed for each in answer.members] == [topics]


def test_a_topic_that_many_members_name_is_kept_once() -> None:
    """Each member's bytes name it for themselves; the budget of a namespace counts it once."""

    def owning(number: int) -> bytes:
        owned = ConsumerProtocolAssignment.TopicPartition(topic="orders", partitions=[number])
        return bytes(ConsumerProtocolAssignment(assigned_partitions=[owned], user_data=None).encode(version=1))

    rows = [
        ROW.DescribedGroupMember(member_id=f"m{n}", client_id="c", client_host="/h", member_assignment=owning(n))
        for n in range(3)
    ]
    row = ROW(group_id="payments", group_state="Stable", protocol_type="consumer", members=rows)
    answer = classic_answers(DescribeGroupsResponse(groups=[row]))["payments"]
    assert isinstance(answer, Description)
    owned = [each for one in answer.members for each in one.assignment]
    assert sorted(each.partition for each in owned) == [0, 1, 2]
    assert len({id(each.topic) for each in owned}) == 1
