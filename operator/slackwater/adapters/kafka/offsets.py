"""Committed offsets of many groups from one coordinator, and the ends of many partitions from one leader."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from kafka.protocol.consumer import ListOffsetsRequest, OffsetFetchRequest

from slackwater.adapters.kafka.apart import apart
from slackwater.adapters.kafka.errors import Code, Failure, group_failure, topic_failure, unanswered
from slackwater.adapters.kafka.parts import Parts
from slackwater.adapters.kafka.wire import KafkaWire
from slackwater.core.world.observation import TopicPartition

Committed = Mapping[TopicPartition, int | None]
"""None where nothing was ever committed."""


def offset_parts() -> Parts[TopicPartition]:
    return Parts("partition {}".format)


_LATEST = -1
_EARLIEST = -2
_NOT_COMMITTED = -1


async def read_committed(
    wire: KafkaWire, node_id: int, partitions_by_group: Mapping[str, Collection[TopicPartition]], parts: Parts[str]
) -> dict[str, Committed | Failure]:
    """Return each group's committed offsets, with one request where the answer fits. Never raises."""

    async def ask(group_ids: list[str]) -> dict[str, Committed | Failure]:
        some = {group_id: partitions_by_group[group_id] for group_id in group_ids}
        weight = sum(map(len, some.values()))
        response = await wire.send(await apart(weight, lambda: _fetch(some)), node_id)
        return await apart(weight, lambda: committed_in(response, some))

    return await parts.ask_each(partitions_by_group, ask)


def _fetch(partitions_by_group: Mapping[str, Collection[TopicPartition]]) -> OffsetFetchRequest:
    group_type = OffsetFetchRequest.OffsetFetchRequestGroup
    groups = [
        group_type(
            group_id=group_id,
            topics=[
                group_type.OffsetFetchRequestTopics(name=topic, partition_indexes=indexes)
                for topic, indexes in _by_topic(partitions).items()
            ],
        )
        for group_id, partitions in partitions_by_group.items()
    ]
    # v8 takes many groups at once (Kafka 3.0); v10 knows topics by id only.
    return OffsetFetchRequest(groups=groups, require_stable=False, min_version=8, max_version=9)


def committed_in(
    response: Any, partitions_by_group: Mapping[str, Collection[TopicPartition]]
) -> dict[str, Committed | Failure]:
    """Read an OffsetFetchResponse; a group with any partition missing or in error is a failure as a whole."""
    answers: dict[str, Committed | Failure] = {}
    for group in response.groups:
        partitions = partitions_by_group.get(group.group_id, ())
        if group.error_code == Code.GROUP_ID_NOT_FOUND:
            answers[group.group_id] = dict.fromkeys(partitions)
        elif group.error_code != Code.NONE:
            answers[group.group_id] = group_failure(group.group_id, group.error_code)
        else:
            answers[group.group_id] = _committed_by_one(group, partitions)
    for group_id in partitions_by_group:
        answers.setdefault(group_id, unanswered(f"the committed offsets of group {group_id}"))
    return answers


def _committed_by_one(group: Any, partitions: Collection[TopicPartition]) -> Committed | Failure:
    committed: dict[TopicPartition, int | None] = {}
    for topic in group.topics:
        for partition in topic.partitions:
            if partition.error_code != Code.NONE:
                return topic_failure(topic.name, partition.error_code)
            at, offset = TopicPartition(topic.name, partition.partition_index), partition.committed_offset
            if at in partitions:
                committed[at] = None if offset == _NOT_COMMITTED else offset
    if missing := set(partitions) - committed.keys():
        return unanswered(f"the committed offset of {min(missing)} of group {group.group_id}")
    return committed


async def read_ends(
    wire: KafkaWire, node_id: int, partitions: Collection[TopicPartition], parts: Parts[TopicPartition]
) -> dict[TopicPartition, int | Failure]:
    """Return the offset after the last record of each partition that `node_id` leads. Never raises."""
    return await _read_offsets(wire, node_id, partitions, parts, _LATEST)


async def read_starts(
    wire: KafkaWire, node_id: int, partitions: Collection[TopicPartition], parts: Parts[TopicPartition]
) -> dict[TopicPartition, int | Failure]:
    """Return the offset of the first record that each partition still has. Never raises."""
    return await _read_offsets(wire, node_id, partitions, parts, _EARLIEST)


async def _read_offsets(
    wire: KafkaWire, node_id: int, partitions: Collection[TopicPartition], parts: Parts[TopicPartition], which: int
) -> dict[TopicPartition, int | Failure]:
    async def ask(some: list[TopicPartition]) -> dict[TopicPartition, int | Failure]:
        response = await wire.send(await apart(len(some), lambda: _list(some, which)), node_id)
        return await apart(len(some), lambda: ends_in(response, some))

    return await parts.ask_each(partitions, ask)


def _list(partitions: Collection[TopicPartition], which: int) -> ListOffsetsRequest:
    topic_type = ListOffsetsRequest.ListOffsetsTopic
    topics = [
        topic_type(
            name=topic,
            partitions=[topic_type.ListOffsetsPartition(partition_index=i, timestamp=which) for i in indexes],
        )
        for topic, indexes in _by_topic(partitions).items()
    ]
    return ListOffsetsRequest(replica_id=-1, isolation_level=0, topics=topics, max_version=8)


def ends_in(response: Any, partitions: Collection[TopicPartition]) -> dict[TopicPartition, int | Failure]:
    """Read a ListOffsetsResponse."""
    asked, ends = frozenset(partitions), dict[TopicPartition, int | Failure]()
    for topic in response.topics:
        for partition in topic.partitions:
            at = TopicPartition(topic.name, partition.partition_index)
            failed = partition.error_code != Code.NONE
            if at not in asked:
                continue
            ends[at] = topic_failure(topic.name, partition.error_code) if failed else partition.offset
    left_out = asked - ends.keys()
    return ends | {each: unanswered(f"the end of {each.topic}[{each.partition}]") for each in left_out}


def _by_topic(partitions: Iterable[TopicPartition]) -> dict[str, list[int]]:
    indexes: defaultdict[str, list[int]] = defaultdict(list)
    for partition in sorted(partitions):
        indexes[partition.topic].append(partition.partition)
    return indexes
