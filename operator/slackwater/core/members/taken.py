"""Who of us had an id last. Another process may take it: one in another Kubernetes cluster, say, in which the group
comes back after a fail-over. Its member lives, and is no more ours than one that comes after a removal.

It is noted while the pod that is to go is still there, and kept until the pod is there again. A process takes its id
once, when it joins. So it was another one that took it in a run of the pod's container from a member that had come in
that run, or had outlasted the session of whoever was there before the run. That member has what the one before had, as
no rebalance comes of it; one that was taken out and joined again has not. This is no proof: a consumer may be made
again within its process. Who is left alone for it leaves when its session ends.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import pairwise
from typing import Final

from slackwater.core.members.clocks import CLOCKS_DIFFER_S
from slackwater.core.members.ownership import find_left_behind, given_ordinal
from slackwater.core.members.sessions import longest_session_s
from slackwater.core.world.observation import Member
from slackwater.core.world.pods import Pod
from slackwater.core.world.sighting import MemberSighting
from slackwater.core.world.world import World

LOOKS_APART_S: Final = 60.0
"""At most, while Kafka answers: who was not there in one look and is in the next has come by then."""
_NEVER: Final = float("inf")


def last_of_ours(world: World) -> Mapping[str, str]:
    """`RolloutMemory.removed`, brought up to date."""
    holders = {m.instance_id or "": m for m in world.members} if world.memory.removed else {}
    kept = {key: ours for key, ours in world.memory.removed.items() if _is_kept(world, key, ours, holders.get(key))}
    to_go = (m for m in find_left_behind(world) if (given_ordinal(world, m) or 0) >= world.replicas)
    return {**kept, **_last_seen(world, kept), **noted(world, to_go, kept)}


def _last_seen(world: World, known: Mapping[str, str]) -> Mapping[str, str]:
    """While Kafka cannot be seen: of pods that are to go, who had their ids in the last look. Somebody else may have
    them in the next one, or had them by then."""
    if world.seen is not None or world.beside is not None:
        return {}
    found: dict[str, str] = {}
    for key, sighting in world.history.members.items():
        pod = _pod_of(world, key)
        if pod is not None and pod.ordinal >= world.replicas and key not in known:
            found[key] = "" if _is_anothers(world, pod, key, sighting) else sighting.member_id
    return found


def noted(world: World, members: Iterable[Member], known: Mapping[str, str]) -> Mapping[str, str]:
    """Of members with ids of pods that are to go and still there: instance id → the last one that was ours. `known`:
    the same, from before: a process that ends takes no id, unless a hook keeps it, and it had not joined yet. In a
    handover the other pod is ours as well."""
    found: dict[str, str] = {}
    if world.beside is not None:
        return found
    for member in members:
        key, pod = member.instance_id or "", _pod_of(world, member.instance_id)
        if pod is None:
            continue
        ours = known.get(key, "")
        if ours and (pod.terminating or _was_there_before(world, pod, member)):
            found[key] = member.member_id if _took_its_predecessors(world, pod, member, ours) else ours
        else:
            last = "" if came_from_elsewhere(world, pod, member) else member.member_id
            found[key] = _taken_from(world, pod, member) or last
    return found


def _took_its_predecessors(world: World, pod: Pod, member: Member, ours: str) -> bool:
    """It came in this pod, and took the id from one that had been there before the pod was made."""
    sighting = world.history.members.get(member.instance_id or "")
    if sighting is None or sighting.member_id != member.member_id or sighting.taken_from is None:
        return False
    before, came_after, _ = sighting.taken_from
    there_since = world.history.watched_since if came_after is None else came_after + LOOKS_APART_S
    is_its_predecessors = there_since is not None and there_since < pod.created_at - CLOCKS_DIFFER_S
    return before == ours and is_its_predecessors and sighting.came_by > pod.created_at


def _is_kept(world: World, instance_id: str, ours: str, holder: Member | None) -> bool:
    """It is history once the id's pod is there again, and has joined or may have."""
    pod = _pod_of(world, instance_id)
    if pod is None or pod.terminating or world.seen is None:
        return True
    return holder is not None and holder.member_id != ours and _was_there_before(world, pod, holder)


def _was_there_before(world: World, pod: Pod, holder: Member) -> bool:
    """It had come before the pod was made: it is not the pod's."""
    sighting = world.history.members.get(holder.instance_id or "")
    if not pod.has_run:
        return True
    same = sighting is not None and sighting.member_id == holder.member_id
    return sighting is not None and same and sighting.came_by < pod.created_at - CLOCKS_DIFFER_S


def _taken_from(world: World, pod: Pod, member: Member) -> str:
    """The member of ours that another process has taken the id from; empty where none has."""
    sighting = world.history.members.get(member.instance_id or "")
    if sighting is None or sighting.member_id != member.member_id or sighting.taken_from is None:
        return ""
    return sighting.taken_from[0] if _another_took_it(world, pod, sighting) else ""


def _another_took_it(world: World, pod: Pod, sighting: MemberSighting) -> bool:
    _, came_after, at = sighting.taken_from or ("", None, "")  # the one before
    held_at, its_only_run = sighting.absent_at, not pod.restarts and pod.last_run_started_at is None
    was_there = its_only_run and at == pod.address != pod.node_address and at != ""
    began = [at for at in (pod.last_run_started_at, pod.runs_since) if at is not None]
    for start, end in pairwise((*began, _NEVER)):
        if held_at is not None and start <= held_at and sighting.came_by < end:
            return was_there or (came_after or 0.0) > start or held_at > gone_by(world, start)
    return False


def came_from_elsewhere(world: World, pod: Pod, member: Member) -> bool:
    """It took an id that nobody had, and not at the pod's address, which brokers tell of whoever is the first to have
    an id (F41). Nobody of ours has the id then. Where brokers tell other addresses than the pods' own, nothing is
    known."""
    key = member.instance_id or ""
    sighting = world.history.members.get(key)
    return sighting is not None and sighting.member_id == member.member_id and _is_anothers(world, pod, key, sighting)


def _is_anothers(world: World, pod: Pod, instance_id: str, sighting: MemberSighting) -> bool:
    """`was_ours`: when the pod had another address, as before its node was started again."""
    address = sighting.places[0] if sighting.places else ""
    is_ours = address in world.addresses or address in ("", pod.node_address)
    known = world.memory.holders.get(instance_id)
    was_ours = known is not None and known.stayed is not None and known.member_id == sighting.member_id
    if not sighting.after_nobody or not pod.address or is_ours or was_ours:
        return False
    came_in_it = (sighting.absent_at or 0.0) > pod.created_at + CLOCKS_DIFFER_S  # not in the pod before
    return world.memory.tells_addresses and came_in_it


def gone_by(world: World, start: float) -> float:
    """By then no member was listed any more whose process had ended before `start`."""
    _, disturbed = world.history.disturbed or (start, start)
    return max(start, disturbed) + world.once(longest_session_s) + CLOCKS_DIFFER_S


def _pod_of(world: World, instance_id: str | None) -> Pod | None:
    ordinal = world.ordinal_of(instance_id)
    return None if ordinal is None else world.pod(ordinal)
