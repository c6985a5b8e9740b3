"""When two fleets are the same for all that may come: in an exploration, they are then gone on from only once.

Absolute times, ids and counters do not matter, only how they compare. `settled_times` moves all times close to one
another, so that waiting changes nothing for ever. `key` says what is left: times are compared within a pod (with what
is remembered and watched of it), as the decisions do, and not across pods.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import replace
from typing import Final

from slackwater.core.decision.acts import Act, DeletePod, ReleaseMembers, RemoveMembers, WriteWorkload
from slackwater.core.world.departures import Stay
from slackwater.core.world.handover import Handover, Over
from slackwater.core.world.memory import RolloutMemory
from slackwater.core.world.observation import TopicPartition
from slackwater.core.world.profile import Profile
from slackwater.core.world.sighting import MemberSighting
from tests.core.coordinator.fleet import NOW, REJOIN_TIMEOUT_S, SESSION_S, TICK_S, Fleet, Pod, template_hash

ANCIENT: Final = NOW - 100 * SESSION_S
"""For times that nothing is compared with."""
LONG_S: Final = SESSION_S + TICK_S
Move = Callable[[float], float]
Work = tuple[bool, bool, bool] | None
"""Whether commits have moved since the pod's start, since what it has was given to it, and whether more came to it."""


def settled_times(fleet: Fleet) -> Fleet:
    """The same fleet at `NOW`: one tick between one time and the next, or more than a session where there was one."""
    times = sorted({float(fleet.now), *_times(fleet)})
    moved: dict[float, float] = {}
    at = float(NOW)
    for later, earlier in zip(reversed(times), [*reversed(times[:-1]), None], strict=True):
        moved[later] = at
        if earlier is not None:
            at -= LONG_S if later - earlier >= SESSION_S else TICK_S
    return _retimed(fleet, lambda moment: moved.get(moment, float(ANCIENT)))


def key(fleet: Fleet) -> Hashable:
    """Equal for fleets from which the same can come."""
    ids = _ranks(fleet)
    group = fleet.group
    members = sorted(
        (m.instance_id or "", ids[m.member_id], m.protocols, m.awaits, tuple(sorted(m.assignment)), m.released)
        for m in group.members
    )
    pods = tuple(
        (p.workload, p.ordinal, p.revision, p.restarts > 0, p.terminating, p.running, ids.get(p.member_id), p.refused)
        for p in fleet.pods
    )
    return (
        fleet.spec,
        tuple(replace(each, uid=0) for each in fleet.sets),
        pods,
        (group.type, group.state, group.protocol, tuple(members)),
        _memory_key(fleet.memory, ids),
        _owed_key(fleet),
        _handover_key(fleet, ids),
        _history_key(fleet, ids),
        tuple(_pod_times(fleet, pod) for pod in fleet.pods),
        _act_key(fleet, ids),
        (fleet.outrun, fleet.taken, fleet.faults, fleet.changes),
    )


def _times(fleet: Fleet) -> set[float]:
    found: set[float] = set()

    def note(moment: float) -> float:
        found.add(moment)
        return moment

    _retimed(fleet, note)
    return found


