"""Does the group run elsewhere: in another Kubernetes cluster, or in a copy of the namespace that nobody here sees?

Before the first pod of ours runs, Kafka is the only one who knows. A pod with an instance id that a living member has
would fence it, and be fenced by it, without an end.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from slackwater.api.consumer_group import DeletionPolicy
from slackwater.core.decision.reasons import Hold, Reason
from slackwater.core.decision.words import listing
from slackwater.core.members.ownership import given_ordinal, name_in_words, never_ran
from slackwater.core.world.memory import RolloutMemory
from slackwater.core.world.observation import GroupObservation, Member, MemberRef, Unobserved
from slackwater.core.world.world import World

AGAIN_S: Final = 5.0
SOON_S: Final = 1.0
EMPTY_FOR_S: Final = 10.0
"""Who was taken out alive is back at its next heartbeat, which is 3 s later unless people set it otherwise."""


def runs_elsewhere(world: World) -> Hold | None:
    """Why the first pod is not made yet; None where it may be, and where pods of this have run before."""
    somebody_is_there = world.all_pods or world.loose or world.orphans or world.made
    if somebody_is_there or world.replicas == 0 or not world.has_static or not never_ran(world):
        return None
    if isinstance(world.kafka, Unobserved):
        return Hold(world.kafka.reason, world.kafka.message, SOON_S) if world.kafka.reason.passes else None
    if not (there := ids_in_use(world)):
        return None
    message = (
        f"no pod of this ConsumerGroup has ever run, and others have its pods' instance ids in the group:"
        f" {listing(map(name_in_words, there))}. Stop them, in another Kubernetes cluster perhaps, or make this one"
        " again with another groupId; where they are dead, they go when their sessions end"
    )
    return Hold(Reason.INSTANCE_IDS_IN_USE, message, AGAIN_S)


def may_come_back(world: World) -> Hold | None:
    """Why a group is not deleted yet that nobody but our own pods' members was in: one of them may live, in another
    Kubernetes cluster, and Kafka deletes no group, nor its offsets, that has a member."""
    kafka, history = world.kafka, world.history
    if not isinstance(kafka, GroupObservation) or any(given_ordinal(world, member) is None for member in kafka.members):
        return None  # Kafka says no, and why
    empty_since = kafka.observed_at if kafka.members or history.unchanged_since is None else history.unchanged_since
    if kafka.observed_at - empty_since >= EMPTY_FOR_S:
        return None
    message = f"waiting until nobody has been in the group for {EMPTY_FOR_S:.0f} s, to delete it"
    return Hold(Reason.DRAINING, message, SOON_S)


def knowing_who_was_taken_out(world: World, members: Sequence[MemberRef]) -> RolloutMemory:
    """Where the group is deleted as well: who has an id of theirs afterwards came by it somewhere else."""
    if world.group.spec.deletion_policy is not DeletionPolicy.DELETE_GROUP or world.claims:
        return world.memory
    return replace(world.memory, removed={**world.memory.removed, **dict(members)})


def ids_in_use(world: World) -> tuple[Member, ...]:
    """Members that are called as those of our pods would be, whoever runs them."""
    return tuple(member for member in world.members if world.ordinal_of(member.instance_id) is not None)
