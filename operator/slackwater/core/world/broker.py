"""What the brokers of one cluster can do and allow, as they said themselves. None always means "not known".

Values only. Protocol upgrades are judged by it before anything is touched, and timeouts are held within what the
brokers allow.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class MigrationPolicy(StrEnum):
    """Kafka's own words for `group.consumer.migration.policy`: which way a group may change its type online."""

    BIDIRECTIONAL = "bidirectional"
    UPGRADE = "upgrade"
    DOWNGRADE = "downgrade"
    DISABLED = "disabled"


@dataclass(frozen=True, slots=True)
class Bounds:
    """The lowest and the highest value that the brokers take, both included, in milliseconds."""

    min_ms: int
    max_ms: int

    def clamp(self, value_ms: int) -> int:
        """The nearest value that is allowed."""
        return max(self.min_ms, min(self.max_ms, value_ms))


@dataclass(frozen=True, slots=True)
class BrokerFacts:
    read_at: float
    """Seconds since the epoch on the operator's clock, taken when the requests began."""
    serves_consumer_protocol: bool
    """Every broker offers ConsumerGroupHeartbeat (KIP-848): a group's coordinator may be any of them."""
    group_version: int
    """The cluster's finalized feature `group.version`: KIP-848 groups need 1. 0 when it is not finalized (F6)."""
    migration_policy: MigrationPolicy | None = None
    classic_session: Bounds | None = None
    consumer_session: Bounds | None = None
    consumer_heartbeat: Bounds | None = None
    problem: str = ""
    """Why something could not be read, and what would help; empty when all was read."""
