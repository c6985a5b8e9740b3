"""Whom a campaign does not hold, of those groups whose annotation names one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from slackwater.api.annotations import CAMPAIGN
from slackwater.core.fleet.campaign_groups import named_by
from slackwater.core.fleet.records import Commands, record_of


@dataclass(frozen=True, slots=True)
class Holding:
    """What one campaign, that is there, says of who names it."""

    uid: str
    waits: frozenset[str] | None
    """Groups by `namespace/name`; None: whoever names it, since its fleet is not there: it does not know its groups."""


@dataclass(frozen=True, slots=True)
class Naming:
    """A group that names a campaign."""

    key: str
    """namespace/name."""
    campaign: str
    """namespace/name."""
    version: str
    """Of the object, as it is written."""
    commands: Commands


def let_go(groups: Sequence[Naming], there: Mapping[str, Holding]) -> dict[str, str]:
    """By group, the version of it that may go. `there`: the campaigns that are, and can be read."""
    return {each.key: each.version for each in groups if not _is_held(each, there.get(each.campaign))}


def _is_held(group: Naming, holding: Holding | None) -> bool:
    """A campaign that is gone holds whom it had not called; which those are, groups themselves remember."""
    if holding is None:
        return group.commands.get(CAMPAIGN) != group.campaign
    if holding.waits is None:
        return record_of(group.commands, holding.uid) is None
    return group.key in holding.waits


def naming(key: str, annotation: str, version: str, commands: Commands) -> Naming:
    return Naming(key, named_by(key, annotation), version, commands)
