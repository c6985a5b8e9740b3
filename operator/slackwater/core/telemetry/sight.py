"""What one pass over a group gives to tell from, and how its events are marked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from slackwater.api.telemetry.events import SCHEMA
from slackwater.api.telemetry.words import RestartReason
from slackwater.core.acts import Act
from slackwater.core.plan import Plan
from slackwater.core.world import World


@dataclass(frozen=True, slots=True)
class PodEnd:
    """How the consumer's container last ended in a pod, perhaps the last thing that was told of that pod."""

    ended_at: float | None
    """By the kubelet's clock, in whole seconds; None: it was not told."""
    reason: RestartReason | None = None
    """OutOfMemory, Evicted or NodeLost, where the cluster says so."""


@dataclass(frozen=True, slots=True)
class Sight:
    world: World
    """As it was decided upon."""
    decided: Plan
    acted: Act | None = None
    """What was done to it, successfully; None: nothing was."""
    ends: Mapping[str, PodEnd] = field(default_factory=dict)
    """By pod uid: of pods that are there, and of such as are gone."""
    cluster: str = ""
    """Id of the Kafka cluster, once it is known."""

    def fact_id(self, *parts: object) -> str:
        """The same for the same parts, and for no others of this object or any other."""
        text = "\x1f".join(str(part) for part in (self.world.group.metadata.uid, *parts))
        return sha256(text.encode()).hexdigest()[:32]

    def envelope(self, *fact: object) -> dict[str, Any]:
        """All fields of an event's envelope but its type. `fact`: what tells it from all other events."""
        group = self.world.group
        return {
            "schema_version": SCHEMA,
            "id": self.fact_id(*fact),
            "at": self.world.now,
            "cluster": self.cluster,
            "namespace": group.namespace,
            "name": group.name,
            "group_id": group.group_id,
        }
