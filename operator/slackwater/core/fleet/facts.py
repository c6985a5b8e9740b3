"""What is known of a group, as far as fleets ask."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from slackwater.api.fleet_budgets import MoveReason
from slackwater.core.fleet.claim import Standing


@dataclass(frozen=True, slots=True)
class GroupFacts:
    namespace: str
    name: str
    uid: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)
    replicas: int = 1
    topics: frozenset[str] = frozenset()
    cluster: str | None = None
    """The id that the brokers tell; None: they have not yet."""
    coordinator: int | None = None
    """The broker that coordinates the group; None: not known."""
    standing: Standing = Standing.RESTS
    reason: MoveReason = MoveReason.ROLLOUT
    """What it asks for its turn for, or has it for."""
    asked_at: float = 0.0
    is_urgent: bool = False
    is_a_fix: bool = False
    """Its last version failed, and it asks for the next one: no halt keeps it from that."""
    is_moving: bool = False
    counts_until: float = 0.0

    @property
    def key(self) -> str:
        return f"{self.namespace}/{self.name}"
