"""Why a group had to wait: `gate_held` events, when a reason begins to hold and when it ends.

A hold that an operator finds at its start began at a time that it cannot know, and so it leaves it alone.
"""

from __future__ import annotations

from dataclasses import dataclass

from slackwater.api.telemetry.bodies import GateHeld
from slackwater.api.telemetry.events import GateHeldEvent
from slackwater.api.telemetry.words import EventType
from slackwater.core.decision.reasons import Hold, Reason
from slackwater.core.telemetry.sight import Sight


@dataclass(frozen=True, slots=True)
class Holds:
    watched: bool = False
    """There was a sight before."""
    hold: Hold | None = None
    """What holds, as it was when its reason began to."""
    since: float | None = None
    """None: it was found holding."""


def follow_holds(holds: Holds, sight: Sight) -> tuple[Holds, tuple[GateHeldEvent, ...]]:
    """Fold one more sight in."""
    before, hold, now = holds.hold, sight.decided.hold, sight.world.now
    if _reason(hold) is _reason(before) and holds.watched:
        return holds, ()
    events = []
    if before is not None and holds.since is not None:
        events.append(_event(sight, before, holds.since, now))
    since = now if holds.watched else None
    if hold is not None and since is not None:
        events.append(_event(sight, hold, since, None))
    return Holds(watched=True, hold=hold, since=since), tuple(events)


def _reason(hold: Hold | None) -> Reason | None:
    return hold.reason if hold is not None else None


def _event(sight: Sight, hold: Hold, since: float, until: float | None) -> GateHeldEvent:
    reason = hold.reason.value
    body = GateHeld(
        reason=reason,
        message=hold.message,
        since=since,
        until=until,
        held_s=max(0.0, (until if until is not None else since) - since),
    )
    which = "begun" if until is None else "ended"
    return GateHeldEvent(**sight.envelope("gate_held", reason, since, which), type=EventType.GATE_HELD, gate_held=body)
