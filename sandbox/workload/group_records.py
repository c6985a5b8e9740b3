"""What brokers note about groups in `__consumer_offsets`, as records that are not decoded further yet (F17)."""

from __future__ import annotations

import struct
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import TypeVar

from kafka import KafkaConsumer, TopicPartition

_TOPIC = "__consumer_offsets"
_READ_S = 180.0


class Kind(IntEnum):
    """What a record is about; the first two bytes of its key."""

    CLASSIC_GROUP = 2
    CONSUMER_GROUP = 3
    CONSUMER_MEMBER = 5
    TARGET_ASSIGNMENT = 6
    """The epoch of the assignment that a KIP-848 group is to have; it follows its members' parts of it."""
    TARGET_ASSIGNMENT_OF_MEMBER = 7


_KINDS = frozenset(Kind)
_COMMITS = (0, 1)
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Record:
    """`value` is None when what it is about was deleted. `member` is empty for records about the whole group."""

    kind: Kind
    group: str
    member: str
    value: bytes | None
    at_ms: int


@dataclass(frozen=True, slots=True)
class Commit:
    """An offset that a group has committed, by a member or by anybody."""

    group: str
    topic: str
    partition: int
    offset: int
    at_ms: int


def parse(key: bytes, value: bytes | None, at_ms: int) -> Record | None:
    """A record about a group or its members; None for others, such as committed offsets.

    Raises struct.error when the key is shorter than it says.
    """
    (number,) = struct.unpack_from(">h", key)
    if number not in _KINDS:
        return None
    group, after = _string(key, 2)
    member, _ = _string(key, after) if after < len(key) else ("", after)
    return Record(Kind(number), group, member, value, at_ms)


def parse_commit(key: bytes, value: bytes | None, at_ms: int) -> Commit | None:
    """A committed offset; None for other records, and for one that tells that an offset was forgotten."""
    (number,) = struct.unpack_from(">h", key)
    if number not in _COMMITS or value is None:
        return None
    group, after = _string(key, 2)
    topic, after = _string(key, after)
    (partition,) = struct.unpack_from(">i", key, after)
    (offset,) = struct.unpack_from(">q", value, 2)
    return Commit(group, topic, partition, offset, at_ms)


def read(connection: Mapping[str, object]) -> list[Record]:
    """Every record about a group or its members that the brokers still hold, up to this call, as `read_all` does."""
    return read_all(connection, parse)


def read_all(connection: Mapping[str, object], parsed: Callable[[bytes, bytes | None, int], T | None]) -> list[T]:
    """What `parsed` makes of the records that the brokers still hold, up to this call; those of one group in the order
    of events.

    `connection` is kafka-python's (`bootstrap_servers`, …). Raises its KafkaError when the brokers do not answer,
    TimeoutError after a minute.
    """
    consumer = KafkaConsumer(**connection, enable_auto_commit=False, auto_offset_reset="earliest")
    try:
        partitions = [TopicPartition(_TOPIC, number) for number in consumer.partitions_for_topic(_TOPIC) or ()]
        consumer.assign(partitions)
        consumer.seek_to_beginning()
        ends = consumer.end_offsets(partitions)
        found: list[T] = []
        deadline = time.monotonic() + _READ_S
        while any(consumer.position(each) < ends[each] for each in partitions):
            if time.monotonic() > deadline:
                raise TimeoutError(f"{_TOPIC} was not read to its end within {_READ_S:.0f} s")
            for records in consumer.poll(timeout_ms=200).values():
                each_one = (parsed(record.key, record.value, record.timestamp) for record in records)
                found += [each for each in each_one if each is not None]
        return found
    finally:
        consumer.close()


def _string(data: bytes, at: int) -> tuple[str, int]:
    """The string that begins at `at` with its length in two bytes, and where it ends."""
    (length,) = struct.unpack_from(">h", data, at)
    end = at + 2 + length
    return data[at + 2 : end].decode(), end
