"""The value of waiting, `Hold`, and the reasons that it speaks (`core/world/reasons`)."""

from __future__ import annotations

from dataclasses import dataclass

from slackwater.core.world.reasons import Facet, GateName, Reason

__all__ = ["Facet", "GateName", "Hold", "Reason", "waiting_for"]


@dataclass(frozen=True, slots=True)
class Hold:
    """Waiting, as a value: why, in a sentence for people, and when to look again at the latest."""

    reason: Reason
    message: str
    recheck_s: float = 5.0
    look_s: float | None = None
    """How old the look at Kafka may get meanwhile; None: as old as in any rollout."""
    awaited: bool = False
    """The sentence says for whom it waits (`waiting_for`)."""

    @property
    def in_an_event(self) -> str:
        """An Event has no heading that says that something waits, so its sentence does."""
        return self.message if self.awaited else f"waiting: {self.message}"


def waiting_for(reason: Reason, whom: str, recheck_s: float = 5.0) -> Hold:
    """A hold that ends when something comes which is under way: `waiting for pod payments-2 to be made`."""
    return Hold(reason, f"waiting for {whom}", recheck_s, awaited=True)
