"""A cluster that answers kafka-python's requests from a few dictionaries, through the real encoding of each message."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from kafka.protocol.admin import DescribeConfigsResponse, DescribeGroupsResponse, ListGroupsResponse
from kafka.protocol.consumer import ListOffsetsResponse, OffsetFetchResponse
from kafka.protocol.consumer.metadata import ConsumerProtocolAssignment
from kafka.protocol.metadata import FindCoordinatorResponse, MetadataResponse

from slackwater.adapters.kafka.consumer_group_describe import ConsumerGroupDescribeResponse
from slackwater.adapters.kafka.errors import Code, KafkaUnreachable

CLASSIC, CONSUMER, SHARE = "classic", "consumer", "share"


@dataclass
class FakeGroup:
    type: str = CLASSIC
    state: str = "Stable"
    node_id: int = 1
    error_code: int = 0
    owned: dict[str, list[int]] = field(default_factory=dict)
    """Partitions of topic `orders` by instance id."""
    committed: dict[int, int] = field(default_factory=dict)
    settings: dict[str, str] = field(default_factory=dict)
    settings_error: int = 0


class FakeCluster:
    """Stands in for a KafkaWire. Partition p of every topic is led by broker p modulo the number of brokers."""

    def __init__(
        self,
        groups: dict[str, FakeGroup],
        *,
        topics: dict[str, int] | None = None,
        brokers: int = 1,
        start: int = 0,
    ) -> None:
        self.groups = groups
        self.start = start
        """The first record that every partition still has; each ends at 100."""
        self.topics = topics or {"orders": 4}
        self.nodes = list(range(1, brokers + 1))
        self.down: set[int] = set()
        self.requests: Counter[str] = Counter()
        self.asked: list[tuple[str, int | None, Any]] = []
        self.before: Callable[[str], None] = lambda name: None
        """Called with the API's name before each answer: the place to change the cluster in the middle of a pass."""
        self.remembered = 0

    async def send(self, request: Any, node_id: int | None = None) -> Any:
        name = type(request).__name__.removesuffix("Request")
        self.requests[name] += 1
        self.asked.append((name, node_id, request))
        self.before(name)
        if node_id in self.down or self.down.issuperset(self.nodes):
            raise KafkaUnreachable(f"broker {node_id} cannot be reached: connection refused")
        answer, version = getattr(self, f"_{name}")(request, node_id)
        return type(answer).decode(answer.encode(version=version), version=version)

    def remember_brokers(self, metadata: Any) -> None:
        self.remembered += 1

    async def close(self) -> None:
        return None

    def _Metadata(self, request: Any, node_id: int | None) -> tuple[Any, int]:  # noqa: N802 - named as the API
        row = MetadataResponse.MetadataResponseTopic
        brokers = [MetadataResponse.MetadataResponseBroker(node_id=n, host="kafka", port=9092) for n in self.nodes]
        topics = []
        for wanted in request.topics:
            if wanted.name not in self.topics:
                topics.append(row(name=wanted.name, error_code=Code.UNKNOWN_TOPIC_OR_PARTITION))
                continue
            partitions = [
                row.MetadataResponsePartition(partition_index=p, leader_id=self.leader(p))
                for p in range(self.topics[wanted.name])
            ]
            topics.append(row(name=wanted.name, partitions=partitions))
        return MetadataResponse(brokers=brokers, topics=topics), 12

    def leader(self, partition: int) -> int:
        return self.nodes[partition % len(self.nodes)]

    def _FindCoordinator(self, request: Any, node_id: int | None) -> tuple[Any, int]:  # noqa: N802
        rows = [
            FindCoordinatorResponse.Coordinator(key=key, node_id=self._group(key).node_id, host="kafka", port=9092)
            for key in request.coordinator_keys
        ]
        return FindCoordinatorResponse(coordinators=rows), 4

    def _DescribeGroups(self, request: Any, node_id: int | None) -> tuple[Any, int]:  # noqa: N802
        row = DescribeGroupsResponse.DescribedGroup
        rows = []
        for group_id in request.groups:
            group = self.groups.get(group_id)
            code = self._code(group, CLASSIC, node_id)
            if group is None or code:
                rows.append(row(group_id=group_id, error_code=code, group_state="Dead"))
                continue
            members = [
                row.DescribedGroupMember(
                    member_id=f"{instance_id}-uuid",
                    group_instance_id=instance_id,
                    client_id="rdkafka",
                    client_host="/10.0.0.1",
                    member_assignment=_encoded(partitions),
                )
                for instance_id, partitions in group.owned.items()
            ]
            rows.append(
                row(
                    group_id=group_id,
                    group_state=group.state,
                    protocol_type="consumer",
                    protocol_data="range",
                    members=members,
                )
            )
        return DescribeGroupsResponse(groups=rows), 6

    def _ConsumerGroupDescribe(self, request: Any, node_id: int | None) -> tuple[Any, int]:  # noqa: N802
        row = ConsumerGroupDescribeResponse.DescribedGroup
        rows = []
        for group_id in request.group_ids:
            group = self.groups.get(group_id)
            code = self._code(group, CONSUMER, node_id)
            if group is None or code:
                rows.append(row(group_id=group_id, error_code=code))
                continue
            members = [
                row.Member(
                    member_id=f"{instance_id}-uuid",
                    instance_id=instance_id,
                    member_epoch=7,
                    client_id="rdkafka",
                    client_host="/10.0.0.1",
                    assignment=_assignment(row.Member.Assignment, partitions),
                    target_assignment=_assignment(row.Member.Assignment, partitions),
                )
                for instance_id, partitions in group.owned.items()
            ]
            rows.append(
                row(
                    group_id=group_id,
                    group_state=group.state,
                    group_epoch=7,
                    assignment_epoch=7,
                    assignor_name="uniform",
                    members=members,
                )
            )
        return ConsumerGroupDescribeResponse(groups=rows), 1

    def _ListGroups(self, request: Any, node_id: int | None) -> tuple[Any, int]:  # noqa: N802
        rows = [
            ListGroupsResponse.ListedGroup(
                group_id=group_id, protocol_type="consumer", group_state=group.state, group_type=group.type
            )
            for group_id, group in self.groups.items()
            if group.node_id == node_id
        ]
        return ListGroupsResponse(groups=rows), 5

    def _OffsetFetch(self, request: Any, node_id: int | None) -> tuple[Any, int]:  # noqa: N802
        row = OffsetFetchResponse.OffsetFetchResponseGroup
        topic_row = row.OffsetFetchResponseTopics
        rows = []
        for wanted in request.groups:
            group = self._group(wanted.group_id)
            if group.error_code or group.node_id != node_id:
                rows.append(row(group_id=wanted.group_id, error_code=group.error_code or Code.NOT_COORDINATOR))
                continue
            topics = [
                topic_row(
                    name=topic.name,
                    partitions=[
                        topic_row.OffsetFetchResponsePartitions(
                            partition_index=index, committed_offset=group.committed.get(index, -1)
                        )
                        for index in topic.partition_indexes
                    ],
                )
                for topic in wanted.topics
            ]
            rows.append(row(group_id=wanted.group_id, topics=topics))
        return OffsetFetchResponse(groups=rows), 9

    def _ListOffsets(self, request: Any, node_id: int | None) -> tuple[Any, int]:  # noqa: N802
        row = ListOffsetsResponse.ListOffsetsTopicResponse
        topics = []
        for topic in request.topics:
            partitions = [
                row.ListOffsetsPartitionResponse(
                    partition_index=p.partition_index,
                    offset=100 if p.timestamp == -1 else self.start,
                    error_code=0 if self.leader(p.partition_index) == node_id else Code.NOT_LEADER,
                )
                for p in topic.partitions
            ]
            topics.append(row(name=topic.name, partitions=partitions))
        return ListOffsetsResponse(topics=topics), 8

    def _DescribeConfigs(self, request: Any, node_id: int | None) -> tuple[Any, int]:  # noqa: N802
        row = DescribeConfigsResponse.DescribeConfigsResult
        results = []
        for wanted in request.resources:
            group = self._group(wanted.resource_name)
            configs = [
                row.DescribeConfigsResourceResult(
                    name=name, value=group.settings.get(name, "45000"), config_source=8 if name in group.settings else 5
                )
                for name in wanted.configuration_keys
            ]
            code = group.settings_error
            results.append(
                row(
                    error_code=code,
                    resource_type=wanted.resource_type,
                    resource_name=wanted.resource_name,
                    configs=[] if code else configs,
                )
            )
        return DescribeConfigsResponse(results=results), 4

    def _group(self, group_id: str) -> FakeGroup:
        return self.groups.get(group_id, FakeGroup())

    def _code(self, group: FakeGroup | None, asked_as: str, node_id: int | None) -> int:
        if group is not None and group.node_id != node_id:
            return Code.NOT_COORDINATOR
        if group is None or group.type != asked_as:
            return Code.GROUP_ID_NOT_FOUND
        return group.error_code


def _encoded(partitions: list[int]) -> bytes:
    if not partitions:
        return b""
    row = ConsumerProtocolAssignment.TopicPartition
    assignment = ConsumerProtocolAssignment(assigned_partitions=[row(topic="orders", partitions=partitions)])
    return bytes(assignment.encode(version=0))


def _assignment(of_type: Any, partitions: list[int]) -> Any:
    row = of_type.TopicPartitions
    return of_type(topic_partitions=[row(topic_name="orders", partitions=partitions)] if partitions else [])
