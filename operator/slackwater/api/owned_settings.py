"""The client settings that the operator writes into pods, and so nobody else may (F7: the set goes together).

A property reaches the consumer as an environment variable: the group's `envPrefix`, then the property in capitals.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Final


class OwnedSetting(StrEnum):
    """What the operator sets; the value is the end of the variable's name."""

    BOOTSTRAP_SERVERS = "BOOTSTRAP_SERVERS"
    GROUP_ID = "GROUP_ID"
    GROUP_INSTANCE_ID = "GROUP_INSTANCE_ID"
    GROUP_PROTOCOL = "GROUP_PROTOCOL"
    GROUP_REMOTE_ASSIGNOR = "GROUP_REMOTE_ASSIGNOR"
    HEARTBEAT_INTERVAL_MS = "HEARTBEAT_INTERVAL_MS"
    MAX_POLL_INTERVAL_MS = "MAX_POLL_INTERVAL_MS"
    MAX_POLL_RECORDS = "MAX_POLL_RECORDS"
    PARTITION_ASSIGNMENT_STRATEGY = "PARTITION_ASSIGNMENT_STRATEGY"
    SESSION_TIMEOUT_MS = "SESSION_TIMEOUT_MS"
    UPGRADE_FROM = "UPGRADE_FROM"

    def variable(self, env_prefix: str) -> str:
        """The environment variable's full name, for example `KAFKA_GROUP_ID`."""
        return f"{env_prefix}{self.value}"

    @property
    def whose(self) -> str:
        """Why nobody else may set it, and where people say instead what the operator is to set."""
        if self is OwnedSetting.GROUP_REMOTE_ASSIGNOR:
            return "the broker chooses the assignor of a KIP-848 group"
        return f"the operator sets it from {_SOURCES[self]}"


_SOURCES: Final = {
    OwnedSetting.BOOTSTRAP_SERVERS: "the KafkaConnection",
    OwnedSetting.GROUP_ID: "spec.groupId",
    OwnedSetting.GROUP_INSTANCE_ID: "the ConsumerGroup's name and the pod's ordinal",
    OwnedSetting.GROUP_PROTOCOL: "spec.protocol.target",
    OwnedSetting.HEARTBEAT_INTERVAL_MS: "spec.timeouts.heartbeat",
    OwnedSetting.MAX_POLL_INTERVAL_MS: "spec.timeouts.maxPollInterval",
    OwnedSetting.MAX_POLL_RECORDS: "spec.timeouts.maxPollRecords",
    OwnedSetting.PARTITION_ASSIGNMENT_STRATEGY: "spec.protocol.target",
    OwnedSetting.SESSION_TIMEOUT_MS: "spec.timeouts.session",
    OwnedSetting.UPGRADE_FROM: "spec.protocol.upgradeFrom",
}