def _retimed(fleet: Fleet, move: Move) -> Fleet:
    def maybe(moment: float | None) -> float | None:
        return None if moment is None else move(moment)

    def whole(moment: int | None) -> int | None:
        return None if moment is None else int(move(float(moment)))

    def each(moments: Mapping[str, float]) -> dict[str, float]:
        return {k: move(v) for k, v in moments.items()}

    pods = tuple(
        replace(
            p,
            created_at=int(move(float(p.created_at))),
            started_at=whole(p.started_at),
            ended_at=whole(p.ended_at),
            ready_changed_at=whole(p.ready_changed_at),
            last_run_started_at=whole(p.last_run_started_at),
        )
        for p in fleet.pods
    )
    memory, history = fleet.memory, fleet.history
    step = None if memory.step is None else replace(memory.step, started_at=move(memory.step.started_at))
    memory = replace(
        memory,
        started_at=None if memory.started_at is None else float(ANCIENT),
        upgrade=None if memory.upgrade is None else replace(memory.upgrade, started_at=None),
        retried_at=maybe(memory.retried_at),
        ended_since=maybe(memory.ended_since),
        step=step,
        handover=None if memory.handover is None else _retimed_handover(memory.handover, move),
        released={k: replace(r, released_at=move(r.released_at), tries=1) for k, r in memory.released.items()},
        refused={
            k: replace(r, restarted_at=move(r.restarted_at), times=1, started_at=maybe(r.started_at))
            for k, r in memory.refused.items()
        },
        holders={k: replace(h, there_by=move(h.there_by)) for k, h in memory.holders.items()},
        lag_before=0,
        read_before="",
        read_by_each=None,
        message="",
    )
    history = replace(
        history,
        watched_since=None if history.watched_since is None else float(ANCIENT),
        observed_at=maybe(history.observed_at),
        unchanged_since=maybe(history.unchanged_since),
        members={
            k: replace(
                s,
                since=move(s.since),
                absent_at=maybe(s.absent_at),
                assigned_since=move(s.assigned_since),
                takeovers=() if s.after_nobody else (move(s.since),),
                there_by=maybe(s.there_by),
                found_waiting=None,
                stood_s=REJOIN_TIMEOUT_S + TICK_S if s.stood_s > REJOIN_TIMEOUT_S else 0.0,
            )
            for k, s in history.members.items()
        },
        crowd=0,
        departures=each(history.departures),
        left={k: tuple(Stay(move(s.came_at), move(s.left_at)) for s in stays) for k, stays in history.left.items()},
        commit_moved_after={p: move(at) for p, at in history.commit_moved_after.items()},
        end_moved_after={p: move(at) for p, at in history.end_moved_after.items()},
        unread_since={p: move(at) for p, at in history.unread_since.items()},
        waited_s={},
    )
    return replace(fleet, now=int(move(float(fleet.now))), pods=pods, memory=memory, history=history)


def _retimed_handover(handover: Handover, move: Move) -> Handover:
    def maybe(moment: float | None) -> float | None:
        return None if moment is None else move(moment)

    run, reached = handover.held.run, handover.reached
    if run is not None:
        reached = replace(reached, held=replace(reached.held, run=run._replace(started_at=maybe(run.started_at))))
    return replace(
        handover,
        started_at=float(ANCIENT),  # only what takes too long is compared with it
        state=Over(reached) if handover.over else reached,
        alone_since=maybe(handover.alone_since),
    )


def _ranks(fleet: Fleet) -> dict[str, int]:
    """Member ids by their age within an instance id: which is the older one is all that can be told of them."""
    found = {pod.member_id for pod in fleet.pods} | {m.member_id for m in fleet.group.members}
    memory, act = fleet.memory, fleet.pending
    found |= set(memory.step.members_before.values()) if memory.step is not None else set()
    if memory.handover is not None:
        found |= {*memory.handover.before.values(), *memory.handover.held.ids.values()}
    found |= {release.member_id for release in memory.released.values()}
    found |= {holder.member_id for holder in memory.holders.values()} | set(memory.removed.values())
    found |= {sighting.member_id for sighting in fleet.history.members.values()}
    if isinstance(act, (RemoveMembers, ReleaseMembers)):
        found |= {ref.member_id for ref in act.members}
    by_pod: dict[str, list[int]] = {}
    for member_id in found - {""}:
        by_pod.setdefault(_ordinal_in(member_id), []).append(_number_in(member_id))
    return {m: sorted(by_pod[_ordinal_in(m)]).index(_number_in(m)) for m in found - {""}}


def _ordinal_in(member_id: str) -> str:
    return member_id.split(".")[1]


def _number_in(member_id: str) -> int:
    return int(member_id.rpartition("/")[2])


def _memory_key(memory: RolloutMemory, ids: Mapping[str, int]) -> Hashable:
    step = memory.step
    before = tuple(sorted(ids[m] for m in step.members_before.values())) if step is not None else ()
    return (
        memory.phase,
        memory.target_hash,
        memory.last_good_revision,
        memory.failed_hash,
        memory.protocol,
        memory.upgrade and replace(memory.upgrade, started_at=None),  # nothing is ever compared with it
        memory.ids_given,
        memory.never_ran,
        memory.replicas,
        memory.canary,
        None if step is None else (step.ordinal, step.made, step.also, step.made_also, before),
        tuple(sorted((k, ids[r.member_id], r.restarted) for k, r in memory.released.items())),
        tuple(sorted((k, ids[h.member_id]) for k, h in memory.holders.items())),
        tuple(sorted((k, ids[m]) for k, m in memory.removed.items())),
        tuple(sorted(memory.grown.items())),
        tuple(sorted((name, refusal.unseen) for name, refusal in memory.refused.items())),
        tuple(sorted(memory.commands.items())),
        memory.retried_at is None,
    )


