"""Who of us had an id last whose pod is to go. Another process may take it: one in another Kubernetes cluster, say, in
which the group comes back after a fail-over. Its member lives, and is no more ours than one that comes after a removal.

A process takes its id once, when it joins. So it was another one that took it in a run of the pod's container, and from
a member that had come in that run, or when the run was older than `rejoinTimeout`. This is no proof: a consumer may be
made again within its process. Who is left alone for it leaves when its session ends.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import pairwise
from typing import Final

from slackwater.core.world.history import MemberSighting
from slackwater.core.world.observation import Member
from slackwater.core.world.pods import Pod
from slackwater.core.world.world import World

_NEVER: Final = float("inf")


def our_last(world: World, members: Iterable[Member]) -> Mapping[str, str]:
    """Of members with ids of pods that are to go: instance id → the last one that was ours, as `RolloutMemory.removed`
    has it. To be asked while the pods are there; in a handover the other pod is ours as well."""
    found: dict[str, str] = {}
    if world.beside is not None:
        return found
    for member in members:
        pod = world.pod(world.ordinal_of(member.instance_id) or 0)
        if pod is not None:
            found[member.instance_id or ""] = _taken_from(world, pod, member) or member.member_id
    return found


def _taken_from(world: World, pod: Pod, member: Member) -> str:
    """The member of ours that another process has taken the id from; empty where none has."""
    sighting = world.history.members.get(member.instance_id or "")
    if sighting is None or sighting.member_id != member.member_id or sighting.taken_from is None:
        return ""
    before, step = sighting.taken_from[0], world.memory.step
    if step is not None and step.taken_out.get(member.instance_id or "") == before:
        return ""  # the operator took it out, and its process joined again
    return before if _another_took_it(pod, sighting, world.group.spec.rollout.rejoin_timeout_s) else ""


def _another_took_it(pod: Pod, sighting: MemberSighting, joins_within_s: float) -> bool:
    held_at, came_after = sighting.absent_at, sighting.taken_from and sighting.taken_from[1]  # the one before
    began = [at for at in (pod.last_run_started_at, pod.runs_since) if at is not None]
    for start, end in pairwise((*began, _NEVER)):
        if held_at is not None and start <= held_at and sighting.came_by < end:
            return held_at > start + joins_within_s or (came_after or 0.0) > start
    return False
