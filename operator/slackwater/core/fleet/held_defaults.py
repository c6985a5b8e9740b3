"""Defaults that a campaign takes through a fleet's groups: a deploy of a group's own does not bring them before that.

Where the group says a field itself, its word counts at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from slackwater.api.fleet_defaults import PinnedField
from slackwater.api.label_selector import LabelSelector
from slackwater.core.fleet.campaign import Campaign
from slackwater.core.fleet.layers import Given
from slackwater.core.fleet.records import Commands, record_of


@dataclass(frozen=True, slots=True)
class HeldDefaults:
    """Of one campaign that is not over."""

    campaign: str
    """Its uid."""
    fleet: str
    """namespace/name."""
    selector: LabelSelector
    fields: frozenset[PinnedField]


def held_by(campaign: Campaign) -> HeldDefaults | None:
    """None: it holds nothing. One that cannot begin yet holds whatever it may come to be about, so that who makes it
    before the fleet says anything has no deploy go before the canaries."""
    asked = campaign.spec.action.apply_defaults
    if asked is None or campaign.is_over or campaign.is_being_deleted or campaign.spec.dry_run:
        return None
    begun = campaign.status.applies if campaign.started_at is not None else asked.fields or PinnedField
    return HeldDefaults(campaign.uid, campaign.fleet, campaign.spec.selector, frozenset(begun))


def held_fields(held: Iterable[HeldDefaults], given: Mapping[str, Given], commands: Commands) -> frozenset[PinnedField]:
    """Which of them stay as they are for now. `held`: of the group's fleets, whose selectors select it."""
    waits = [each for each in held if record_of(commands, each.campaign) is None]
    return frozenset(
        name for each in waits for name in each.fields if name not in given or given[name].by.key == each.fleet
    )
