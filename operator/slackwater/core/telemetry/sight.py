"""What one pass over a group gives to tell from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from slackwater.api.telemetry.words import RestartReason
from slackwater.core.decision.acts import Act
from slackwater.core.decision.decision import Decision
from slackwater.core.telemetry.envelopes import envelope, fact_id
from slackwater.core.world.world import World


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
    decided: Decision
    acted: Act | None = None
    """What was done to it, successfully; None: nothing was."""
    ends: Mapping[str, PodEnd] = field(default_factory=dict)
    """By pod uid: of pods that are there, and of such as are gone."""
    cluster: str = ""
    """Id of the Kafka cluster, once it is known."""

    def fact_id(self, *parts: object) -> str:
        return fact_id(self.world.group, *parts)

    def envelope(self, *fact: object) -> dict[str, Any]:
        return envelope(self.world.group, self.world.now, self.cluster, *fact)
