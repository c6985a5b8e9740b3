"""A stretch of `__consumer_offsets` made by hand, record by record, and what the audit makes of it without Spark."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from slackwater.pipeline.audit.columns import Refused
from slackwater.pipeline.audit.fold import told
from slackwater.pipeline.audit.layouts import KeyType
from slackwater.pipeline.audit.rows import Generation, Rebalance, Stay
from tests.pipeline.audit.encoding import (
    ORDERS_ID,
    by_id,
    classic_group,
    consumer_member,
    key,
    value,
)

START_MS = 1_800_000_000_000
SECOND_MS = 1000


class Scene:
    """One group's records. Time stands still until `pass_s`: what is appended without it is one batch."""

    def __init__(self, group: str = "payments") -> None:
        self.group = group
        self.now_ms = START_MS
        self.records: list[tuple[int, int, int, bytes | None, bytes | None]] = []

    def append(self, key: bytes | None, value: bytes | None) -> None:
        self.records.append((0, len(self.records), self.now_ms, key, value))

    def pass_s(self, seconds: float = 1) -> None:
        self.now_ms += int(seconds * SECOND_MS)

    def tell(self, key_type: KeyType, values: Mapping[str, Any] | None, member: str = "", version: int = 0) -> None:
        """A record with those values, or a tombstone."""
        encoded = value(key_type, values, version) if values is not None else None
        self.append(key(key_type, self.group, member, "orders"), encoded)

    def generation(self, number: int, *members: dict[str, Any], **other: Any) -> None:
        """A classic generation, as Kafka 4.3 writes it, a second after what was before."""
        self.pass_s()
        self.tell(KeyType.CLASSIC_GROUP, classic_group(number, *members, **other), version=3)

    def joins(self, member: str, epoch: int, instance_id: str | None = None, **other: Any) -> None:
        """A member comes to a KIP-848 group."""
        self.pass_s()
        self.tell(KeyType.CONSUMER_GROUP_MEMBER, consumer_member(instance_id, **other), member)
        self.tell(KeyType.CONSUMER_GROUP_EPOCH, {"epoch": epoch})

    def leaves(self, member: str, epoch: int) -> None:
        self.pass_s()
        self._without(member)
        self.tell(KeyType.CONSUMER_GROUP_EPOCH, {"epoch": epoch})

    def returns(self, before: str, member: str, instance_id: str, *partitions: int) -> None:
        """A static member comes back: its old id goes and its new one gets the same target, without a new epoch."""
        self.pass_s()
        self._without(before)
        self.tell(KeyType.CONSUMER_GROUP_MEMBER, consumer_member(instance_id), member)
        self.tell(KeyType.MEMBER_TARGET, {"assigned": by_id(*partitions)}, member)

    def assigns(self, epoch: int, topic_id: str = ORDERS_ID, **targets: tuple[int, ...]) -> None:
        """The coordinator makes the assignment of that epoch."""
        for member, partitions in targets.items():
            self.tell(KeyType.MEMBER_TARGET, {"assigned": by_id(*partitions, topic_id=topic_id)}, member)
        self.tell(KeyType.TARGET_ASSIGNMENT, {"epoch": epoch})

    def owns(self, member: str, epoch: int, *partitions: int) -> None:
        """The member has caught up that far."""
        current = {"epoch": epoch, "previous_epoch": 0, "state": 0, "assigned": by_id(*partitions), "revoking": []}
        self.tell(KeyType.MEMBER_CURRENT, current, member)

    def commits(self, topic: str = "orders", topic_id: str = ORDERS_ID) -> None:
        commit = {"offset": 1, "leader_epoch": 0, "metadata": "", "committed_at_ms": 1, "topic_id": topic_id}
        self.append(
            key(KeyType.OFFSET_COMMIT, self.group, topic=topic), value(KeyType.OFFSET_COMMIT, commit, version=4)
        )

    def generations(self) -> list[Generation]:
        return [row for row in self._rows() if isinstance(row, Generation)]

    def rebalances(self) -> list[Rebalance]:
        return sorted((row for row in self._rows() if isinstance(row, Rebalance)), key=lambda row: row.position.offset)

    def stays(self) -> list[Stay]:
        return [row for row in self._rows() if isinstance(row, Stay)]

    def refused(self) -> list[Refused]:
        return [row for row in self._rows() if isinstance(row, Refused)]

    def told_of(self, what: Callable[[Rebalance], Any]) -> list[Any]:
        """One thing of every rebalance."""
        return [what(rebalance) for rebalance in self.rebalances()]

    def _rows(self) -> list[Any]:
        names = key(KeyType.OFFSET_COMMIT, self.group)[:2]
        turns = [(int(record[3] is None or record[3][:2] != names), *record) for record in self.records]
        ordered = sorted(turns, key=lambda record: (record[0], record[2]))
        return [row for _, row in told((self.group.encode(), *record) for record in ordered)]

    def _without(self, member: str) -> None:
        for key_type in (KeyType.MEMBER_CURRENT, KeyType.MEMBER_TARGET, KeyType.CONSUMER_GROUP_MEMBER):
            self.tell(key_type, None, member)
