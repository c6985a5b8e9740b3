"""What a group has from fleets and would need another rollout to have otherwise: kept with the group, so that a fleet
that says something else, or is deleted, restarts nobody."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pydantic import ConfigDict, JsonValue
from pydantic.alias_generators import to_camel

from slackwater.api.fleet_defaults import PinnedField


@dataclass(frozen=True, slots=True)
class Pin:
    """One default, as it stands in a spec."""

    __pydantic_config__ = ConfigDict(alias_generator=to_camel, populate_by_name=True, extra="ignore")

    value: JsonValue
    fleet: str
    """`namespace/name` of the fleet that gave it."""


Pins = Mapping[PinnedField, Pin]
"""To stand in `status.rollout.inherited`."""
