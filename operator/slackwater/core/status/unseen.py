"""What a group waits for that no rollout asks for: what is not done in Kafka before a pod of ours was seen there."""

from __future__ import annotations

from slackwater.api.annotations import FORCE, RESTART
from slackwater.core.decision.acts import kind_of
from slackwater.core.decision.reasons import Reason
from slackwater.core.decision.words import by_command
from slackwater.core.upkeep import not_done
from slackwater.core.world.world import World


def what_waits(world: World) -> tuple[Reason, str] | None:
    if refused := world.defaults_refused:
        return Reason.DEFAULTS_REFUSED, refused
    return (Reason.NOT_SEEN_IN_GROUP, unseen) if (unseen := waits_to_see_a_pod(world)) else None


def waits_to_see_a_pod(world: World) -> str:
    """Empty where nothing does."""
    act = not_done(world)
    if act is None:
        return ""
    return (
        "no pod of this ConsumerGroup was seen in its group in Kafka yet, so the operator does not"
        f" {kind_of(act)} there; it does once a pod joins while it looks: {by_command(RESTART, world.group.name)},"
        f" and where a gate holds that, {by_command(FORCE, world.group.name)}"
    )
