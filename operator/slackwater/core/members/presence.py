"""Is a pod's consumer really in the group? Yes, no, or not known.

A member that died stands in the group's description until its session ends (static ones always, F10; dynamic ones when
they crashed), so being listed proves nothing. What proves life: a member id that changed since the pod's container
started (F41), a committed offset that moved since then, or a session timeout that would have ended a dead one by now.
"""

from __future__ import annotations

from enum import StrEnum

from slackwater.core.timeouts.classic import classic_timeouts
from slackwater.core.world.history import MemberSighting
from slackwater.core.world.memory import Handover
from slackwater.core.world.observation import GroupObservation, GroupType, Member
from slackwater.core.world.pods import Pod
from slackwater.core.world.world import World

SESSION_MARGIN_S = 5.0
"""The broker may be late to expire a session, and the kubelet's clock may differ from ours."""
LOOKS_APART_S = 3.0
"""Looks at a group in motion are a second apart."""
CONSUMER_SESSION_TIMEOUT_S = 60.0
"""KIP-848 sessions are set on the broker, where they are at most this long by default (F23)."""


class Presence(StrEnum):
    YES = "yes"
    NO = "no"
    UNKNOWN = "unknown"


def presence(world: World, pod: Pod) -> Presence:
    """Tell whether all members of the pod have joined since its container started."""
    if not isinstance(world.kafka, GroupObservation) or pod.started_at is None:
        return Presence.UNKNOWN if pod.started_at is not None else Presence.NO
    members = world.members_of(pod)
    found = [_member_presence(world, world.kafka, pod, pod.started_at, member) for member in members]
    wanted = world.group.spec.members_per_pod
    if found.count(Presence.YES) >= wanted:
        return Presence.YES
    return Presence.NO if len(found) - found.count(Presence.NO) < wanted else Presence.UNKNOWN


def serves(world: World, pod: Pod) -> bool:
    """Ready, and known to be in the group."""
    return pod.ready and not pod.terminating and presence(world, pod) is Presence.YES


def is_down(world: World, pod: Pod) -> bool:
    """Known not to consume: not Ready, or Ready and out of the group for longer than a return may take."""
    if not pod.ready:
        return True
    overdue = world.now - absent_since(world, pod) > world.group.spec.rollout.rejoin_timeout_ms / 1000
    given_up = world.memory.phase.goes_back  # nobody waits any more for a version that has failed
    return presence(world, pod) is Presence.NO and (overdue or given_up)


def absent_since(world: World, pod: Pod) -> float:
    """The latest moment from which the pod's absence can be counted; what happened before we looked does not count."""
    moments = [pod.created_at, pod.started_at or 0.0, world.history.watched_since or world.now]
    moments += world.departures_at(pod.ordinal).values()
    if not pod.ready and pod.ready_changed_at is not None:
        moments.append(pod.ready_changed_at)
    return max(moments)


def _member_presence(world: World, kafka: GroupObservation, pod: Pod, started_at: float, member: Member) -> Presence:
    instance_id = member.instance_id or member.member_id
    handover = world.memory.handover if _is_in_hand(world, pod) else None
    if handover is not None and _is_holder(handover, pod, instance_id, member.member_id):
        return Presence.YES
    if _has_a_rival(world, pod):
        return Presence.UNKNOWN  # whatever is seen of the id may be the other one's doing
    before = _member_before_step(world, pod, instance_id)
    if before is not None and before == member.member_id:
        return Presence.NO
    sighting = world.history.members.get(instance_id)
    # What was seen while there was another process may have been that one's doing.
    alone_since = max(started_at, handover.alone_since or 0.0) if handover is not None else started_at
    if before is not None and pod.restarts == 0 and _joined_since(sighting, alone_since):
        return Presence.YES
    expired = _a_dead_member_would_be_gone(world, kafka, alone_since)
    if sighting is not None and sighting.absent_at is not None and sighting.absent_at >= alone_since:
        return Presence.YES
    if sighting is not None and sighting.since < started_at:
        return Presence.YES if expired else Presence.NO
    if any(world.history.commit_moved_after.get(partition, 0.0) >= alone_since for partition in member.assignment):
        return Presence.YES
    return Presence.YES if expired else Presence.UNKNOWN


def _is_in_hand(world: World, pod: Pod) -> bool:
    return world.memory.handover is not None and world.memory.handover.ordinal == pod.ordinal


def _is_holder(handover: Handover, pod: Pod, instance_id: str, member_id: str) -> bool:
    """The pod runs as when it was known to hold the id, and holds it still."""
    own = handover.after or handover.before
    run = (pod.uid, pod.started_at, pod.restarts)
    same = run == (handover.holder_uid, handover.holder_started_at, handover.holder_restarts)
    return same and not handover.holder_down and own.get(instance_id) == member_id


def _has_a_rival(world: World, pod: Pod) -> bool:
    """Another pod with the same instance id, which runs, or did so just now."""
    beside = world.beside
    others = (*beside.arriving, *beside.leaving) if beside is not None else ()
    return any(other.ordinal == pod.ordinal and other.uid != pod.uid for other in others)


def _joined_since(sighting: MemberSighting | None, started_at: float) -> bool:
    """Another member id than before the restart proves a return (F41), if no earlier process can have brought it.

    One that crashed and joined anew before its pod was deleted could have. Between two looks that follow each other
    closely there is no time for all that: to crash, start, join, end, and for the new pod to be made and to start.
    """
    if sighting is None or sighting.absent_at is None or sighting.since < started_at:
        return False
    return sighting.since - sighting.absent_at <= LOOKS_APART_S


def _member_before_step(world: World, pod: Pod, instance_id: str) -> str | None:
    """The member id that the instance id had when the operator restarted this pod; None when it did not."""
    step = world.memory.step
    if step is None or step.ordinal != pod.ordinal or pod.created_at < int(step.started_at):
        return None
    return step.members_before.get(instance_id)


def _a_dead_member_would_be_gone(world: World, kafka: GroupObservation, died_at: float) -> bool:
    """A whole session has passed under one coordinator, either before it changed last or since."""
    before, after = world.history.disturbed or (kafka.observed_at, died_at)
    session_s = world.once(longest_session_s)
    return before - died_at >= session_s or kafka.observed_at - max(after, died_at) >= session_s


def longest_session_s(world: World) -> float:
    """Seconds after which a dead member is certainly out of the group, whichever version it ran."""
    spec, memory = world.timeouts, world.memory
    classic_s = max(memory.session_timeout_ms, classic_timeouts(spec, memory.session_bounds).session_ms) / 1000
    if world.seen is not None and world.seen.type is GroupType.CLASSIC:
        return classic_s + SESSION_MARGIN_S
    bounds = world.broker.consumer_session if world.broker is not None else None
    consumer_s = max(CONSUMER_SESSION_TIMEOUT_S, bounds.max_ms / 1000 if bounds is not None else 0.0)
    return max(classic_s, consumer_s) + SESSION_MARGIN_S  # a migrating group has members of both kinds
