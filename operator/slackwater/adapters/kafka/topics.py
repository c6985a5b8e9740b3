"""Which partitions topics have, and who leads them: one Metadata request for all topics of a pass."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from kafka.protocol.metadata import MetadataRequest

from slackwater.adapters.kafka.errors import Code, Failure, topic_failure, unanswered
from slackwater.adapters.kafka.wire import KafkaWire
from slackwater.core.decision.reasons import Reason
from slackwater.core.world.observation import TopicPartition

NO_LEADER: Final = -1


@dataclass(frozen=True, slots=True)
class TopicLayout:
    """Leaders by partition, NO_LEADER where there is none, and why topics could not be read in whole."""

    leaders: Mapping[TopicPartition, int] = field(default_factory=dict)
    failures: Mapping[str, Failure] = field(default_factory=dict)

    def partitions_of(self, topics: Collection[str]) -> frozenset[TopicPartition]:
        return frozenset(partition for partition in self.leaders if partition.topic in topics)

    def failure_among(self, topics: Collection[str]) -> Failure | None:
        return next((self.failures[topic] for topic in sorted(topics) if topic in self.failures), None)


async def read_layout(wire: KafkaWire, topics: Collection[str]) -> TopicLayout:
    """Ask any broker. Raises KafkaFailed when none answers; what concerns one topic is a failure in the layout."""
    wanted = [MetadataRequest.MetadataRequestTopic(name=topic) for topic in sorted(topics)]
    response = await wire.send(MetadataRequest(topics=wanted, allow_auto_topic_creation=False, min_version=4))
    wire.remember_brokers(response)
    return layout_of(response, topics)


def layout_of(response: Any, topics: Collection[str]) -> TopicLayout:
    """Read a MetadataResponse. A topic with a partition that nobody leads is known, and a failure besides."""
    leaders: dict[TopicPartition, int] = {}
    failures = {topic: unanswered(f"topic {topic}") for topic in topics}
    for topic in response.topics:
        if topic.error_code != Code.NONE:
            failures[topic.name] = topic_failure(topic.name, topic.error_code)
            continue
        failures.pop(topic.name, None)
        for partition in topic.partitions:
            leaders[TopicPartition(topic.name, partition.partition_index)] = partition.leader_id
            if partition.leader_id == NO_LEADER:
                message = f"partition {partition.partition_index} of topic {topic.name} has no leader now"
                failures[topic.name] = Failure(Reason.OBSERVATION_INCOMPLETE, message)
    return TopicLayout(leaders, failures)
