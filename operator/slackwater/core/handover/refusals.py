"""Can this group be handed over warm? A refusal names the way out."""

from __future__ import annotations

from typing import Final

from slackwater.api.client import Library
from slackwater.api.rollout import RolloutStrategy
from slackwater.core.decision.reasons import Hold, Reason
from slackwater.core.world.observation import GroupObservation, GroupType
from slackwater.core.world.profile import Profile
from slackwater.core.world.world import World

_AGAIN_S: Final = 30.0
_IN_PLACE: Final = "set rollout.strategy to InPlace"


def is_asked_for(world: World) -> bool:
    """A rollout that began in place goes back in place; and where no pod is, none can be handed over.

    Nor can pods whose replacements will have other ids, or more or fewer: a change of membership, and of the members of
    a pod, is rolled out in place.
    """
    warm = world.group.spec.rollout.strategy is RolloutStrategy.WARM_HANDOVER
    return warm and bool(world.pods) and _have_the_same_ids(world) and not world.memory.phase.goes_back


def _have_the_same_ids(world: World) -> bool:
    asked = world.asked_for
    made = [world.made_with(pod) for pod in world.all_pods]
    return all((each.membership, each.members_per_pod) == (asked.membership, asked.members_per_pod) for each in made)


def may_not_begin(world: World) -> Hold | None:
    """What the spec alone tells, the API server refuses already (`ConsumerGroupSpec`); the rest is refused here."""
    why = next((why for check in IMPOSSIBLE if (why := check(world))), "")
    return Hold(Reason.HANDOVER_IMPOSSIBLE, f"{why}: {_IN_PLACE}", _AGAIN_S) if why else None


def members_are_kip_848s(world: World) -> str:
    """Only a classic coordinator lets a replacement take over an id whose holder lives (F13)."""
    consumer = world.kafka.type is GroupType.CONSUMER if isinstance(world.kafka, GroupObservation) else False
    if consumer or Profile.CONSUMER in {world.memory.protocol, *(pod.protocol for pod in world.pods)}:
        return "a KIP-848 member keeps its replacement out for as long as it lives"
    return ""


def tasks_need_their_state(world: World) -> str:
    """Kafka Streams restores after it was assigned."""
    if world.group.spec.client.library is Library.KAFKA_STREAMS:
        return "a Kafka Streams replacement has the tasks at once, and their state only after that"
    return ""


def library_is_not_known(world: World) -> str:
    """Whether a fenced consumer ends, and how soon, is each library's own."""
    if world.group.spec.client.library is Library.OTHER:
        return "what consumers of library Other do when a replacement fences them is not known"
    return ""


def volume_is_claimed(world: World) -> str:
    """Two pods of one ordinal run at once."""
    claims = _claims(world)
    return f"two pods cannot share the volume claim {claims[0]}" if claims else ""


IMPOSSIBLE: Final = (members_are_kip_848s, tasks_need_their_state, library_is_not_known, volume_is_claimed)
"""Why a group cannot be handed over, in a sentence; empty where it can be. The first one is what people read."""


def _claims(world: World) -> list[str]:
    """Of each pod's own, by the names of their templates; and those that the pod template names."""
    own = (claim["metadata"]["name"] for each in world.sets for claim in each.claims)
    asked = (each.metadata.name for each in world.group.spec.volume_claim_templates)
    pod = world.group.spec.template.spec.to_manifest()
    volumes = pod.get("volumes") or ()
    named = [volume["persistentVolumeClaim"]["claimName"] for volume in volumes if volume.get("persistentVolumeClaim")]
    return [*asked, *own, *named]
