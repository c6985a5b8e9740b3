"""Why a group had to wait: `gate_held` events, when a reason begins to hold and when it ends.

A hold that an operator finds at its start began at a time that it cannot know, and so it leaves it alone.
"""

from __future__ import annotations

from dataclasses import dataclass

from slackwater.api.telemetry.bodies import GateHeld
from slackwater.api.telemetry.events import GateHeldEvent
from slackwater.api.telemetry.words import EventType
from slackwater.core.telemetry.sight import Sight


@dataclass(frozen=True, slots=True)
class Holds:
    watched: bool = False
    """There was a sight before."""
    reason: str = ""
    """What holds; empty: nothing does."""
    message: str = ""
    since: float | None = None
    """None: it was found holding."""


def follow_holds(holds: Holds, sight: Sight) -> tuple[Holds, tuple[GateHeldEvent, ...]]:
    """Fold one more sight in."""
    hold, now = sight.decided.hold, sight.world.now
    reason = str(hold.reason) if hold is not None else ""
    if reason == holds.reason and holds.watched:
        return holds, ()
    events = []
    if holds.reason and holds.since is not None:
        events.append(_event(sight, holds, holds.since, now))
    since = now if holds.watched else None
    following = Holds(watched=True, reason=reason, message=hold.message if hold is not None else "", since=since)
    if reason and since is not None:
        events.append(_event(sight, following, since, None))
    return following, tuple(events)


def _event(sight: Sight, holds: Holds, since: float, until: float | None) -> GateHeldEvent:
    body = GateHeld(
        reason=holds.reason,
        message=holds.message,
        since=since,
        until=until,
        held_s=max(0.0, (until if until is not None else since) - since),
    )
    which = "begun" if until is None else "ended"
    return GateHeldEvent(
        **sight.envelope("gate_held", holds.reason, since, which), type=EventType.GATE_HELD, gate_held=body
    )
