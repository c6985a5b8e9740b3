"""Which ConsumerGroups share one group in Kafka, which of them has it, and how people are told.

Who had the group first, in this Kafka cluster, has it. That is written down when a ConsumerGroup begins
(`RolloutMemory.claimed`): nobody can choose it afterwards, as the address of a KafkaConnection can be chosen, and it is
known as soon as an operator starts. Of those that never began, the one that was made first may begin.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from slackwater.core.decision.words import listing
from slackwater.core.world.claimed import Claimed, Outranked, had_since
from slackwater.core.world.claims import Claim
from slackwater.core.world.memory import RolloutMemory
from slackwater.core.world.world import World

MADE_AGAIN_WITHIN_S: Final = 120.0
"""Tools that deploy delete a ConsumerGroup and make it again, when a field has changed that cannot be changed."""


def again_s(world: World) -> float:
    """When one that is held looks again, in seconds. Thousands that a tenant makes of one groupId look more seldom:
    each look goes through all of them."""
    return min(600.0, max(30.0, 1.5 * len(world.claims)))


def sharers_in_words(world: World, *, running: bool = False) -> str:
    """Which other ConsumerGroups have the same group in Kafka; empty where none is known to. `running`: with pods."""
    known = [str(claim) for claim in world.claims if claim.certain and (claim.runs or not running)]
    return claimants_in_words(known) if known else ""


def who_has_the_group(world: World) -> str:
    """The ConsumerGroups that come before this one; empty: this one has the group, or may have it."""
    known = [str(claim) for claim in world.claims if claim.allowed and _comes_first(world, claim)]
    return claimants_in_words(known) if known else ""


def claimants_in_words(names: Sequence[str]) -> str:
    one = len(names) == 1
    return (
        f"{'ConsumerGroup' if one else 'ConsumerGroups'} {listing(names)} {'has' if one else 'have'} the same groupId"
    )


def note_claim(world: World) -> RolloutMemory:
    """While nobody comes first: since when this one has the group. One that asks for no pod has nothing."""
    claimed, here = world.memory.claimed, world.cluster_id
    if here is not None and _has_it_since(world) is None and (world.replicas or world.made):
        claimed = Claimed(here, world.now)
    return replace(world.memory, outranked=None, claimed=claimed)


def is_waited_for_s(world: World) -> float:
    """How long, in seconds, one that came first may still be made again; 0: it is not waited for."""
    outranked = world.memory.outranked
    if outranked is None:
        return 0.0
    gone_since = outranked.gone_since if outranked.gone_since is not None else world.now
    return max(0.0, MADE_AGAIN_WITHIN_S - (world.now - gone_since))


def note_that_it_is_gone(world: World) -> RolloutMemory:
    known = world.memory.outranked
    gone_since = known.gone_since if known is not None and known.gone_since is not None else world.now
    return replace(world.memory, outranked=Outranked(gone_since))


def _comes_first(world: World, claim: Claim) -> bool:
    since = _has_it_since(world)
    if claim.since is not None:
        mine = (world.group.namespace, world.group.name)
        return since is None or (claim.since, claim.namespace, claim.name) < (since, *mine)
    return since is None and not world.sets and claim.certain and claim.older


def _has_it_since(world: World) -> float | None:
    """Since when this one has had the group, in the cluster that it is in now; None: never, as far as is known."""
    claimed, made_at = world.memory.claimed, world.group.metadata.creation_timestamp
    if claimed is None or world.cluster_id not in (None, claimed.cluster_id):
        return None
    return had_since(claimed, made_at.timestamp() if made_at is not None else 0.0)


def whose_group_stays(world: World) -> str:
    """Why a group is not deleted: by those that are known to share it; where there are none, by those that may."""
    stays = f"group {world.group.group_id} and its offsets stay in Kafka"
    if shared := sharers_in_words(world):
        return f"{stays}: {shared}"
    shared = claimants_in_words([str(claim) for claim in world.claims])
    return f"{stays}: {shared}, and it is not known whether in another Kafka cluster"
