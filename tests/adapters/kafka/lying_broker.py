"""A server on loopback that answers as a broker does, and in one thing as much as a client reads of one answer."""

from __future__ import annotations

import socketserver
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from functools import cached_property
from typing import Any, Final

from kafka.protocol.admin import (
    DescribeConfigsRequest,
    DescribeConfigsResponse,
    DescribeGroupsRequest,
    DescribeGroupsResponse,
)
from kafka.protocol.consumer import ListOffsetsRequest, ListOffsetsResponse, OffsetFetchRequest, OffsetFetchResponse
from kafka.protocol.metadata import (
    ApiVersionsRequest,
    ApiVersionsResponse,
    FindCoordinatorRequest,
    FindCoordinatorResponse,
    MetadataRequest,
    MetadataResponse,
)

from slackwater.adapters.kafka.consumer_group_describe import (
    ConsumerGroupDescribeRequest,
    ConsumerGroupDescribeResponse,
)

_NEWEST: Final = {
    ApiVersionsRequest: 0,
    MetadataRequest: 4,
    FindCoordinatorRequest: 4,
    DescribeGroupsRequest: 0,
    OffsetFetchRequest: 8,
    ListOffsetsRequest: 1,
    DescribeConfigsRequest: 1,
    ConsumerGroupDescribeRequest: 0,
}
_FLEXIBLE: Final = (FindCoordinatorRequest, OffsetFetchRequest, ConsumerGroupDescribeRequest)
_BY_KEY: Final = {each.API_KEY: each for each in _NEWEST}
_UNSUPPORTED_VERSION: Final = 35
SIZE: Final = 3_800_000
"""Bytes, somewhat less than are read."""
_LONG: Final = "x" * 30_000 + "\U0001f600"
"""One character for which Python keeps four bytes of each."""
_SET_FOR_THE_GROUP: Final = 8
_LISTED: Final = 20
"""Brokers of one port."""


class Lie(StrEnum):
    PARTITIONS = "partitions"
    """Of the topic that is asked for."""
    MEMBERS = "members"
    ASSIGNMENT = "assignment"
    """Of one member."""
    BROKERS = "brokers"
    POLICIES = "policies"
    """Many brokers on one port, each with settings that nobody asked for, and a policy of its own without an end."""
    SETTINGS = "settings"
    """Of a group: those that are asked for, without an end, and others."""
    NULL = "null"
    """For the host of a KIP-848 group's member, where the protocol has none."""


