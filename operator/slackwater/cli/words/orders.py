"""What is said of a group whose change waits for a FleetCampaign's order. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from slackwater.api.annotations import CAMPAIGN
from slackwater.core.fleet.records import record_of
from slackwater.core.fleet.seen import Seen
from slackwater.core.fleet.waves import the_wave

Json = Mapping[str, Any]

UNREAD: Final[Json] = {}
"""A campaign that may not be read."""


def waits_for_its_order(group: Seen, campaign: Json | None) -> bool:
    """`campaign`: the one that its annotation names; None: it is not there.

    One that is over, or orders no changes, holds nobody; nor does one that has begun with the group, also once it
    is gone.
    """
    if not group.campaign:
        return False
    if not campaign:
        return group.memory.commands.get(CAMPAIGN) != group.campaign
    status, action = campaign.get("status") or {}, campaign["spec"].get("action") or {}
    has_begun = record_of(group.memory.commands, campaign["metadata"]["uid"]) is not None
    return "changes" in action and status.get("phase") != "Succeeded" and not has_begun


def order_in_words(group: Seen, campaign: Json | None) -> str:
    """To be asked where it waits."""
    waits = f"{group.facts.name} waits for FleetCampaign {group.campaign}"
    if campaign is None:
        return f"{waits}, which is not there: make it, or remove the annotation slackwater.dev/campaign"
    if not campaign:
        return f"{waits}, which may not be read from here"
    status = campaign.get("status") or {}
    if not status.get("phase"):
        return f"{waits}, which the operator has not taken up yet"
    wave = f", in {the_wave(status['wave'])}" if status.get("wave") else ""
    return f"{waits}, which has not called it yet: that is {status['phase']}{wave}"
