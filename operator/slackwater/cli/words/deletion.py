"""What is decided about a group, also about one that is being deleted: that one only waits to go. Pure."""

from __future__ import annotations

from typing import Final

from slackwater.cli.words.conditions import conditions_of
from slackwater.core.decision.decision import Decision
from slackwater.core.decision.reasons import Hold, Reason
from slackwater.core.plan import plan
from slackwater.core.world.world import World

ITS_ORDER: Final = "its pods end first, then its members are taken out of the group in Kafka"


def decide(world: World) -> Decision:
    """The plan, which is made for groups that are to stay; else what the operator says that the deletion waits for."""
    return Decision(world.memory, hold=_hold(world)) if world.group.metadata.is_being_deleted else plan(world)


def _hold(world: World) -> Hold:
    """It says so only where it waits for something that somebody may have to do something about."""
    said = world.group.status.get("phase") == "Deleting"
    found = next((c for c in conditions_of(world) if c["type"] == "Degraded" and c["status"] == "True"), None)
    reason = Reason.parse(found.get("reason")) if found is not None and said else None
    if found is None or reason is None:
        return Hold(Reason.DRAINING, ITS_ORDER)
    return Hold(reason, str(found.get("message") or ""))
