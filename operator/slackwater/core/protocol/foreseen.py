"""Whether a campaign can take a group to another protocol, before it orders anything: preflight in its words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from slackwater.api.fleet_campaign_status import Skip
from slackwater.api.protocol import ProtocolTarget
from slackwater.core.decision.reasons import Hold, Reason
from slackwater.core.fleet.participants import Obstacle
from slackwater.core.protocol.preflight import Way, can_make, find_way
from slackwater.core.world.profile import StrategyName, profile_of
from slackwater.core.world.world import World

SKIPS: Final[Mapping[Reason, Skip]] = {
    Reason.BROKER_CANNOT: Skip.BROKER_CANNOT,
    Reason.MIGRATION_POLICY_FORBIDS: Skip.BROKER_CANNOT,
    Reason.CLIENT_CANNOT: Skip.CLIENT_CANNOT,
    Reason.CLIENT_VERSION_UNKNOWN: Skip.CLIENT_CANNOT,
    Reason.SETTINGS_PROFILE_MISSING: Skip.CLIENT_CANNOT,
    Reason.MIXED_ASSIGNORS_UNSUPPORTED: Skip.WOULD_STOP,
    Reason.ASSIGNOR_KEEPS_DATA: Skip.WOULD_STOP,
    Reason.ASSIGNOR_UNEXPECTED: Skip.REFUSED,
    Reason.FOREIGN_MEMBERS: Skip.REFUSED,
}
"""What people have to change first. Any other reason to hold is one of the moment: the group is waited for."""


def way_to(world: World, target: ProtocolTarget) -> Obstacle | Hold | None:
    """As `way_found`; None: there is a way, or the group is there already."""
    found = way_found(world, target)
    return None if isinstance(found, Way) else found


Found = Way | Obstacle | Hold | None


def way_found(world: World, target: ProtocolTarget) -> Found:
    """`world`: with a spec that has what the campaign gives. None: the group is there already, or has no pods yet."""
    wanted, has = profile_of(target), world.memory.protocol
    if wanted is has and world.memory.upgrade is None:
        return None
    found = can_make(world, wanted) if world.workload is None else find_way(world, has, wanted)
    if found is None or isinstance(found, Way):
        return found
    skip = SKIPS.get(found.reason)
    return found if skip is None else Obstacle(skip, found.message)


def stops_all(way: Way) -> bool:
    """All consumers stop for a while on it."""
    return way.strategy.name is StrategyName.DRAIN_CUTOVER