def _owed_key(fleet: Fleet) -> Hashable:
    """Pods whose restart is remembered and was not done, and for which ids; whether their processes are the same."""
    owed = []
    for pod in fleet.pods:
        refusal = fleet.memory.refused.get(pod.name)
        if refusal is not None and refusal.uid == str(pod.uid):
            same = (refusal.started_at, refusal.restarts) == (_runs_since(pod), pod.restarts)
            owed.append((pod.name, same, tuple(sorted(refusal.ids))))
    return tuple(owed)


def _handover_key(fleet: Fleet, ids: Mapping[str, int]) -> Hashable:
    """With whether the pod that holds the ordinal runs as it did: nothing else is asked of that run."""
    handover = fleet.memory.handover
    if handover is None:
        return None
    held, reached = handover.held, handover.reached
    ours = [pod for pod in fleet.pods if pod.ordinal == handover.ordinal]
    same = tuple(pod.workload for pod in ours if (str(pod.uid), _runs_since(pod), pod.restarts) == held.run)
    before, own = (tuple(sorted((key, ids[m]) for key, m in known.items())) for known in (handover.before, held.ids))
    state = (type(reached), handover.over, handover.cold, held.down, handover.alone_since is None)
    return handover.ordinal, handover.to, before, own, state, same


def _runs_since(pod: Pod) -> float | None:
    return float(pod.started_at) if pod.running and pod.started_at is not None else None


def _history_key(fleet: Fleet, ids: Mapping[str, int]) -> Hashable:
    history = fleet.history
    if history.observed_at is None:
        return None
    state, type_, epoch, members = history.fingerprint
    assert isinstance(members, tuple)
    seen = tuple(sorted((_ordinal_in(m), ids[m], e, owned) for _, m, e, owned in members))
    calm = history.unchanged_since is not None and history.unchanged_since < history.observed_at
    return (state, type_, epoch, seen, calm, history.unchanged_since is None)


def _pod_times(fleet: Fleet, pod: Pod) -> Hashable:
    """How the times that concern one pod compare, as far as decisions ask. What is yet to come is later than all."""
    history, memory, name = fleet.history, fleet.memory, pod.instance_id
    started = pod.started_at if pod.running else None
    last_change = max(pod.created_at, started or 0, pod.ended_at or 0)
    step = memory.step
    made = step is not None and pod.ordinal in step.ordinals and pod.created_at >= step.started_at
    looked = history.observed_at is not None and history.observed_at >= last_change
    free_since: tuple[float | None, ...] = (history.departures.get(name),)
    free_since += (memory.released[name].released_at if name in memory.released else None,)
    sightings = [s for s in map(history.members.get, _keys(fleet, pod)) if s is not None]
    free_since = (*free_since, *(s.away_since for s in sightings))
    freed = tuple(at is not None and (at > pod.created_at, at > last_change) for at in free_since)
    watched = [memory.holders[name].there_by] if name in memory.holders else []
    there = tuple(at < last_change for at in watched) + tuple(
        s.there_by is not None and s.there_by < last_change for s in sightings
    )
    run = pod.last_run_started_at
    ran = tuple(at is not None and run is not None and at <= run for at in (*free_since, *watched))
    seen = tuple(
        (
            started is not None and s.absent_at is not None and s.absent_at >= started,
            started is not None and s.since < started,
        )
        for s in sightings
    )
    since = max([float(started or pod.created_at), *(s.assigned_since for s in sightings)])
    work = _work(fleet, pod, started, since)
    back = _is_back_for_good(fleet, pod, work, seen)
    ancient = started is not None and fleet.now - started >= SESSION_S
    deaths = (freed, there, ran, _came_back(fleet, pod, sightings)) if _speaks_kip848(fleet) else ()
    return (
        made,
        looked,
        () if back else seen,
        any(s.stood_s > REJOIN_TIMEOUT_S for s in sightings),
        deaths,
        ancient,
        work,
        None if back else _times_of_handover(fleet, pod, sightings),
    )


