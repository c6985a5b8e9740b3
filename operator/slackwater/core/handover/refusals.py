"""Can this group be handed over warm? A refusal names the way out."""

from __future__ import annotations

from typing import Any, Final

from slackwater.api.client import Library
from slackwater.api.rollout import RolloutStrategy
from slackwater.core.decision.reasons import Hold, Reason
from slackwater.core.world.observation import GroupObservation, GroupType
from slackwater.core.world.profile import Profile
from slackwater.core.world.world import World

_AGAIN_S: Final = 30.0
_IN_PLACE: Final = "set rollout.strategy to InPlace"


def is_asked_for(world: World) -> bool:
    """A rollout that began in place goes back in place; and where no pod is, none can be handed over."""
    warm = world.group.spec.rollout.strategy is RolloutStrategy.WARM_HANDOVER
    return warm and bool(world.pods) and not world.memory.phase.goes_back


def may_not_begin(world: World) -> Hold | None:
    """What the spec alone tells, the API server refuses already (`ConsumerGroupSpec`); the rest is told here."""
    consumer = world.kafka.type is GroupType.CONSUMER if isinstance(world.kafka, GroupObservation) else False
    if consumer or Profile.CONSUMER in {world.memory.protocol, *(pod.protocol for pod in world.pods)}:
        message = f"a KIP-848 member keeps its replacement out for as long as it lives: {_IN_PLACE}"
        return Hold(Reason.HANDOVER_IMPOSSIBLE, message, _AGAIN_S)
    if world.group.spec.client.library is Library.KAFKA_STREAMS:
        message = f"a Kafka Streams replacement has the tasks at once, and their state only after that: {_IN_PLACE}"
        return Hold(Reason.HANDOVER_IMPOSSIBLE, message, _AGAIN_S)
    if world.group.spec.client.library is Library.OTHER:
        message = f"what consumers of library Other do when a replacement fences them is not known: {_IN_PLACE}"
        return Hold(Reason.HANDOVER_IMPOSSIBLE, message, _AGAIN_S)
    if claims := _claims(world):
        message = f"two pods cannot share the volume claim {claims[0]}: {_IN_PLACE}"
        return Hold(Reason.HANDOVER_IMPOSSIBLE, message, _AGAIN_S)
    return None


def _claims(world: World) -> list[str]:
    pod: Any = world.group.spec.template.spec.to_manifest()
    volumes = pod.get("volumes") or ()
    return [volume["persistentVolumeClaim"]["claimName"] for volume in volumes if volume.get("persistentVolumeClaim")]
