"""How often a group rebalanced: its generations (classic) or epochs (KIP-848) in `__consumer_offsets` (F17)."""

from __future__ import annotations

import struct
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from kafka import KafkaConsumer, TopicPartition

_TOPIC = "__consumer_offsets"
_READ_S = 60.0

# The first two bytes of a key tell what the record is.
_CLASSIC_GROUP = 2
_CONSUMER_GROUP = 3
# Since this version of the classic group's value, strings have a variable-length prefix (KIP-482).
_FLEXIBLE_SINCE = 4


@dataclass(frozen=True, slots=True)
class Generation:
    """A group was in `number`, its generation or epoch, from `at_ms` (unix milliseconds) on."""

    group: str
    number: int
    at_ms: int


def decode(key: bytes, value: bytes | None, at_ms: int) -> Generation | None:
    """The generation that one record of the topic tells of; None for any other record and for a group's deletion.

    Raises struct.error when the record is shorter than its version says.
    """
    (kind,) = struct.unpack_from(">h", key)
    if value is None or kind not in (_CLASSIC_GROUP, _CONSUMER_GROUP):
        return None
    (length,) = struct.unpack_from(">h", key, 2)
    group = key[4 : 4 + length].decode()
    # Both values begin with their own version. A KIP-848 group's epoch follows at once, a classic group's generation
    # after the protocol type ("consumer").
    at = 2 if kind == _CONSUMER_GROUP else _after_protocol_type(value)
    (number,) = struct.unpack_from(">i", value, at)
    return Generation(group, number, at_ms)


def _after_protocol_type(value: bytes) -> int:
    (version,) = struct.unpack_from(">h", value)
    if version >= _FLEXIBLE_SINCE:
        return 3 + value[2] - 1  # the length plus one, in one byte: the type is shorter than 127
    length: int = struct.unpack_from(">h", value, 2)[0]
    return 4 + length


def count_rebalances(generations: Iterable[Generation], group: str, start_ms: int, end_ms: int) -> int:
    """How many times `group` went on to another generation from `start_ms` to `end_ms`.

    Compaction may have dropped records in between: it is the numbers' growth that counts. A group of which nothing is
    known before, or whose number went down because it was deleted and made anew, has rebalanced once when it is first
    seen with members; until then a classic group is at generation 0.
    """
    rebalances = 0
    before: int | None = None
    for each in sorted((each for each in generations if each.group == group), key=lambda each: each.at_ms):
        if start_ms <= each.at_ms <= end_ms:
            if before is None or each.number < before:
                rebalances += min(each.number, 1)
            else:
                rebalances += each.number - before
        before = each.number
    return rebalances


def read(connection: Mapping[str, object]) -> list[Generation]:
    """Every generation of every group that the brokers still hold, up to this call.

    `connection` is kafka-python's (`bootstrap_servers`, …). Raises its KafkaError when the brokers do not answer,
    TimeoutError after a minute.
    """
    consumer = KafkaConsumer(**connection, enable_auto_commit=False, auto_offset_reset="earliest")
    try:
        partitions = [TopicPartition(_TOPIC, number) for number in consumer.partitions_for_topic(_TOPIC) or ()]
        consumer.assign(partitions)
        consumer.seek_to_beginning()
        ends = consumer.end_offsets(partitions)
        found: list[Generation] = []
        deadline = time.monotonic() + _READ_S
        while any(consumer.position(each) < ends[each] for each in partitions):
            if time.monotonic() > deadline:
                raise TimeoutError(f"{_TOPIC} was not read to its end within {_READ_S:.0f} s")
            for records in consumer.poll(timeout_ms=200).values():
                decoded = (decode(record.key, record.value, record.timestamp) for record in records)
                found += [each for each in decoded if each is not None]
        return found
    finally:
        consumer.close()
