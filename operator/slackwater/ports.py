"""What the shell needs from the world outside, as protocols: adapters implement them, tests fake them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Protocol

from slackwater.core.observation import KafkaView

Json = dict[str, Any]


class Clock(Protocol):
    def now(self) -> float:
        """Seconds since the epoch."""
        ...


class GroupReader(Protocol):
    """Reads many groups of one Kafka cluster in requests per coordinator or leader, not per group."""

    async def observe(self, topics_by_group: Mapping[str, frozenset[str]]) -> Mapping[str, KafkaView]:
        """One view for each group asked for. Never raises for what Kafka does: failures are `Unobserved`."""
        ...

    async def close(self) -> None: ...


class GroupAdmin(Protocol):
    """Changes groups of one Kafka cluster. Every call is safe to repeat."""

    async def remove_members(self, group_id: str, instance_ids: Collection[str]) -> Collection[str]:
        """Remove static members by instance id; returns the ids that were there. Raises `KafkaUnreachable`."""
        ...

    async def delete_group(self, group_id: str) -> None:
        """Delete an empty group with its offsets; a group that is not there is fine. Raises `KafkaUnreachable`."""
        ...
