"""Processes that were refused because a dead member held their instance id (F13): they never join any more.

Such a process may live on, Ready and idle, or the kubelet makes it wait ever longer: its pod is restarted. But only
when it must have been refused, not when it is slow, and seldom. Where nothing tells the two apart, it is restarted once
before a version is called failed for it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from slackwater.api.consumer_group import Membership
from slackwater.core.decision.acts import Cause, DeletePod
from slackwater.core.decision.decision import Decision
from slackwater.core.members.death import is_from_before, time_to_join
from slackwater.core.world.memory import Refusal, Release, RolloutMemory
from slackwater.core.world.observation import GroupObservation, GroupType
from slackwater.core.world.pods import Pod
from slackwater.core.world.profile import Profile
from slackwater.core.world.workload import UpdateStrategy, Workload
from slackwater.core.world.world import World

JOINS_WITHIN_S: Final = 10.0
"""After its pod became Ready; where it is known how long the process took before, that says more."""
SLOWER_BY: Final = 2.0
JOINS_LATER_S: Final = 3.0
"""A process that was not refused takes at most twice as long as the last time, and a little more."""
MAY_JOIN_LATER_S: Final = 6.0
"""Where it would not have asked before the id was free, had it been as quick as the last time: the node may be busy."""
KNOWN_UP_TO_S: Final = 60.0
"""A longer time to join says that we began to watch late."""
RESTARTS_APART_S: Final = 30.0
"""Doubled with each restart of the same pod, as the kubelet does, whose back-off such a restart evades."""
FORGOTTEN_AFTER_S: Final = 600.0
"""And that is when the kubelet forgets, too."""
BACKOFFS_S: Final = (10.0, 20.0, 40.0, 80.0, 160.0, 300.0)
"""The kubelet's, one after the other. There is one only when a run ended soon after the one before."""
NEW_POD_TAKES_S: Final = 4.0


def restart_due(world: World, workload: Workload) -> Decision | None:
    """A pod whose process was refused before the id was free: it may live on, but never joins any more."""
    kafka = world.kafka
    if not isinstance(kafka, GroupObservation) or kafka.type is GroupType.OTHER:
        return None
    for pod in world.wanted_pods:
        if pod.terminating or _was_restarted_lately(world, pod) or not _comes_back_the_same(workload, pod):
            continue
        if _was_refused(world, kafka, pod):
            return Decision(_restarted(world, pod), DeletePod(pod.name, pod.uid, pod.ordinal, Cause.REFUSED))
    return None


def last_chance(world: World, workload: Workload, ordinal: int) -> Decision | None:
    """A pod that has not joined in time, and may have been refused though nobody saw it: restarted, once a rollout.

    The alternative is to call its version failed, which costs it a restart as well, and the rollout.
    """
    kafka, pod = world.kafka, world.pod(ordinal)
    if not isinstance(kafka, GroupObservation) or kafka.type is GroupType.OTHER:
        return None  # a classic one may have been of KIP-848 until its last such member's session ended
    if pod is None or pod.terminating or not _may_be_refused(world, pod) or world.members_of(pod):
        return None
    if _had_its_chance(world, pod) or not _comes_back_the_same(workload, pod):
        return None
    return Decision(_restarted(world, pod, unseen=True), DeletePod(pod.name, pod.uid, pod.ordinal, Cause.LAST_CHANCE))


def still_refused(world: World) -> Mapping[str, Refusal]:
    """Those of the last minutes, and of the rollout under way: whether a pod is restarted again and again."""
    since, memory = world.now - FORGOTTEN_AFTER_S, world.memory
    if memory.phase.under_way and memory.started_at is not None:
        since = min(since, memory.started_at)
    return {name: refusal for name, refusal in memory.refused.items() if refusal.restarted_at > since}


def _may_be_refused(world: World, pod: Pod) -> bool:
    """It runs, and another process of its own ran before it, which may have been killed holding the id."""
    static = world.group.spec.membership is Membership.STATIC
    crashed = pod.started_at is not None and pod.last_run_started_at is not None
    return static and crashed and pod.protocol is Profile.CONSUMER


def _had_its_chance(world: World, pod: Pod) -> bool:
    known, started_at = world.memory.refused.get(pod.name), world.memory.started_at
    return known is not None and known.unseen and (started_at is None or known.restarted_at >= started_at)


