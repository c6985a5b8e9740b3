"""Dead members of KIP-848 groups: their successors are refused until the instance id is free again (F13).

Their ids are released, which moves no partition. What proves a death is said in `holders`; what becomes of a process
that was refused before, in `refused`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Final

from slackwater.core.decision.acts import ReleaseMembers
from slackwater.core.decision.decision import Decision
from slackwater.core.decision.words import listing
from slackwater.core.members.death import has_ended
from slackwater.core.members.ownership import given_ordinal
from slackwater.core.world.memory import Release
from slackwater.core.world.observation import GroupObservation, GroupType, Member, MemberRef, refs
from slackwater.core.world.profile import Profile
from slackwater.core.world.world import World

RELEASE_AGAIN_S: Final = 2.0
"""When an id is held although it was released: the request was lost, or a process that nobody knows of took it back."""
_CLASSIC: Final = (Profile.EAGER, Profile.EAGER_AND_COOPERATIVE, Profile.COOPERATIVE)


def find_stale(world: World, kafka: GroupObservation) -> tuple[Member, ...]:
    """Members that keep their successors out: their processes are known to have ended, though their pods are wanted."""
    if kafka.type is not GroupType.CONSUMER:
        return ()  # a classic newcomer takes its predecessor's place by itself
    return tuple(member for member in kafka.members if _is_stale(world, member))


def release_due(world: World) -> Decision | None:
    """Which instance ids to give free now, and what to remember of it before."""
    kafka = world.kafka
    if not isinstance(kafka, GroupObservation):
        return None
    dead = tuple(ref for ref in refs(find_stale(world, kafka)) if not _was_released_lately(world, ref))
    if not dead:
        return None
    memory = replace(world.memory, released={**world.memory.released, **_releases(world, dead)})
    why = f"the process behind {listing(ref.instance_id for ref in dead)} has ended: its successor may join"
    return Decision(memory, ReleaseMembers(dead, why))


def still_released(world: World) -> Mapping[str, Release]:
    """A release is history once somebody else holds the id, or its pod is not wanted any more."""
    return {key: release for key, release in world.memory.released.items() if _matters(world, key, release)}


def _is_stale(world: World, member: Member) -> bool:
    ordinal = given_ordinal(world, member)
    pod = world.pod(ordinal) if ordinal is not None else None
    if pod is None or pod.ordinal >= world.replicas or pod.protocol in _CLASSIC:
        return False
    if member.epoch is not None and member.epoch < 0:
        return False  # it has left for a while, as one that stops in order does, and its id is free (F12)
    return has_ended(world, member)


def _releases(world: World, dead: Iterable[MemberRef]) -> dict[str, Release]:
    before = world.memory.released
    again = {ref for ref in dead if ref.instance_id in before and before[ref.instance_id].member_id == ref.member_id}
    return {
        ref.instance_id: replace(
            before[ref.instance_id], released_at=world.now, tries=before[ref.instance_id].tries + 1
        )
        if ref in again
        else Release(ref.member_id, world.now)
        for ref in dead
    }


def _was_released_lately(world: World, ref: MemberRef) -> bool:
    known = world.memory.released.get(ref.instance_id)
    if known is None or known.member_id != ref.member_id:
        return False
    wait_s: float = RELEASE_AGAIN_S * 2 ** min(known.tries - 1, 5)
    return world.now - known.released_at < wait_s


def _matters(world: World, instance_id: str, release: Release) -> bool:
    ordinal = world.ordinal_of(instance_id)
    if ordinal is None or ordinal >= world.replicas:
        return False
    members = world.members_at(ordinal)
    return all(m.instance_id != instance_id or m.member_id == release.member_id for m in members)
