"""The rebalance protocol that a group is to have."""

from __future__ import annotations

from enum import StrEnum

from slackwater.api.model import ApiModel, Flag


class ProtocolTarget(StrEnum):
    """How the group is to rebalance."""

    EAGER = "Eager"
    COOPERATIVE = "Cooperative"
    CONSUMER = "Consumer"


class Protocol(ApiModel):
    target: ProtocolTarget | None = None
    """How the group is to rebalance: Eager, Cooperative, or Consumer (KIP-848). The operator takes a running group
    there step by step. When not given, the consumers' own choice of assignor is left alone."""
    allow_downtime: Flag = False
    """Accept an upgrade that stops all consumers for a while, where the client library knows no other way."""
