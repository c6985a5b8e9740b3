"""What the shell needs from the world outside, as protocols: adapters implement them, tests fake them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Protocol

from slackwater.core.world.observation import KafkaView, MemberRef

Json = dict[str, Any]


class Clock(Protocol):
    def now(self) -> float:
        """Seconds since the epoch."""
        ...


class GroupReader(Protocol):
    """Reads many groups of one Kafka cluster in requests per coordinator or leader, not per group."""

    async def observe(
        self, topics_by_group: Mapping[str, frozenset[str]], settings_of: Collection[str] = ()
    ) -> Mapping[str, KafkaView]:
        """One view for each group asked for, with their own settings for those in `settings_of`.

        Never raises for what Kafka does: failures are `Unobserved`.
        """
        ...

    async def close(self) -> None: ...


class GroupAdmin(Protocol):
    """Changes groups of one Kafka cluster. Every call is safe to repeat.

    Members are named by both their ids: who has taken an instance id over since is never touched. All raise
    `KafkaUnreachable` and `KafkaRefused`.
    """

    async def remove_members(self, group_id: str, members: Collection[MemberRef]) -> Collection[str]:
        """Remove static members; returns the instance ids of those that were there."""
        ...

    async def release_members(self, group_id: str, members: Collection[MemberRef]) -> Collection[str]:
        """Let successors of dead static members of a KIP-848 group join at once, and move no partition.

        Returns the instance ids of those that were there.
        """
        ...

    async def alter_group_settings(self, group_id: str, values: Mapping[str, str | None]) -> None:
        """Set the group's own settings, all or none; None gives a setting back to the brokers."""
        ...

    async def delete_group(self, group_id: str) -> None:
        """Delete an empty group with its offsets; a group that is not there is fine."""
        ...
