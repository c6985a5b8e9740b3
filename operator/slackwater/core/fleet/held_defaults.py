"""Defaults that a campaign takes through a fleet's groups: a deploy of a group's own does not bring them before that.

Where the group says a field itself, its word counts at once.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, field

from slackwater.api.fleet_defaults import PinnedField
from slackwater.api.label_selector import LabelSelector
from slackwater.core.fleet.campaign import Campaign
from slackwater.core.fleet.layers import Given
from slackwater.core.fleet.records import Commands, Values, record_of


@dataclass(frozen=True, slots=True)
class HeldDefaults:
    """Of one campaign that is not over."""

    campaign: str
    """Its uid."""
    fleet: str
    """namespace/name."""
    selector: LabelSelector
    fields: frozenset[PinnedField]
    named: str = ""
    """The campaign as `namespace/name`."""
    applies: Values = field(default_factory=dict)
    """What it brings, once that is settled: from its beginning on."""


def held_by(campaign: Campaign) -> HeldDefaults | None:
    """None: it holds nothing. One that cannot begin yet holds whatever it may come to be about, so that who makes it
    before the fleet says anything has no deploy go before the canaries."""
    asked = campaign.spec.action.apply_defaults
    if asked is None or campaign.is_over or campaign.is_being_deleted or campaign.spec.dry_run:
        return None
    applies = campaign.status.applies if campaign.started_at is not None else {}
    fields = applies if campaign.started_at is not None else asked.fields or PinnedField
    return HeldDefaults(
        campaign.uid, campaign.fleet, campaign.spec.selector, frozenset(fields), campaign.key, dict(applies)
    )


def selecting(held: Iterable[HeldDefaults], fleets: Container[str], labels: Mapping[str, str]) -> list[HeldDefaults]:
    """Those whose fleet is among `fleets`, and whose selector selects a group with these labels."""
    return [each for each in held if each.fleet in fleets and each.selector.matches(labels)]


def holders(
    held: Iterable[HeldDefaults], given: Mapping[str, Given], commands: Commands
) -> dict[PinnedField, HeldDefaults]:
    """Which of them stay as they are for now, and by which campaign. `held`: of the group's fleets, whose selectors
    select it."""
    waits = [each for each in held if record_of(commands, each.campaign) is None]
    return {
        name: each for each in waits for name in each.fields if name not in given or given[name].by.key == each.fleet
    }


def held_fields(held: Iterable[HeldDefaults], given: Mapping[str, Given], commands: Commands) -> frozenset[PinnedField]:
    return frozenset(holders(held, given, commands))
