"""The value of waiting, `Hold`, and the reasons that it speaks (`core/world/reasons`)."""

from __future__ import annotations

from dataclasses import dataclass

from slackwater.core.world.reasons import Facet, GateName, Reason

__all__ = ["Facet", "GateName", "Hold", "Reason"]


@dataclass(frozen=True, slots=True)
class Hold:
    """Waiting, as a value: why, in a sentence for people, and when to look again at the latest."""

    reason: Reason
    message: str
    recheck_s: float = 5.0
    look_s: float | None = None
    """How old the look at Kafka may get meanwhile; None: as old as in any rollout."""
