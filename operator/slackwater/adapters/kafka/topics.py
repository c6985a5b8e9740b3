"""Which partitions topics have, and who leads them: one Metadata request for all topics of a pass."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final

from kafka.protocol.metadata import MetadataRequest

from slackwater.adapters.kafka.apart import apart
from slackwater.adapters.kafka.errors import Code, Failure, topic_failure, unanswered
from slackwater.adapters.kafka.parts import Parts
from slackwater.adapters.kafka.sizes import USUAL, Limits, crowded, too_much
from slackwater.adapters.kafka.wire import KafkaWire
from slackwater.core.decision.reasons import Reason
from slackwater.core.world.observation import TopicPartition

NO_LEADER: Final = -1


def topic_parts() -> Parts[str]:
    return Parts("topic {}".format)


@dataclass(frozen=True)
class TopicLayout:
    """Leaders by partition, NO_LEADER where there is none, and why topics could not be read in whole."""

    leaders: Mapping[TopicPartition, int] = field(default_factory=dict)
    failures: Mapping[str, Failure] = field(default_factory=dict)

    def partitions_of(self, topics: Collection[str]) -> frozenset[TopicPartition]:
        return frozenset(partition for topic in topics for partition in self.by_topic.get(topic, ()))

    def number_of(self, topics: Collection[str]) -> int:
        """The same, counted and not listed."""
        return sum(len(self.by_topic.get(topic, ())) for topic in topics)

    @cached_property
    def by_topic(self) -> Mapping[str, list[TopicPartition]]:
        found: defaultdict[str, list[TopicPartition]] = defaultdict(list)
        for partition in self.leaders:
            found[partition.topic].append(partition)
        return found


async def read_layout(
    wire: KafkaWire,
    topics: Collection[str],
    parts: Parts[str] | None = None,
    limits: Limits = USUAL,
    room: int | None = None,
) -> TopicLayout:
    """Ask any broker. Raises KafkaFailed when none answers; what concerns one topic is a failure in the layout.

    `room`: partitions of all topics together, after which no more is asked for.
    """
    number = 0

    async def ask(some: Collection[str]) -> TopicLayout:
        nonlocal number
        if room is not None and number > room:
            return TopicLayout(
                {},
                {
                    topic: too_much(f"topic {topic}, with those before it,", number, room, "partitions")
                    for topic in some
                },
            )
        wanted = [MetadataRequest.MetadataRequestTopic(name=topic) for topic in some]
        response = await wire.send(MetadataRequest(topics=wanted, allow_auto_topic_creation=False, min_version=4))
        wire.remember_brokers(response)
        weight = sum(len(topic.partitions) for topic in response.topics)
        number += weight
        return await apart(weight, lambda: layout_of(response, some, limits))

    layouts, failures = await (parts or topic_parts()).ask(topics, ask)
    if not layouts:  # the brokers' addresses come with it
        layouts = [await ask(())]
    return TopicLayout(
        {partition: leader for each in layouts for partition, leader in each.leaders.items()},
        {topic: failure for each in (*layouts, TopicLayout({}, failures)) for topic, failure in each.failures.items()},
    )


def layout_of(response: Any, topics: Collection[str], limits: Limits = USUAL) -> TopicLayout:
    """Read a MetadataResponse. A topic with a partition that nobody leads is known, and a failure besides; one that
    nobody asked for is passed over."""
    leaders: dict[TopicPartition, int] = {}
    failures = {topic: unanswered(f"topic {topic}") for topic in topics}
    for topic in response.topics:
        if topic.name not in failures:
            continue
        if failure := crowded(f"topic {topic.name}", len(topic.partitions), limits):
            failures[topic.name] = failure
            continue
        if topic.error_code != Code.NONE:
            failures[topic.name] = topic_failure(topic.name, topic.error_code)
            continue
        del failures[topic.name]
        for partition in topic.partitions:
            leaders[TopicPartition(topic.name, partition.partition_index)] = partition.leader_id
            if partition.leader_id == NO_LEADER:
                message = f"partition {partition.partition_index} of topic {topic.name} has no leader now"
                failures[topic.name] = Failure(Reason.OBSERVATION_INCOMPLETE, message)
    return TopicLayout(leaders, failures)
