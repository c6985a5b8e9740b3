"""Answers to ConsumerGroupDescribe, by the schema that we gave kafka-python: each is one, or an error, and soon.

What is one is looked at as the operator does: described, counted, seen, and folded into what was seen before. Of every
group comes a view or a failure that says why.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Any, Final
from uuid import UUID

import atheris

with atheris.instrument_imports(include=["kafka.protocol", "slackwater.adapters.kafka"]):
    from slackwater.adapters.kafka.consumer_group_describe import ConsumerGroupDescribeResponse
    from slackwater.adapters.kafka.counted import TooMuch, count_from_now_on, counted
    from slackwater.adapters.kafka.descriptions import Description, NotOfThisType, consumer_answers, weight_of
    from slackwater.adapters.kafka.errors import Failure
    from slackwater.adapters.kafka.group_reader import _assembled
    from slackwater.adapters.kafka.share import weight_of_members
    from slackwater.adapters.kafka.sizes import USUAL
    from slackwater.adapters.kafka.watch import Watch

from slackwater.core.world.observation import Member
from tests.fuzz.play import play

REFUSED: Final = (ValueError, IndexError, TypeError, struct.error, OverflowError, KeyError, TooMuch)
"""What kafka-python says of bytes that are none of this message: its connection ends by it, and is made again."""

count_from_now_on()


def target(data: bytes) -> None:
    version, rest = data[:1], data[1:]
    try:
        with counted(USUAL):
            response = ConsumerGroupDescribeResponse.decode(rest, version=(version or b"\0")[0] % 2)
    except REFUSED:
        return
    look_at(response)


def look_at(response: Any) -> None:
    assert weight_of(response) >= 0
    for group_id, answer in consumer_answers(response).items():
        assert isinstance(group_id, str)
        if isinstance(answer, Failure):
            assert answer.message
        elif isinstance(answer, Description):
            observe(group_id, answer)
        else:
            assert isinstance(answer, NotOfThisType)


def observe(group_id: str, description: Description) -> None:
    """Twice: what stays the same is shared with the look before."""
    assert weight_of_members(description.members, 0) >= len(description.members)
    for member in description.members:
        assert all(isinstance(text, str) for text in texts_of(member)), member
    partitions = {partition for member in description.members for partition in member.assignment}
    watch = Watch(group_id, frozenset({"orders"}))
    for at in (1.0, 2.0):
        watch.fold(_assembled(group_id, at, (1, description, {}), partitions, {}, {}))


def texts_of(member: Member) -> Iterator[object]:
    yield from (member.member_id, member.client_id, member.host, member.instance_id or "")
    yield from member.subscribed or ()
    yield from (partition.topic for those in (member.assignment, member.target or ()) for partition in those)


def examples() -> Iterator[bytes]:
    """Nobody, and two members of which one moves."""
    row = ConsumerGroupDescribeResponse.DescribedGroup
    assignment = row.Member.Assignment
    topics = [assignment.TopicPartitions(topic_id=UUID(int=7), topic_name="orders", partitions=[0, 1, 2])]
    has, gets_nothing = assignment(topic_partitions=topics), assignment(topic_partitions=[])
    who = {"client_id": "rdkafka", "client_host": "/10.0.0.1", "member_epoch": 7, "subscribed_topic_names": ["orders"]}
    members = [
        row.Member(member_id="a", instance_id="orders-0", rack_id="z", assignment=has, target_assignment=has, **who),
        row.Member(member_id="b", instance_id=None, assignment=has, target_assignment=gets_nothing, **who),
    ]
    group = row(group_id="orders", group_state="Stable", group_epoch=7, assignor_name="uniform", members=members)
    for groups in ([], [group]):
        for version in (0, 1):
            response = ConsumerGroupDescribeResponse(throttle_time_ms=0, groups=groups)
            yield bytes([version]) + bytes(response.encode(version=version))


def main() -> None:
    play("described", target, examples())


if __name__ == "__main__":
    main()
