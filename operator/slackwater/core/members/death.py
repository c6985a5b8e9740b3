"""Is the process behind a static member known to be dead? (Decision 7.)

A container that starts again joins as another member, so a member that was in the group before its pod's container last
started, or ended, is dead. Nothing else proves a death; silence does not. Times of several clocks are compared, so
there is a margin (`clocks`), and in doubt a member lives.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

from slackwater.core.members.clocks import CLOCKS_DIFFER_S, certainly_before
from slackwater.core.members.ownership import given, given_ordinal
from slackwater.core.members.taken import came_from_elsewhere, gone_by
from slackwater.core.world.memory import LastHolder
from slackwater.core.world.observation import GroupObservation, GroupType, Member
from slackwater.core.world.pods import Pod
from slackwater.core.world.profile import Profile
from slackwater.core.world.sighting import MemberSighting
from slackwater.core.world.world import World


def known_holders(world: World) -> Mapping[str, LastHolder]:
    """Who held which instance id last, brought up to date; in KIP-848 groups only, where a death must be proven."""
    kafka, replicas = world.kafka, max(world.replicas, world.made)
    wanted = {k: h for k, h in world.memory.holders.items() if (world.ordinal_of(k) or 0) < replicas}
    if not isinstance(kafka, GroupObservation):
        return wanted
    if kafka.type is not GroupType.CONSUMER:
        return _kept_out(world, kafka, wanted) if kafka.members else wanted
    for member, ordinal in given(world):
        instance_id = member.instance_id
        if instance_id is None or ordinal >= replicas:
            continue
        sighting, known = _sighting(world, instance_id, member.member_id), wanted.get(instance_id)
        seen_by = sighting.there_by if sighting is not None else None
        if seen_by is not None and (known is None or _is_outdated(known, member.member_id, sighting)):
            wanted[instance_id] = LastHolder(member.member_id, seen_by)
        wanted.update(_seen_to_stay(world, member, wanted.get(instance_id)))
    return wanted


def _seen_to_stay(world: World, member: Member, known: LastHolder | None) -> Mapping[str, LastHolder]:
    """Its own process has it for certain: once for each run of the pod's container."""
    pod = world.pod(given_ordinal(world, member) or 0)
    if known is None or pod is None or pod.started_at is None or member.has_left or member.instance_id is None:
        return {}
    if stayed_since_its_start(pod, known) or known.member_id != member.member_id:
        return {}
    if came_from_elsewhere(world, pod, member):
        return {}
    return {member.instance_id: replace(known, stayed=world.now)} if world.now > gone_by(world, pod.started_at) else {}


def stayed_since_its_start(pod: Pod, known: LastHolder) -> bool:
    started_at = pod.started_at
    return started_at is not None and known.stayed is not None and known.stayed > started_at + CLOCKS_DIFFER_S


def has_ended(world: World, member: Member) -> bool:
    """Whether the process behind a static member of ours is known to be dead."""
    return world.once_of(_has_ended, member)


def _has_ended(world: World, member: Member) -> bool:
    ordinal = given_ordinal(world, member)
    pod = world.pod(ordinal) if ordinal is not None else None
    if pod is None or member.instance_id is None or came_from_elsewhere(world, pod, member):
        return False
    changed_at = max(pod.created_at, pod.started_at or 0.0, pod.ended_at or 0.0)
    return was_there_before(world, member.instance_id, member.member_id, changed_at, pod.told_running_at)


def find_outlived(world: World, kafka: GroupObservation) -> tuple[Member, ...]:
    """Static members of a version before: their process is known to be dead, and the new one has all its members.

    It is dynamic, or has fewer of them. Nobody takes such an id over, so that its partitions would wait for a session.
    """
    found: list[Member] = []
    pods_at = Counter(each.ordinal for each in world.all_pods)
    for pod in world.wanted_pods:
        made, there = world.made_with(pod), world.members_at(pod.ordinal)
        if made.is_static and len(there) <= made.members_per_pod:
            continue
        dead = [member for member in there if has_ended(world, member)]
        alive = sum(not has_ended(world, member) for member in world.members_of(pod))
        found += dead if pods_at[pod.ordinal] == 1 and alive >= made.members_per_pod else []
    return tuple(found)


def was_there_before(
    world: World, instance_id: str, member_id: str, moment: float, reported_at: float | None = None
) -> bool:
    """Whether the member was in the group before `moment`, which the kubelet's clock or the API server's gave.

    `reported_at`: when a watch had reported by our own clock what happened then; None where none has.
    """
    seen_by = there_by(world, instance_id, member_id)
    return seen_by is not None and certainly_before(seen_by, moment, world.now, reported_at)


def there_by(world: World, instance_id: str, member_id: str) -> float | None:
    """A moment by which this member was in the group for certain; None when it was not seen often enough to say.

    One that was gone and is back counts from its return: a process that joins lives.
    """
    known, sighting = world.memory.holders.get(instance_id), _sighting(world, instance_id, member_id)
    watched = sighting.there_by if sighting is not None else None
    if known is None or _is_outdated(known, member_id, sighting):
        return watched
    return known.there_by if watched is None else min(watched, known.there_by)


def came_back(world: World, instance_id: str, member_id: str, since: float) -> bool:
    """This member has the id, and a look after that moment showed it gone, or away (F12)."""
    return _was_gone(_sighting(world, instance_id, member_id), since)


def time_to_join(world: World, pod: Pod, instance_id: str, member_id: str) -> float | None:
    """Seconds that the pod's last run took, at most, from its start until this member of it was in the group."""
    seen_by = there_by(world, instance_id, member_id)
    if seen_by is None or pod.last_run_started_at is None or seen_by < pod.last_run_started_at:
        return None
    return seen_by - pod.last_run_started_at


def _kept_out(world: World, kafka: GroupObservation, known: Mapping[str, LastHolder]) -> Mapping[str, LastHolder]:
    """What still matters once a group is classic again, on its way back from KIP-848.

    The last KIP-848 member to go may have been a dead one that kept its successor out. That successor is no member of
    either kind, and must still be known as refused.
    """
    held = {member.instance_id for member in kafka.members}
    modern = {pod.ordinal for pod in world.wanted_pods if pod.protocol is Profile.CONSUMER}
    return {k: h for k, h in known.items() if k not in held and world.ordinal_of(k) in modern}


def _is_outdated(known: LastHolder, member_id: str, sighting: MemberSighting | None) -> bool:
    return known.member_id != member_id or _was_gone(sighting, known.there_by)


def _was_gone(sighting: MemberSighting | None, since: float) -> bool:
    return sighting is not None and sighting.absent_at is not None and sighting.absent_at > since


def _sighting(world: World, instance_id: str, member_id: str) -> MemberSighting | None:
    """Of this member under this id."""
    sighting = world.history.members.get(instance_id)
    return sighting if sighting is not None and sighting.member_id == member_id else None