def _was_restarted_lately(world: World, pod: Pod) -> bool:
    known = world.memory.refused.get(pod.name)
    if known is None:
        return False
    wait_s: float = min(RESTARTS_APART_S * 2 ** (known.times - 1), FORGOTTEN_AFTER_S)
    return world.now - known.restarted_at < wait_s


def _was_refused(world: World, kafka: GroupObservation, pod: Pod) -> bool:
    held, released = kafka.held_ids, world.released_at(pod.ordinal)
    if any(k not in held and not r.restarted and _met_the_error(world, pod, k, r) for k, r in released.items()):
        return True
    # The id may have come free by itself, at its session's end: nobody could release it, or we were not there.
    left = {k: h for k, h in world.holders_at(pod.ordinal).items() if k not in held and k not in released}
    return any(_met_the_error(world, pod, k, Release(h.member_id, _free_since(world, k))) for k, h in left.items())


def _met_the_error(world: World, pod: Pod, instance_id: str, release: Release) -> bool:
    """The id was held by a dead member when the process started, and is free for so long that others had joined."""
    if pod.started_at is None:  # it would have to wait longer and longer, though nothing is wrong any more
        return _is_held_back(world, pod) and _had_met_it(world, pod.last_run_started_at, instance_id, release)
    met_it = _had_met_it(world, pod.started_at, instance_id, release)
    return met_it and world.now > _joins_by(world, pod, instance_id, release)


def _had_met_it(world: World, started_at: float | None, instance_id: str, release: Release) -> bool:
    if started_at is None or started_at >= release.released_at:
        return False  # should it have ended, then of itself
    return is_from_before(world, instance_id, release.member_id, started_at)


def _is_held_back(world: World, pod: Pod) -> bool:
    """The kubelet makes its container wait, and for long enough that a new pod is quicker.

    The wait shows late in the pod's status, if at all, and its end too: a pod that is about to start is left alone.
    """
    if pod.ended_at is None or pod.waiting not in ("", "CrashLoopBackOff"):
        return False
    waited_s = world.now - pod.ended_at
    remaining_s = next((backoff_s - waited_s for backoff_s in BACKOFFS_S if backoff_s > waited_s), 0.0)
    return remaining_s >= NEW_POD_TAKES_S


def _joins_by(world: World, pod: Pod, instance_id: str, release: Release) -> float:
    """When the process would be in the group, had it not been refused."""
    started_at, free_at = pod.started_at or pod.created_at, release.released_at
    takes_s = time_to_join(world, pod, instance_id, release.member_id)
    if takes_s is not None and takes_s <= KNOWN_UP_TO_S:
        too_early = started_at + takes_s < free_at
        return max(free_at, started_at + SLOWER_BY * takes_s) + (JOINS_LATER_S if too_early else MAY_JOIN_LATER_S)
    if pod.ready:
        return max(free_at, pod.ready_changed_at or started_at) + JOINS_WITHIN_S
    return max(free_at, started_at) + world.group.spec.rollout.rejoin_timeout_ms / 1000


def _free_since(world: World, instance_id: str) -> float:
    seen_free = world.history.departures.get(instance_id, world.history.watched_since)
    return seen_free if seen_free is not None else world.now


def _restarted(world: World, pod: Pod, *, unseen: bool = False) -> RolloutMemory:
    memory, known = world.memory, world.memory.refused.get(pod.name)
    released = {k: replace(r, restarted=True) if _is_of(world, k, pod) else r for k, r in memory.released.items()}
    holders = {k: h for k, h in memory.holders.items() if not _is_of(world, k, pod) or k in released}
    refusal = Refusal(world.now, unseen=unseen)
    if known is not None:
        refusal = Refusal(world.now, known.times + 1, known.unseen or unseen)
    refused = {**memory.refused, pod.name: refusal}
    return replace(memory, released=released, holders=holders, refused=refused)


def _comes_back_the_same(workload: Workload, pod: Pod) -> bool:
    """Which version runs is the rollout's to say, not a side effect of a restart."""
    if pod.workload != workload.name:
        return False  # in a handover: its place is another pod's soon
    if workload.strategy is UpdateStrategy.ON_DELETE or pod.ordinal >= workload.start + workload.partition:
        return pod.revision == workload.update_revision
    return pod.revision == workload.current_revision


def _is_of(world: World, instance_id: str, pod: Pod) -> bool:
    return world.ordinal_of(instance_id) == pod.ordinal
