"""The conditions in a group's status, as the operator wrote them. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from slackwater.core.world.world import World


def conditions_of(world: World) -> Sequence[Mapping[str, Any]]:
    return conditions_in(world.group.status)


def conditions_in(status: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    """Those in an object's status."""
    conditions = status.get("conditions")
    return [c for c in conditions if isinstance(c, Mapping)] if isinstance(conditions, list) else []
