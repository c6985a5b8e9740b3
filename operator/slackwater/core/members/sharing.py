"""Which ConsumerGroups share one group in Kafka, which of them has it, and how people are told."""

from __future__ import annotations

from collections.abc import Sequence

from slackwater.api.conditions import ConditionStatus, ConditionType
from slackwater.core.decision.reasons import Reason
from slackwater.core.decision.words import listing
from slackwater.core.world.world import World


def sharers_in_words(world: World, *, running: bool = False) -> str:
    """Which other ConsumerGroups have the same group in Kafka; empty where none is known to. `running`: with pods."""
    known = [str(claim) for claim in world.claims if claim.certain and (claim.runs or not running)]
    return claimants_in_words(known) if known else ""


def who_has_the_group(world: World) -> str:
    """The oldest ConsumerGroups known to share the group in Kafka and made before this one; empty: this one has it."""
    known = [str(claim) for claim in world.claims if claim.certain and claim.older]
    return claimants_in_words(known) if known else ""


def said_of_sharing(world: World, kind: ConditionType) -> str:
    """What the condition says of it since an earlier pass, perhaps of another process; empty where it does not."""
    conditions = world.group.status.get("conditions")
    for each in conditions if isinstance(conditions, list) else ():
        if not isinstance(each, dict) or each.get("type") != kind:
            continue
        if (each.get("status"), each.get("reason")) == (ConditionStatus.TRUE, Reason.GROUP_ID_SHARED):
            return str(each.get("message"))
    return ""


def claimants_in_words(names: Sequence[str]) -> str:
    one = len(names) == 1
    return (
        f"{'ConsumerGroup' if one else 'ConsumerGroups'} {listing(names)} {'has' if one else 'have'} the same groupId"
    )