def _came_back(fleet: Fleet, pod: Pod, sightings: list[MemberSighting]) -> Hashable:
    """Whether its member was seen gone, or away, after the moments that are remembered of this very member.

    One that is away counts from the newest look, should it come back. A look without it is newer than all of them.
    """
    memory, looked_at = fleet.memory, fleet.history.observed_at
    holder, release = memory.holders.get(pod.instance_id), memory.released.get(pod.instance_id)
    known = [(holder.member_id, holder.there_by)] if holder is not None else []
    known += [(release.member_id, release.released_at)] if release is not None else []
    return tuple(
        gone_at is not None and s.member_id == member_id and gone_at > moment
        for s in sightings
        for gone_at in (looked_at if s.away else s.absent_at,)
        for member_id, moment in known
    )


def _is_back_for_good(fleet: Fleet, pod: Pod, work: Work, seen: tuple[tuple[bool, bool], ...]) -> bool:
    """Alone with its ordinal, which nobody hands over, and known to work in this run.

    In a classic group nobody asks any more how that became known, nor what came before: a handover that begins later
    asks only of ids, runs and ends that are new since.
    """
    handover = fleet.memory.handover
    if _speaks_kip848(fleet) or (handover is not None and handover.ordinal == pod.ordinal):
        return False
    alone = sum(other.ordinal == pod.ordinal for other in fleet.pods) == 1
    serves = pod.running and not pod.terminating and not pod.refused and fleet.is_member(pod)
    first_seen_since = all(not before for _, before in seen)
    return alone and serves and work is not None and work[0] and first_seen_since


def _times_of_handover(fleet: Fleet, pod: Pod, sightings: list[MemberSighting]) -> Hashable:
    handover = fleet.memory.handover
    if len(fleet.sets) < 2 and handover is None:
        return None
    alone = handover.alone_since if handover is not None and handover.ordinal == pod.ordinal else None
    owned = [TopicPartition("orders", p) for m in fleet.group.members if _is_of(m.member_id, pod) for p in m.assignment]
    commits = [fleet.history.commit_moved_after.get(p, 0.0) for p in owned]
    ended = pod.ended_at
    return (
        tuple((s.after_nobody, ended is not None and s.since < ended) for s in sightings),
        ended is not None and any(at > ended for at in commits),
        alone is not None and (alone > (pod.started_at or 0), any(at >= alone for at in commits)),
        tuple(
            alone is not None and (s.since < alone, s.absent_at is not None and s.absent_at >= alone) for s in sightings
        ),
        alone is not None and fleet.now - alone >= SESSION_S,
    )


def _speaks_kip848(fleet: Fleet) -> bool:
    """Or will: only then anybody asks whether a member is dead."""
    upgrade = fleet.memory.upgrade
    path = (upgrade.origin, *upgrade.path) if upgrade is not None else (fleet.memory.protocol,)
    return Profile.CONSUMER in (*path, Profile(fleet.spec.target))


def _work(fleet: Fleet, pod: Pod, started: int | None, since: float) -> Work:
    """What is known of the partitions that its member has."""
    if started is None:
        return None
    history = fleet.history
    owned = [TopicPartition("orders", p) for m in fleet.group.members if _is_of(m.member_id, pod) for p in m.assignment]
    commits = [history.commit_moved_after.get(p, 0.0) for p in owned]
    arrived = any(p in history.unread_since and history.end_moved_after.get(p, 0.0) >= since for p in owned)
    return any(at >= started for at in commits), any(at >= since for at in commits), arrived


def _keys(fleet: Fleet, pod: Pod) -> list[str]:
    """Under which its members are watched."""
    return [pod.instance_id] if fleet.client.static else sorted(k for k in fleet.history.members if _is_of(k, pod))


def _is_of(member_id: str, pod: Pod) -> bool:
    return _ordinal_in(member_id) == str(pod.ordinal)


def _act_key(fleet: Fleet, ids: Mapping[str, int]) -> Hashable:
    act: Act | None = fleet.pending
    if isinstance(act, WriteWorkload):
        where = (act.name, act.start, act.ordinal, act.also)
        return (act.purpose, template_hash(act.template), act.replicas, act.partition, act.strategy, where)
    if isinstance(act, DeletePod):
        return (act.name, act.cause, any(pod.name == act.name and str(pod.uid) == act.uid for pod in fleet.pods))
    if isinstance(act, (RemoveMembers, ReleaseMembers)):
        return (type(act).__name__, tuple(sorted((ref.instance_id, ids[ref.member_id]) for ref in act.members)))
    return type(act).__name__
