"""Who holds an instance id, and whether its process is known to have ended.

A container that starts anew joins as another member, so one that was in the group before its pod's container started,
or ended, last is dead. That is all that proves it: being silent does not. Times of several clocks are compared, so
there is a margin; and in doubt a member lives.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from slackwater.core.members.ownership import given_ordinal
from slackwater.core.world.memory import Holder
from slackwater.core.world.observation import GroupObservation, GroupType, Member
from slackwater.core.world.pods import Pod
from slackwater.core.world.profile import Profile
from slackwater.core.world.world import World

CLOCKS_DIFFER_S: Final = 2.0


def known_holders(world: World) -> Mapping[str, Holder]:
    """The memory of them, brought up to date. It is of KIP-848 groups: only there a death has to be proven."""
    kafka, replicas = world.kafka, world.replicas
    wanted = {k: h for k, h in world.memory.holders.items() if (world.ordinal_of(k) or 0) < replicas}
    if not isinstance(kafka, GroupObservation):
        return wanted
    if kafka.type is not GroupType.CONSUMER:
        return _of_the_refused(world, kafka, wanted) if kafka.members else wanted
    for member in kafka.members:
        ordinal, instance_id = given_ordinal(world, member), member.instance_id
        if instance_id is None or ordinal is None or ordinal >= replicas:
            continue
        seen_by, known = _watched(world, instance_id, member.member_id), wanted.get(instance_id)
        if seen_by is not None and (known is None or known.member_id != member.member_id):
            wanted[instance_id] = Holder(member.member_id, seen_by)
    return wanted


def _of_the_refused(world: World, kafka: GroupObservation, known: Mapping[str, Holder]) -> Mapping[str, Holder]:
    """On the way back from KIP-848: the group is classic once its last such member is gone, and that may be a dead one
    which kept its successor out. The successor is no member of either kind, and must still be known as refused."""
    held = {member.instance_id for member in kafka.members}
    modern = {pod.ordinal for pod in world.wanted_pods if pod.protocol is Profile.CONSUMER}
    return {k: h for k, h in known.items() if k not in held and world.ordinal_of(k) in modern}


def there_by(world: World, instance_id: str, member_id: str) -> float | None:
    """A moment by which this member was in the group for certain; None when it was not seen often enough to say."""
    known = world.memory.holders.get(instance_id)
    moments = [
        _watched(world, instance_id, member_id),
        known.there_by if known and known.member_id == member_id else None,
    ]
    return min((moment for moment in moments if moment is not None), default=None)


def has_ended(world: World, member: Member) -> bool:
    """Whether the process behind a static member of ours is known to be dead."""
    ordinal = given_ordinal(world, member)
    pod = world.pod(ordinal) if ordinal is not None else None
    if pod is None or member.instance_id is None:
        return False
    changes = [at for at in (pod.created_at, pod.started_at, pod.ended_at) if at is not None]
    return is_from_before(world, member.instance_id, member.member_id, max(changes))


def is_from_before(world: World, instance_id: str, member_id: str, moment: float) -> bool:
    """Whether the member was in the group before `moment`, by a clock that is not ours."""
    seen_by = there_by(world, instance_id, member_id)
    clocks_agree = moment <= world.now + CLOCKS_DIFFER_S
    return clocks_agree and seen_by is not None and seen_by < moment - CLOCKS_DIFFER_S


def time_to_join(world: World, pod: Pod, instance_id: str, member_id: str) -> float | None:
    """Seconds that the pod's last run took, at most, from its start until this member of it was in the group."""
    seen_by = there_by(world, instance_id, member_id)
    if seen_by is None or pod.last_run_started_at is None or seen_by < pod.last_run_started_at:
        return None
    return seen_by - pod.last_run_started_at


def _watched(world: World, instance_id: str, member_id: str) -> float | None:
    sighting = world.history.members.get(instance_id)
    return sighting.there_by if sighting is not None and sighting.member_id == member_id else None
