"""The client settings that the operator writes into pods, and so nobody else may (F7: the set goes together).

A property reaches the consumer as an environment variable: the group's `envPrefix`, then the name below.
"""

from __future__ import annotations

from enum import StrEnum


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

    def variable(self, env_prefix: str) -> str:
        """The environment variable's full name, for example `KAFKA_GROUP_ID`."""
        return f"{env_prefix}{self.value}"
