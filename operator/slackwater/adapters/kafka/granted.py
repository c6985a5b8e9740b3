"""What the connection's Kafka user may do with groups, as the brokers themselves say it (KIP-430)."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Collection, Mapping
from enum import IntEnum
from typing import Any

from kafka.protocol.admin import DescribeGroupsRequest
from kafka.protocol.metadata import ApiVersionsRequest

from slackwater.adapters.kafka.coordinators import Coordinators
from slackwater.adapters.kafka.errors import Code, Failure, KafkaFailed, group_failure, unanswered
from slackwater.adapters.kafka.wire import KafkaWire


class Operation(IntEnum):
    """Kafka's codes for what an ACL grants, as far as groups know them."""

    READ = 3
    DELETE = 6
    DESCRIBE = 8
    DESCRIBE_CONFIGS = 10
    ALTER_CONFIGS = 11


Granted = frozenset[Operation] | Failure


async def read_granted(wire: KafkaWire, group_ids: Collection[str]) -> dict[str, Granted]:
    """For each group, whether or not anybody ever joined it. Never raises."""
    by_node: defaultdict[int, list[str]] = defaultdict(list)
    granted: dict[str, Granted] = {}
    for group_id, node in (await Coordinators(wire).find(group_ids)).items() if group_ids else ():
        if isinstance(node, Failure):
            granted[group_id] = node
        else:
            by_node[node].append(group_id)
    for answers in await asyncio.gather(*(_ask(wire, node, of) for node, of in by_node.items())):
        granted |= answers
    return granted


async def _ask(wire: KafkaWire, node_id: int, group_ids: list[str]) -> Mapping[str, Granted]:
    # Up to version 5 a group that is not there, or is no classic one, is no error, and so its rights are told as well.
    request = DescribeGroupsRequest(groups=group_ids, include_authorized_operations=True, min_version=3, max_version=5)
    try:
        response = await wire.send(request, node_id)
    except KafkaFailed as error:
        return dict.fromkeys(group_ids, error.failure)
    found = granted_in(response)
    return {group_id: found.get(group_id, unanswered(f"group {group_id}")) for group_id in group_ids}


def granted_in(response: Any) -> dict[str, Granted]:
    """Read a DescribeGroupsResponse that was asked for the rights."""
    return {group.group_id: _granted(group) for group in response.groups}


def _granted(group: Any) -> Granted:
    if group.error_code != Code.NONE:
        return group_failure(group.group_id, group.error_code)
    codes = group.authorized_operations  # kafka-python makes a set of the bits, and None of what is not told
    if codes is None:
        return unanswered(f"what may be done with group {group.group_id}")
    return frozenset(operation for operation in Operation if operation in codes)


async def read_features(wire: KafkaWire) -> dict[str, int]:
    """The features that the cluster has finalized, and their levels. Raises KafkaFailed."""
    request = ApiVersionsRequest(client_software_name="slackwater", client_software_version="0", max_version=3)
    response = await wire.send(request)
    return {feature.name: feature.max_version_level for feature in response.finalized_features or ()}
