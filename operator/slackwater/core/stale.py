"""Dead members of KIP-848 groups: their successors are refused until the instance id is free again (F13).

A member is dead when it was in the group before its pod's container started, or ended, last: a container that starts
anew joins as another member. Times are compared across clocks, so there is a margin, and doubt means alive.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from slackwater.core.acts import DeletePod, ReleaseMembers
from slackwater.core.memory import Release, RolloutMemory
from slackwater.core.observation import GroupObservation, GroupState, GroupType, Member, MemberRef
from slackwater.core.strangers import given_ordinal
from slackwater.core.text import listing
from slackwater.core.world import Pod, World, ordinal_of

CLOCKS_DIFFER_S: Final = 2.0
JOINS_WITHIN_S: Final = 10.0
"""A process that was not refused has joined by then, once its pod is Ready."""


def find_stale(world: World, kafka: GroupObservation) -> tuple[Member, ...]:
    """Members of a KIP-848 group whose process is known to have ended, though their pods are wanted."""
    if kafka.type is not GroupType.CONSUMER:
        return ()  # a classic newcomer takes its predecessor's place by itself
    return tuple(member for member in kafka.members if _is_stale(world, member))


def release_due(world: World) -> tuple[RolloutMemory, ReleaseMembers] | None:
    """Which instance ids to give free now, and what to remember of it before."""
    kafka = world.kafka
    if not isinstance(kafka, GroupObservation):
        return None
    refs = tuple(MemberRef(m.instance_id, m.member_id) for m in find_stale(world, kafka) if m.instance_id is not None)
    refs = tuple(ref for ref in refs if not _was_released(world, ref))
    if not refs:
        return None
    now = {ref.instance_id: Release(ref.member_id, world.now) for ref in refs}
    memory = replace(world.memory, released={**world.memory.released, **now})
    why = f"the process behind {listing(ref.instance_id for ref in refs)} has ended: its successor may join"
    return memory, ReleaseMembers(refs, why)


def restart_due(world: World) -> tuple[RolloutMemory, DeletePod] | None:
    """A pod whose process was refused before the id was free: it may live on, but never joins any more."""
    kafka = world.kafka
    if not isinstance(kafka, GroupObservation) or kafka.type is not GroupType.CONSUMER:
        return None
    for pod in world.wanted_pods:
        if not pod.terminating and _met_the_refusal(world, pod):
            own = f"{world.group.name}-{pod.ordinal}"
            released = {
                k: replace(r, restarted=True) if k.startswith(own) else r for k, r in world.memory.released.items()
            }
            why = "its consumer was refused while the id of its predecessor was held, and cannot join any more"
            return replace(world.memory, released=released), DeletePod(pod.name, pod.uid, pod.ordinal, why)
    return None


def find_idle_pods(world: World) -> tuple[Pod, ...]:
    """Ready pods that own nothing, although there are partitions whose owner is dead, or that have none at all.

    Not while the group is on its way to another assignment, nor where there are more members than partitions.
    """
    kafka = world.kafka
    if not isinstance(kafka, GroupObservation) or not (kafka.calm or kafka.state is GroupState.EMPTY):
        return ()
    dead = find_stale(world, kafka)
    owned = frozenset(p for member in kafka.members if member not in dead for p in member.assignment)
    if kafka.partitions <= owned:
        return ()
    alive = [pod for pod in world.wanted_pods if pod.ready and not pod.terminating]
    return tuple(p for p in alive if not any(m.assignment for m in world.members_of(p) if m not in dead))


def still_released(world: World) -> Mapping[str, Release]:
    """A release is history once somebody else holds the id, or its pod is not wanted any more."""
    return {key: release for key, release in world.memory.released.items() if _matters(world, key, release)}


def _is_stale(world: World, member: Member) -> bool:
    ordinal = given_ordinal(world, member)
    if ordinal is None or ordinal >= world.group.spec.replicas or member.instance_id is None:
        return False
    if member.epoch is not None and member.epoch < 0:
        return False  # it has left for a while, as one that stops in order does, and its id is free (F12)
    sighting = world.history.members.get(member.instance_id)
    pod = world.pod(ordinal)
    if sighting is None or sighting.member_id != member.member_id or pod is None:
        return False
    last_change = max(pod.created_at, pod.started_at or 0.0, pod.ended_at or 0.0)
    return sighting.since < last_change - CLOCKS_DIFFER_S


def _was_released(world: World, ref: MemberRef) -> bool:
    known = world.memory.released.get(ref.instance_id)
    return known is not None and known.member_id == ref.member_id


def _met_the_refusal(world: World, pod: Pod) -> bool:
    """The id was held when the process started, is free for long enough now, and the process has not joined."""
    name = f"{world.group.name}-{pod.ordinal}"
    release = world.memory.released.get(name)
    free_since = release.released_at if release is not None else world.history.departures.get(name)
    joined = any(release is None or m.member_id != release.member_id for m in world.members_of(pod))
    if free_since is None or joined or (release is not None and release.restarted):
        return False
    if pod.waiting == "CrashLoopBackOff":  # it would have to wait longer and longer, though nothing is wrong any more
        return release is not None and pod.ended_at is not None and pod.created_at < free_since
    held_at_start = pod.started_at is not None and pod.started_at < free_since
    return held_at_start and pod.ready and world.now - free_since > JOINS_WITHIN_S


def _matters(world: World, instance_id: str, release: Release) -> bool:
    ordinal = ordinal_of(instance_id, world.group.name)
    if ordinal is None or ordinal >= world.group.spec.replicas:
        return False
    members = world.kafka.members if isinstance(world.kafka, GroupObservation) else ()
    return all(m.instance_id != instance_id or m.member_id == release.member_id for m in members)
