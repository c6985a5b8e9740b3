"""Answers to ConsumerGroupDescribe, by the schema that we gave kafka-python: each is one, or an error, and soon."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Final
from uuid import UUID

import atheris

with atheris.instrument_imports(include=["kafka.protocol", "slackwater.adapters.kafka.consumer_group_describe"]):
    from slackwater.adapters.kafka.consumer_group_describe import ConsumerGroupDescribeResponse

from tests.fuzz.play import play

REFUSED: Final = (ValueError, IndexError, TypeError, struct.error, OverflowError, KeyError)
"""What kafka-python says of bytes that are none of this message: its connection ends by it, and is made again."""


def target(data: bytes) -> None:
    version, rest = data[:1], data[1:]
    try:
        ConsumerGroupDescribeResponse.decode(rest, version=(version or b"\0")[0] % 2)
    except REFUSED:
        return


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
