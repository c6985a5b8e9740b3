"""Who says what of a group: the group itself, fleets of its namespace, fleets of the operator's, nobody.

Field by field, the nearest that says something. Of two fleets in one layer, the older, then by name, as the Gateway API
has it; where they say different things they overlap.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from pydantic import JsonValue

from slackwater.api.consumer_group import ConsumerGroupSpec
from slackwater.api.fleet_defaults import FleetDefaults, PinnedField

Said = Mapping[str, JsonValue]
"""Path below `spec` → value, as it would be written there."""

PINNED: Final = tuple(field.value for field in PinnedField)
AT_ONCE: Final = (
    "timeouts.mode",
    "timeouts.consumer.session",
    "timeouts.consumer.heartbeat",
    "timeouts.objective.recoverWithin",
    "timeouts.objective.needlessRebalancesPerMonth",
    "timeouts.warmUp",
    "rollout.strategy",
    "rollout.stableFor",
    "rollout.maxLag",
    "rollout.rejoinTimeout",
    "rollout.maxUnavailable",
    "rollout.surgeTimeout",
    "rollout.handover",
    "rollout.onFailure",
    "rollout.canary",
)
"""What restarts nobody. One bound, and one list of steps, are one field: halves of two would be neither's."""
FIELDS: Final = (*PINNED, *AT_ONCE)
PARTS: Final = {"protocol", "timeouts", "rollout"}


@dataclass(frozen=True, slots=True)
class Giver:
    """A fleet that selects the group and gives defaults."""

    namespace: str
    name: str
    says: Said
    created_at: float = 0.0
    """In seconds since the epoch."""
    generation: int = 0

    @property
    def key(self) -> str:
        return f"{self.namespace}/{self.name}"


@dataclass(frozen=True, slots=True)
class Given:
    """What the nearest fleet says of one field."""

    value: JsonValue
    by: Giver
    over: tuple[tuple[Giver, JsonValue], ...] = ()
    """Those that come after it and say something else."""


def said_by(spec: ConsumerGroupSpec | FleetDefaults) -> Said:
    """What somebody wrote, and nothing that the model adds."""
    written = spec.model_dump(mode="json", by_alias=True, exclude_unset=True, include=PARTS)
    found = ((path, value_at(written, path)) for path in FIELDS)
    return {path: value for path, value in found if value is not None}


def value_at(written: Mapping[str, JsonValue], path: str) -> JsonValue:
    node: JsonValue = dict(written)
    for part in path.split("."):
        node = node.get(part) if isinstance(node, Mapping) else None
    return node


def in_order(namespace: str, givers: Iterable[Giver]) -> tuple[Giver, ...]:
    """`namespace`: the group's."""
    return tuple(sorted(givers, key=lambda each: (each.namespace != namespace, each.created_at, each.key)))


def nearest(namespace: str, givers: Iterable[Giver]) -> Mapping[str, Given]:
    ordered = in_order(namespace, givers)
    return {path: given for path in FIELDS if (given := _nearest(path, ordered)) is not None}


def _nearest(path: str, ordered: Sequence[Giver]) -> Given | None:
    says = [(giver, giver.says[path]) for giver in ordered if path in giver.says]
    if not says:
        return None
    (first, value), *others = says
    return Given(value, first, tuple((giver, other) for giver, other in others if other != value))


def overlapping(namespace: str, givers: Iterable[Giver]) -> frozenset[str]:
    """Fleets, by `namespace/name`, that say different things of the group in one layer: `Overlaps` names it there."""
    found = set[str]()
    for given in nearest(namespace, givers).values():
        is_near = given.by.namespace == namespace
        same = [giver.key for giver, _ in given.over if (giver.namespace == namespace) == is_near]
        found |= {given.by.key, *same} if same else set()
    return frozenset(found)
