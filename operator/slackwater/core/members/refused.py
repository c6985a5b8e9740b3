"""Pods of processes that were refused because a dead member held their instance id (F13) are restarted.

`restart_due` does it where the process must have been refused, not where it is slow, and ever more seldom for one pod.
`last_chance` does it where nothing tells the two apart, once, before a version is called failed for it; `overdue` does
the same where no rollout is under way.

The memory is written before the act. The pod's uid and run are in it, so that a restart that was not done is still due.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

from slackwater.core.decision.acts import Cause, DeletePod
from slackwater.core.decision.decision import Decision
from slackwater.core.members.clocks import REFUSAL_FORGOTTEN_S, RESTARTS_APART_S, restart_again_s
from slackwater.core.members.death import has_ended, stayed_since_its_start, time_to_join
from slackwater.core.members.presence import absent_since, lives
from slackwater.core.members.seen import was_in_it
from slackwater.core.members.succession import Refused, free_ids
from slackwater.core.world.memory import RolloutMemory, RolloutPhase
from slackwater.core.world.observation import GroupObservation, GroupType
from slackwater.core.world.pods import Pod
from slackwater.core.world.profile import Profile
from slackwater.core.world.refusal import Refusal
from slackwater.core.world.workload import UpdateStrategy, Workload
from slackwater.core.world.world import World


def restart_due(world: World, workload: Workload) -> Decision | None:
    """Restart a pod whose process was refused before the id was free: it may live on, but never joins any more."""
    kafka = world.kafka
    if not isinstance(kafka, GroupObservation) or kafka.type is GroupType.OTHER:
        return None
    refused = {k: state.member_id for k, state in free_ids(world, kafka) if isinstance(state, Refused)}
    for pod in world.wanted_pods if refused else ():
        ids = {k: member_id for k, member_id in refused.items() if world.ordinal_of(k) == pod.ordinal}
        if ids and _may_be_restarted(world, workload, pod, ids):
            act = DeletePod(pod.name, pod.uid, pod.ordinal, Cause.REFUSED)
            return Decision(world.memory if _was_due(world, pod) else _restarted(world, pod, ids), act)
    return None


def last_chance(world: World, workload: Workload, ordinal: int) -> Decision | None:
    """Restart a pod that has not joined in time, and may have been refused though nobody saw it: once a rollout.

    The alternative is to call its version failed, which costs it a restart as well, and the rollout.
    """
    pod = world.pod(ordinal)
    return _chance(world, workload, pod) if pod is not None and _may_be_refused(world, pod) else None


def _chance(world: World, workload: Workload, pod: Pod) -> Decision | None:
    kafka = world.kafka
    if not isinstance(kafka, GroupObservation) or kafka.type is GroupType.OTHER:
        return None  # a classic one may have been of KIP-848 until its last such member's session ended
    if pod.terminating or world.members_of(pod):
        return None
    if lives(world, pod):  # without the id: it was not refused
        return None
    if _had_its_chance(world, pod) or not _comes_back_the_same(workload, pod):
        return None
    act = DeletePod(pod.name, pod.uid, pod.ordinal, Cause.LAST_CHANCE)
    return Decision(world.memory if _chance_was_due(world, pod) else _restarted(world, pod, {}, unseen=True), act)


def overdue(world: World, workload: Workload) -> Decision | None:
    """Restart a pod that runs and has been in no group for `rejoinTimeout`, and may have been refused: once.

    Not in a rollout, which judges its version, nor after one that failed, which moves no pod.
    A process that crashes within seconds of its joining leaves no proof that the member was there before it started;
    nor does one that went with its pod while Kafka was away. A process that has been in the group since its start was
    not refused: it was stopped, or may not come in any more. Nothing is known where the Kafka that we see may be
    another one than theirs: a name that leads elsewhere by now shows a group without members, too.
    """
    memory = world.memory
    moves_no_pod = memory.phase.under_way or memory.phase is RolloutPhase.FAILED
    if moves_no_pod or not was_in_it(world):
        return None
    if _one_is_coming(world) and not any(_chance_was_due(world, pod) for pod in world.wanted_pods):
        return None
    timeout_s = world.group.spec.rollout.rejoin_timeout_s
    it_helps = _restarts_help(world)
    asked = (pod for pod in world.wanted_pods if _may_be_refused(world, pod) or (it_helps and _is_idle(world, pod)))
    late = (pod for pod in asked if _stays_away(world, pod) and world.now - absent_since(world, pod) > timeout_s)
    found = (_chance(world, workload, pod) for pod in late if not _was_let_in(world, pod))
    return next((decision for decision in found if decision is not None), None)


def _one_is_coming(world: World) -> bool:
    """Whoever was restarted last has its time to join before the next one goes."""
    timeout_s = max(RESTARTS_APART_S, world.group.spec.rollout.rejoin_timeout_s)
    back = {pod.name for pod in world.wanted_pods if lives(world, pod)}
    return any(
        world.now - each.restarted_at < (timeout_s if each.unseen and name not in back else RESTARTS_APART_S)
        for name, each in world.memory.refused.items()
    )


def _restarts_help(world: World) -> bool:
    """Whoever had his chance so far is back, and the Kafka that we see is known to be theirs."""
    tried = [pod for pod in world.wanted_pods if _had_its_chance(world, pod)]
    is_theirs = world.memory.seen_in is not None or any(world.members_of(pod) for pod in world.wanted_pods)
    return is_theirs and all(lives(world, pod) for pod in tried)


def _was_let_in(world: World, pod: Pod) -> bool:
    """The process that runs has been in the group, with all its members."""
    return world.once(_let_in)[pod.ordinal] >= world.made_with(pod).members_per_pod


def _let_in(world: World) -> Counter[int]:
    """By ordinal, how many ids the process had that runs in the pod."""
    found = Counter[int]()
    for instance_id, holder in world.memory.holders.items():
        ordinal = world.ordinal_of(instance_id)
        pod = world.pod(ordinal) if ordinal is not None else None
        if pod is not None and stayed_since_its_start(pod, holder):
            found[pod.ordinal] += 1
    return found


def _stays_away(world: World, pod: Pod) -> bool:
    """It had the time to start, and works under no other name either."""
    return not pod.starting and not lives(world, pod)


def still_refused(world: World) -> Mapping[str, Refusal]:
    """The refusals of the last minutes, of the rollout under way, those whose restart was not done or has not helped.

    They say whether a pod is restarted again and again. Whoever has joined after all was not refused.
    """
    since, memory = world.now - REFUSAL_FORGOTTEN_S, world.memory
    if not memory.refused:
        return memory.refused
    if memory.phase.under_way and memory.started_at is not None:
        since = min(since, memory.started_at)
    not_done = {pod.name for pod in world.wanted_pods if _was_due(world, pod)}
    not_come = {pod.name for pod in world.wanted_pods if not world.members_of(pod)}  # it has had its one chance
    have = {member.instance_id: member.member_id for member in world.members if not member.has_left}
    return {
        name: replace(refusal, ids={k: dead for k, dead in refusal.ids.items() if have.get(k, dead) == dead})
        for name, refusal in memory.refused.items()
        if refusal.restarted_at > since or name in not_done or (refusal.unseen and name in not_come)
    }


def _was_due(world: World, pod: Pod) -> bool:
    """It was decided before to restart this process."""
    known = world.memory.refused.get(pod.name)
    return known is not None and known.still_refused(pod)


def _chance_was_due(world: World, pod: Pod) -> bool:
    """It was decided before to give this pod its last chance."""
    known = world.memory.refused.get(pod.name)
    return known is not None and known.unseen and known.owes(pod)


def _may_be_restarted(world: World, workload: Workload, pod: Pod, ids: Mapping[str, str]) -> bool:
    """`ids`: those that it was refused, with the dead members that had them."""
    known = world.memory.refused.get(pod.name)
    lately = known is not None and world.now - known.restarted_at < restart_again_s(known.times)
    lately = lately and not _was_due(world, pod)
    listed = dict.fromkeys((*world.members_of(pod), *world.nameless_members_of(pod)))
    here = [member for member in listed if not member.has_left and not has_ended(world, member)]
    made = world.made_with(pod)
    whole = not made.is_static or len(here) >= made.members_per_pod  # the id was that of a version before
    if here and not whole:  # it works, and has to be one that asks for the id: as its last run did
        whole = all(time_to_join(world, pod, k, member_id) is None for k, member_id in ids.items())
    return not pod.terminating and not lately and not whole and _comes_back_the_same(workload, pod)


def _asks_once(world: World, pod: Pod) -> bool:
    """It runs, and never asks for its id again where that was refused."""
    return world.made_with(pod).is_static and pod.started_at is not None and pod.protocol is Profile.CONSUMER


def _is_idle(world: World, pod: Pod) -> bool:
    """It has been Ready for `rejoinTimeout`: its process is not slow to start."""
    is_ready = pod.ready and pod.ready_changed_at is not None and _asks_once(world, pod)
    return is_ready and world.now - (pod.ready_changed_at or 0.0) > world.group.spec.rollout.rejoin_timeout_s


def _may_be_refused(world: World, pod: Pod) -> bool:
    """It runs, and another process of its own ran before it, which may have been killed holding the id."""
    return _asks_once(world, pod) and pod.last_run_started_at is not None


def _had_its_chance(world: World, pod: Pod) -> bool:
    known, started_at = world.memory.refused.get(pod.name), world.memory.started_at
    if known is None or not known.unseen or known.owes(pod):
        return False
    return not world.memory.phase.under_way or started_at is None or known.restarted_at >= started_at


def _comes_back_the_same(workload: Workload, pod: Pod) -> bool:
    """Which version a pod runs is the rollout's decision, never a side effect of a restart."""
    if pod.workload != workload.name:
        return False  # in a handover: its place is another pod's soon
    if workload.strategy is UpdateStrategy.ON_DELETE or pod.ordinal >= workload.start + workload.partition:
        return pod.revision == workload.update_revision
    return pod.revision == workload.current_revision


def _restarted(world: World, pod: Pod, ids: Mapping[str, str], *, unseen: bool = False) -> RolloutMemory:
    """The memory of a restart: of the pod, and of each id that it takes up. `ids`: those that it was refused."""

    def is_its_own(instance_id: str) -> bool:
        return world.ordinal_of(instance_id) == pod.ordinal

    memory, known = world.memory, world.memory.refused.get(pod.name)
    released = {k: replace(r, restarted=True) if is_its_own(k) else r for k, r in memory.released.items()}
    holders = {k: h for k, h in memory.holders.items() if not is_its_own(k) or k in released}
    times = known.times + 1 if known is not None else 1
    unseen = unseen or (known is not None and known.unseen)
    refusal = Refusal(world.now, times, unseen, pod.uid, pod.started_at, pod.restarts, ids)
    return replace(memory, released=released, holders=holders, refused={**memory.refused, pod.name: refusal})
