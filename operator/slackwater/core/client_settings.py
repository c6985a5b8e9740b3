"""Client settings, in the words of each library, as environment variables of the consumer's container.

Which protocols a set is made for is one choice (F7): classic settings and KIP-848 settings are never mixed.
"""

from __future__ import annotations

from typing import Any, Final

from slackwater.api.client import Library
from slackwater.api.consumer_group import Membership
from slackwater.api.owned_settings import OwnedSetting
from slackwater.api.protocol import ProtocolTarget
from slackwater.api.resources import ConsumerGroup

_JAVA: Final = "org.apache.kafka.clients.consumer."
_ASSIGNORS: Final = {
    (Library.JAVA, ProtocolTarget.EAGER): f"{_JAVA}RangeAssignor",
    (Library.JAVA, ProtocolTarget.COOPERATIVE): f"{_JAVA}CooperativeStickyAssignor",
    (Library.LIBRDKAFKA, ProtocolTarget.EAGER): "range",
    (Library.LIBRDKAFKA, ProtocolTarget.COOPERATIVE): "cooperative-sticky",
    (Library.FRANZ_GO, ProtocolTarget.EAGER): "range",
    (Library.FRANZ_GO, ProtocolTarget.COOPERATIVE): "cooperative-sticky",
}
"""Kafka Streams brings its own assignor; of other libraries nothing is known."""
_KNOW_MAX_POLL_RECORDS: Final = (Library.JAVA, Library.KAFKA_STREAMS)
"""librdkafka refuses to start with it."""


def settings(group: ConsumerGroup, bootstrap_servers: str, protocol: str) -> list[dict[str, Any]]:
    """Environment variables, in a fixed order: the same group gives the same list, or pods would restart for nothing.

    `protocol` is a ProtocolTarget's value, or empty when the consumers choose for themselves.
    """
    prefix = group.spec.client.env_prefix
    variables: list[dict[str, Any]] = [
        {"name": name.variable(prefix), "value": value}
        for name, value in _values(group, bootstrap_servers, protocol).items()
    ]
    if group.spec.membership is Membership.STATIC:
        name = OwnedSetting.GROUP_INSTANCE_ID.variable(prefix)
        variables.append({"name": name, "valueFrom": {"fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.name"}}})
    return variables


def _values(group: ConsumerGroup, bootstrap_servers: str, protocol: str) -> dict[OwnedSetting, str]:
    timeouts, library = group.spec.timeouts, group.spec.client.library
    values = {
        OwnedSetting.BOOTSTRAP_SERVERS: bootstrap_servers,
        OwnedSetting.GROUP_ID: group.group_id,
        OwnedSetting.MAX_POLL_INTERVAL_MS: str(timeouts.max_poll_interval_ms),
    }
    if timeouts.max_poll_records is not None and library in _KNOW_MAX_POLL_RECORDS:
        values[OwnedSetting.MAX_POLL_RECORDS] = str(timeouts.max_poll_records)
    if protocol == ProtocolTarget.CONSUMER:
        return values | {OwnedSetting.GROUP_PROTOCOL: "consumer"}
    values[OwnedSetting.SESSION_TIMEOUT_MS] = str(timeouts.classic_session_timeout_ms)
    values[OwnedSetting.HEARTBEAT_INTERVAL_MS] = str(timeouts.classic_heartbeat_interval_ms)
    if protocol and (assignor := _ASSIGNORS.get((library, ProtocolTarget(protocol)))):
        values[OwnedSetting.PARTITION_ASSIGNMENT_STRATEGY] = assignor
    return values