class LyingBroker:
    def __init__(self, lie: Lie, size: int) -> None:
        self.lie = lie
        self.size = size
        self.port = 0
        self.sent: list[bytes] = []
        self._answers: dict[tuple[Any, bytes], bytes] = {}
        """To what was asked before: a long one takes seconds to be encoded."""

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    def answer(self, kind: Any, version: int, body: bytes) -> bytes:
        if (kind, body) not in self._answers:
            self._answers[kind, body] = self._encoded(kind, version, body)
        self.sent.append(self._answers[kind, body])
        return self._answers[kind, body]

    def _encoded(self, kind: Any, version: int, body: bytes) -> bytes:
        if kind is ApiVersionsRequest:
            rows = [
                ApiVersionsResponse.ApiVersion(api_key=each.API_KEY, min_version=0, max_version=newest)
                for each, newest in _NEWEST.items()
            ]
            code = _UNSUPPORTED_VERSION if version > 0 else 0
            return bytes(ApiVersionsResponse(error_code=code, api_keys=rows).encode(version=0))
        asked: Any = kind.decode(body, version=version)
        answers: dict[Any, Callable[[Any], Any]] = {
            MetadataRequest: self._metadata,
            FindCoordinatorRequest: self._coordinators,
            DescribeGroupsRequest: self._groups,
            OffsetFetchRequest: _committed,
            ListOffsetsRequest: _ends,
            DescribeConfigsRequest: self._configs,
            ConsumerGroupDescribeRequest: _consumer_groups,
        }
        return bytes(answers[kind](asked).encode(version=version))

    def _metadata(self, asked: Any) -> Any:
        row = MetadataResponse.MetadataResponseTopic
        partitions = self._partitions if self.lie is Lie.PARTITIONS else self._partitions[:1]
        topics = [row(name=each.name, partitions=partitions) for each in asked.topics or ()]
        return MetadataResponse(brokers=self._brokers, cluster_id="liars", controller_id=1, topics=topics)

    @cached_property
    def _brokers(self) -> list[Any]:
        """Where there are many, the others do not answer."""
        row = MetadataResponse.MetadataResponseBroker
        others = range(2, 3_000) if self.lie is Lie.BROKERS else ()
        ours = row(node_id=1, host="127.0.0.1", port=self.port)
        if self.lie is Lie.POLICIES:
            return [row(node_id=each, host="127.0.0.1", port=self.port) for each in range(1, _LISTED + 1)]
        return [ours, *(row(node_id=each, host=f"127.0.0.{each % 250 + 1}", port=1) for each in others)]

    @cached_property
    def _partitions(self) -> list[Any]:
        row = MetadataResponse.MetadataResponseTopic.MetadataResponsePartition
        return [
            row(partition_index=number, leader_id=1, replica_nodes=[], isr_nodes=[])
            for number in range(self.size // 18)
        ]

    def _coordinators(self, asked: Any) -> Any:
        row = FindCoordinatorResponse.Coordinator
        found = [row(key=key, node_id=1, host="127.0.0.1", port=self.port) for key in asked.coordinator_keys]
        return FindCoordinatorResponse(coordinators=found)

    def _groups(self, asked: Any) -> Any:
        row = DescribeGroupsResponse.DescribedGroup
        state = "Dead" if self.lie is Lie.NULL else "Stable" if self._members else "Empty"
        groups = [
            row(
                group_id=each,
                group_state=state,
                protocol_type="consumer",
                protocol_data="range",
                members=self._members,
            )
            for each in asked.groups
        ]
        return DescribeGroupsResponse(groups=groups)

    def _configs(self, asked: Any) -> Any:
        lies = self.lie in (Lie.POLICIES, Lie.SETTINGS)
        return DescribeConfigsResponse(results=[self._configs_of(each) for each in asked.resources if lies])

    def _configs_of(self, asked: Any) -> Any:
        """Those that were asked for are the last ones; each broker has a policy of its own."""
        kind = DescribeConfigsResponse.DescribeConfigsResult
        names = [*(f"other.{number}" for number in range(self.size // len(_LONG))), *asked.configuration_keys]
        configs = [
            kind.DescribeConfigsResourceResult(
                name=name, value=f"{asked.resource_name}{_LONG}", config_source=_SET_FOR_THE_GROUP
            )
            for name in names
        ]
        return kind(resource_type=asked.resource_type, resource_name=asked.resource_name, configs=configs)

    @cached_property
    def _members(self) -> list[Any]:
        row = DescribeGroupsResponse.DescribedGroup.DescribedGroupMember
        if self.lie is Lie.MEMBERS:
            return [row(member_id=f"{number:08}", client_id="", client_host="") for number in range(self.size // 22)]
        if self.lie is not Lie.ASSIGNMENT:
            return []
        count = self.size // 4
        numbers = struct.pack(f">i{count}i", count, *range(count))
        assignment = struct.pack(">hih", 0, 1, 1) + b"t" + numbers + struct.pack(">i", -1)
        return [row(member_id="m", client_id="c", client_host="/127.0.0.1", member_assignment=assignment)]


def _consumer_groups(asked: Any) -> Any:
    row = ConsumerGroupDescribeResponse.DescribedGroup
    nothing = row.Member.Assignment(topic_partitions=[])
    member = row.Member(member_id="m", client_id="c", client_host=None, assignment=nothing, target_assignment=nothing)
    groups = [row(group_id=each, group_state="Stable", members=[member]) for each in asked.group_ids]
    return ConsumerGroupDescribeResponse(groups=groups)


def _committed(asked: Any) -> Any:
    group = OffsetFetchResponse.OffsetFetchResponseGroup
    topic = group.OffsetFetchResponseTopics
    row = topic.OffsetFetchResponsePartitions
    groups = [
        group(
            group_id=each.group_id,
            topics=[
                topic(
                    name=one.name,
                    partitions=[row(partition_index=number, committed_offset=5) for number in one.partition_indexes],
                )
                for one in each.topics
            ],
        )
        for each in asked.groups
    ]
    return OffsetFetchResponse(groups=groups)


def _ends(asked: Any) -> Any:
    topic = ListOffsetsResponse.ListOffsetsTopicResponse
    row = topic.ListOffsetsPartitionResponse
    topics = [
        topic(
            name=each.name,
            partitions=[row(partition_index=one.partition_index, offset=5, timestamp=-1) for one in each.partitions],
        )
        for each in asked.topics
    ]
    return ListOffsetsResponse(topics=topics)


@contextmanager
def lying_broker(lie: Lie, size: int = SIZE) -> Iterator[LyingBroker]:
    broker = LyingBroker(lie, size)

    class Handler(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            while len(length := self.rfile.read(4)) == 4:
                request = self.rfile.read(struct.unpack(">i", length)[0])
                api_key, version, correlation_id, client_id_length = struct.unpack(">hhih", request[:10])
                kind, body = _BY_KEY[api_key], request[10 + max(0, client_id_length) :]
                tags = b"\0" if kind in _FLEXIBLE else b""
                answer = tags + broker.answer(kind, version, body[len(tags) :])
                try:
                    self.wfile.write(struct.pack(">ii", 4 + len(answer), correlation_id) + answer)
                except OSError:  # it has read enough
                    return

    class Server(socketserver.ThreadingTCPServer):
        daemon_threads = True
        request_queue_size = 512

    with Server(("127.0.0.1", 0), Handler) as server:
        broker.port = server.server_address[1]
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.005}, daemon=True).start()
        try:
            yield broker
        finally:
            server.shutdown()
