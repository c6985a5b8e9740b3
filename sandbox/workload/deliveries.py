"""What the consumers were given, measured: gaps in each partition's deliveries, duplicates, missing offsets."""

from __future__ import annotations

import json
import time
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise

from confluent_kafka import Consumer, KafkaError, KafkaException, TopicPartition

# A partition counts as idle from here on; the load is steady, ten messages a second and more (FACTS, F32-F37).
IDLE_ABOVE_MS = 500
_REQUEST_S = 10.0
_READ_S = 60.0
_OFFSET_END = -1
_LEADERS_S = 15.0
_WITHOUT_LEADER = (
    KafkaError.NOT_LEADER_FOR_PARTITION,
    KafkaError.LEADER_NOT_AVAILABLE,
    KafkaError.UNKNOWN_TOPIC_OR_PART,
)


@dataclass(frozen=True, slots=True)
class Delivery:
    """One message as one consumer was given it, at `at_ms` (unix milliseconds)."""

    partition: int
    offset: int
    at_ms: int
    pod: str
    instance: str


@dataclass(frozen=True, slots=True)
class Measurement:
    """All deliveries of one topic within a time span, in figures."""

    deliveries: int
    idle_partition_seconds: float  # the sum of all gaps above half a second, over all partitions
    worst_gap_seconds: float
    duplicates: int  # deliveries of a message after its first
    missing: int  # offsets skipped between the first and the last that were delivered, in each partition


def measure(rows: Iterable[Delivery], partitions: int, start_ms: int, end_ms: int) -> Measurement:
    """Measure the deliveries from `start_ms` to `end_ms`; a topic has partitions 0 to `partitions` - 1.

    Both ends count as deliveries, so a partition that was never served is idle for the whole span.
    """
    served: dict[int, list[Delivery]] = defaultdict(list)
    for row in rows:
        if start_ms <= row.at_ms <= end_ms:
            served[row.partition].append(row)
    idle_ms, worst_ms, duplicates, missing = 0, 0, 0, 0
    for partition in range(partitions):
        times = sorted(row.at_ms for row in served[partition])
        gaps = [later - earlier for earlier, later in pairwise([start_ms, *times, end_ms])]
        idle_ms += sum(gap for gap in gaps if gap > IDLE_ABOVE_MS)
        worst_ms = max(worst_ms, *gaps)
        offsets = {row.offset for row in served[partition]}
        duplicates += len(times) - len(offsets)
        missing += max(offsets) - min(offsets) + 1 - len(offsets) if offsets else 0
    return Measurement(
        deliveries=sum(len(rows_of) for rows_of in served.values()),
        idle_partition_seconds=idle_ms / 1000,
        worst_gap_seconds=worst_ms / 1000,
        duplicates=duplicates,
        missing=missing,
    )


def parse(batch: bytes) -> list[Delivery]:
    """The deliveries of one record that a consumer's `DeliveryLog` wrote."""
    record = json.loads(batch)
    return [
        Delivery(partition, offset, at_ms, pod=record["pod"], instance=record["i"])
        for partition, offset, at_ms in record["p"]
    ]


def read(connection: Mapping[str, str], topic: str, start_ms: int) -> list[Delivery]:
    """All deliveries since `start_ms` that `topic` records until this call, in no particular order.

    A delivery is recorded within MAX_AGE_S of `delivery_log`: to measure up to a moment, call this a second later.
    Raises KafkaException when the brokers do not answer or the topic is unknown, TimeoutError after a minute.
    """
    consumer = Consumer({**connection, "group.id": "never-joins", "enable.auto.commit": "false"})
    deadline = time.monotonic() + _READ_S
    try:
        ends = _assign_when_led(consumer, topic, start_ms)
        rows: list[Delivery] = []
        while ends:
            if time.monotonic() > deadline:
                raise TimeoutError(f"the topic {topic} was not read to its end within {_READ_S:.0f} s")
            message = consumer.poll(0.1)
            if message is None:
                continue
            if error := message.error():
                raise KafkaException(error)
            # A record may hold deliveries of some time before it.
            rows += [row for row in parse(message.value()) if row.at_ms >= start_ms]
            end = ends.get(message.partition())
            if end is not None and message.offset() + 1 >= end:
                del ends[message.partition()]
        return rows
    finally:
        consumer.close()


def _assign_when_led(consumer: Consumer, topic: str, start_ms: int) -> dict[int, int]:
    """`_assign_since` as soon as all partitions have leaders: not at once after a topic is made or a broker is lost."""
    deadline = time.monotonic() + _LEADERS_S
    while True:
        try:
            return _assign_since(consumer, topic, start_ms)
        except KafkaException as error:
            if error.args[0].code() not in _WITHOUT_LEADER or time.monotonic() > deadline:
                raise
            consumer.poll(0.1)


def _assign_since(consumer: Consumer, topic: str, start_ms: int) -> dict[int, int]:
    """Position `consumer` at `start_ms`; the result is the end offset of each partition that has something to read."""
    metadata = consumer.list_topics(topic, timeout=_REQUEST_S).topics[topic]
    if metadata.error is not None:
        raise KafkaException(metadata.error)
    wanted = [TopicPartition(topic, partition, start_ms) for partition in metadata.partitions]
    starts = [each for each in consumer.offsets_for_times(wanted, timeout=_REQUEST_S) if each.offset != _OFFSET_END]
    consumer.assign(starts)
    ends = {each.partition: consumer.get_watermark_offsets(each, timeout=_REQUEST_S)[1] for each in starts}
    return {each.partition: ends[each.partition] for each in starts if ends[each.partition] > each.offset}
