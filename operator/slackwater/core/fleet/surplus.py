"""Whether a namespace has more ConsumerFleets than count, as whoever reads the objects can tell.

The operator's setting is its own: where it has said of a fleet that it is one too many, its word counts.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

from slackwater.api.consumer_fleet_status import FleetConditionType
from slackwater.core.fleet.reasons import FleetReason
from slackwater.core.fleet.seen import FleetSeen

MOST: Final = 20
"""All that select a group have to agree before it begins: a namespace has one, as a rule."""


class Surplus(NamedTuple):
    """While it is so, nothing begins in the namespace."""

    namespace: str
    fleets: int
    counting: int
    """So many of them do, the oldest."""
    is_told: bool
    """By the operator; else that is its default."""


def surplus_of(namespace: str, fleets: Iterable[FleetSeen]) -> Surplus | None:
    """None: there are no more than count. In the operator's own namespace all do."""
    here = [each for each in fleets if each.fleet.namespace == namespace]
    accepted = [each.condition(FleetConditionType.ACCEPTED).get("reason") for each in here]
    if any(each.fleet.is_of_the_operator for each in here):
        return None
    if told := accepted.count(FleetReason.TOO_MANY_FLEETS.value):
        return Surplus(namespace, len(here), len(here) - told, is_told=True)
    is_judged = None not in accepted  # and not one of them is too many
    return None if is_judged or len(here) <= MOST else Surplus(namespace, len(here), MOST, is_told=False)
