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


def read(connection: Mapping[str, object], group: str) -> list[Record]:
    """Every record about the group or its members that the brokers still hold, up to this call, in order.

    `connection` is kafka-python's (`bootstrap_servers`, …). Raises its KafkaError when the brokers do not answer,
    TimeoutError after three minutes.
    """
    return [each for each in _read(connection, group, parse) if each.group == group]


def commits(connection: Mapping[str, object], group: str) -> list[Commit]:
    """Every offset that the group has committed, as `read`."""
    return [each for each in _read(connection, group, parse_commit) if each.group == group]


def partition_of(group: str, partitions: int) -> int:
    """Which of the topic's partitions has the group: by Java's hash of its id, as brokers have it."""
    encoded, found = group.encode("utf-16-be"), 0
    for (unit,) in struct.iter_unpack(">H", encoded):
        found = (31 * found + unit) & 0xFFFFFFFF
    signed = found - 2**32 if found >= 2**31 else found
    return (0 if signed == -(2**31) else abs(signed)) % partitions


def _read(
    connection: Mapping[str, object], group: str, parsed: Callable[[bytes, bytes | None, int], T | None]
) -> list[T]:
    """What `parsed` makes of the records in the group's partition: the others may be long, and tell nothing of it."""
    consumer = KafkaConsumer(**connection, enable_auto_commit=False, auto_offset_reset="earliest")
    try:
        partitions = consumer.partitions_for_topic(_TOPIC)
        if not partitions:
            return []
        partition = TopicPartition(_TOPIC, partition_of(group, len(partitions)))
        consumer.assign([partition])
        consumer.seek_to_beginning()
        end = consumer.end_offsets([partition])[partition]
        found: list[T] = []
        deadline = time.monotonic() + _READ_S
        while consumer.position(partition) < end:
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
