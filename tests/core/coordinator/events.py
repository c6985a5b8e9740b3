"""What can happen to a fleet next, event by event: the outside's own steps, faults, and people who change their minds.

Each event is a pure function. Time passes with every one of them, longer than any short wait of the operator.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Final

from slackwater.core.decision.acts import DeletePod, ReleaseMembers
from slackwater.core.world.memory import RolloutPhase
from slackwater.core.world.observation import GroupState, GroupType
from slackwater.core.world.profile import Profile
from tests.core.coordinator import clients, model, modern
from tests.core.coordinator.controller import Seen, Wanted
from tests.core.coordinator.fleet import (
    PARTITIONS,
    REJOIN_TIMEOUT_S,
    SESSION_S,
    TICK_S,
    Fleet,
    Pod,
    Spec,
    StatefulSet,
    balanced,
    state_seen,
)
from tests.core.coordinator.model import Error, Group, Member
from tests.core.coordinator.pilot import Broken, carry_out, die, passes, put, stop, take_down

Change = Callable[[Spec], Spec]


def natural(fleet: Fleet) -> Iterator[tuple[str, Fleet]]:
    """All that goes on by itself. Raises Broken when a step breaks an invariant."""
    later = replace(fleet, now=fleet.now + TICK_S)
    yield from _operator(later)
    outside = list(_outside(later))
    yield from outside
    if not outside and _has_dead_members(fleet):
        yield "sessions end", sessions_ended(fleet)
    if not outside and _waits_in_vain(fleet):
        for looked in passes(replace(fleet, now=fleet.now + REJOIN_TIMEOUT_S + TICK_S)):
            yield "rejoinTimeout passes", looked


def _outside(later: Fleet) -> Iterator[tuple[str, Fleet]]:
    if (synced := sync(later)) != later:
        yield "the StatefulSet controller", synced
    for pod in _unlike(later.pods):
        yield from _of_a_pod(later, pod)
    if later.group.state in (GroupState.PREPARING_REBALANCE, GroupState.COMPLETING_REBALANCE):
        yield "the group rebalances", _served(rebalanced(later))
    if state_seen(later.group) is GroupState.RECONCILING and (moved := reconciled(later)) != later:
        yield "the group reconciles", moved


def _of_a_pod(later: Fleet, pod: Pod) -> Iterator[tuple[str, Fleet]]:
    if pod.terminating:
        yield f"{pod.name} ends", replace(later, pods=tuple(p for p in later.pods if p is not pod))
    elif not pod.running:
        yield f"{pod.name} starts", _started(later, pod)
    elif later.is_fenced(pod):
        if later.client.exits_when_fenced:
            yield f"{pod.name} is fenced and exits", crashed(later, pod)
        elif not pod.refused:
            lives_on = replace(later, pods=put(later.pods, replace(pod, refused=True)))
            yield f"{pod.name} is fenced and lives on", lives_on
    elif pod.member_id and not pod.refused and not later.is_member(pod):
        yield f"{pod.name} joins again", _served(joined(later, pod))
    elif not pod.member_id and not pod.refused and not _is_decided_on(later, pod):
        yield f"{pod.name} joins", _served(joined(later, pod))


def faults(fleet: Fleet) -> Iterator[tuple[str, Fleet]]:
    """What fate does, as long as there is any left."""
    if fleet.faults == 0:
        return
    later = replace(fleet, now=fleet.now + TICK_S, faults=fleet.faults - 1)
    if later.pending is not None:  # nothing else is lost at other times than what was watched
        yield "kill the operator", die(later)
    if _has_dead_members(fleet) and not _some_are_about_to_notice(fleet):
        yield "sessions end early", sessions_ended(replace(fleet, faults=fleet.faults - 1))
    for pod in later.pods:
        if pod.running and not pod.terminating:
            yield f"crash {pod.name}", crashed(later, pod)
            yield f"evict {pod.name}", replace(stop(later, pod), taken=later.taken - {pod.ordinal})
        if later.is_member(pod) and pod.profile is Profile.CONSUMER:
            yield f"cut {pod.name} off", cut_off(later, pod)


def changes(fleet: Fleet, change: Change | None) -> Iterator[tuple[str, Fleet]]:
    """People change what they want, at any moment."""
    if fleet.changes > 0 and change is not None:
        later = replace(fleet, now=fleet.now + TICK_S, changes=fleet.changes - 1)
        yield "people change their minds", replace(later, spec=change(fleet.spec))


CHANGES: Final[Mapping[str, Change]] = {
    "abort": lambda spec: replace(spec, aborts=spec.aborts + 1),
    "template": lambda spec: replace(spec, version=spec.version + 1),
    "scale-up": lambda spec: replace(spec, replicas=spec.replicas + 1),
    "scale-down": lambda spec: replace(spec, replicas=max(1, spec.replicas - 1)),
}


def turned_to(target: str) -> Change:
    """Another target is asked for."""
    return lambda spec: replace(spec, target=target)


def _is_decided_on(fleet: Fleet, pod: Pod) -> bool:
    """Its deletion, or its id's release, is on the way: done long before a process that only starts has joined.

    Should the operator be killed just then, nothing is on the way any more, and the process goes on.
    """
    act = fleet.pending
    if isinstance(act, ReleaseMembers):
        return any(ref.instance_id == pod.instance_id for ref in act.members)
    return isinstance(act, DeletePod) and (act.name, act.uid) == (pod.name, str(pod.uid))


def _unlike(pods: tuple[Pod, ...]) -> Iterator[Pod]:
    """Of pods that differ by their ordinals alone one will do: it does not matter which of them is the first."""
    known: set[Pod] = set()
    for pod in pods:
        alike = replace(pod, ordinal=0, uid=0)
        if alike not in known:
            yield pod
        known.add(alike)


def _has_dead_members(fleet: Fleet) -> bool:
    return any(fleet.process_of(member) is None for member in fleet.group.members)


def _some_are_about_to_notice(fleet: Fleet) -> bool:
    """Fenced processes that live: they learn it with their next heartbeat, and a session lasts for three at least."""
    return any(fleet.is_fenced(pod) and not pod.refused and not pod.terminating for pod in fleet.pods)


def _waits_in_vain(fleet: Fleet) -> bool:
    """For a process that was refused, and nothing else is going on that the operator could wait for."""
    phase = fleet.memory.phase
    waits = (phase is RolloutPhase.PROGRESSING or (fleet.client.warm and phase.under_way)) and fleet.pending is None
    return waits and not _has_dead_members(fleet) and any(pod.refused for pod in fleet.pods)


def _operator(fleet: Fleet) -> Iterator[tuple[str, Fleet]]:
    if fleet.pending is not None:
        yield f"the operator: {type(fleet.pending).__name__}", carry_out(fleet)
    else:
        for looked in passes(fleet):
            yield "the operator looks", looked


def sync(fleet: Fleet) -> Fleet:
    """One pass of the StatefulSet controller over each."""
    for name in [each.name for each in fleet.sets]:
        fleet = _sync_one(fleet, name)
    return fleet


def _sync_one(fleet: Fleet, name: str) -> Fleet:
    object_ = fleet.named(name)
    assert object_ is not None
    seen = replace(object_, settled=True, update=object_.template, current=object_.current or object_.template)
    wanted = Wanted(seen.ordinals, seen.partition, seen.on_delete, seen.current, seen.update)
    before = fleet.pods
    missing = wanted.missing(_seen(fleet, name))
    pods = fleet.pods
    for ordinal in missing:
        pods = put(pods, Pod(name, ordinal, fleet.ids, wanted.revision_of(ordinal), created_at=fleet.now))
    fleet = replace(_with(fleet, seen), pods=pods, ids=fleet.ids + len(missing[:1]))
    for ordinal in wanted.surplus(_seen(fleet, name)):
        fleet = replace(stop(fleet, _pod(fleet, name, ordinal)), taken=fleet.taken - {ordinal})
    if (replaced := wanted.to_replace(_seen(fleet, name))) is not None:
        fleet = take_down(fleet, _pod(fleet, name, replaced))
    if wanted.is_complete(_seen(fleet, name)):
        fleet = _with(fleet, replace(seen, current=seen.update))
    changed = bool(missing) or (fleet.named(name), fleet.pods) != (object_, before)
    return replace(fleet, outrun=changed and fleet.pending is not None) if not fleet.outrun else fleet


def _seen(fleet: Fleet, name: str) -> dict[int, Seen]:
    return {p.ordinal: Seen(p.revision, p.running, p.terminating) for p in fleet.pods if p.workload == name}


def _pod(fleet: Fleet, name: str, ordinal: int) -> Pod:
    pod = fleet.pod_of(name, ordinal)
    assert pod is not None
    return pod


def _with(fleet: Fleet, object_: StatefulSet) -> Fleet:
    return replace(fleet, sets=tuple(object_ if each.name == object_.name else each for each in fleet.sets))


def _started(fleet: Fleet, pod: Pod) -> Fleet:
    """Its container runs, and is Ready although its process has joined nothing yet (F2)."""
    started = replace(pod, running=True, started_at=fleet.now, ready_changed_at=fleet.now, member_id="", refused=False)
    return replace(fleet, pods=put(fleet.pods, started))


def joined(fleet: Fleet, pod: Pod) -> Fleet:
    """Its process asks to be let in. Raises Broken when no protocol is common to all (F2).

    One of KIP-848 that was a member before keeps its member id.
    """
    keeps = bool(pod.member_id) and pod.profile is Profile.CONSUMER
    member_id = pod.member_id if keeps else f"{pod.address}/{fleet.ids}"
    member = Member(member_id, pod.instance_id if fleet.client.static else None, fleet.client.offers[pod.profile])
    group, error = clients.ask_to_join(fleet.group, member)
    if error is Error.INCONSISTENT_GROUP_PROTOCOL:
        raise Broken(f"{pod.name} with {pod.profile.words} is refused: no protocol is common to all")
    refused = error is Error.UNRELEASED_INSTANCE_ID
    if fleet.group.type is GroupType.CONSUMER and group.type is GroupType.CLASSIC:
        group = _with_targets(group)
    after = replace(pod, member_id="" if refused else member_id, refused=refused)
    return replace(fleet, group=group, pods=put(fleet.pods, after), ids=fleet.ids + 1)


def _with_targets(group: Group) -> Group:
    """What each was to have: a group that is classic again by a takeover does not rebalance (KAFKA-17317).

    One that was empty does.
    """
    if group.state is not GroupState.STABLE:
        return group
    given = balanced(group.members)
    return replace(group, members=tuple(replace(m, assignment=given[m.member_id]) for m in group.members))


def rebalanced(fleet: Fleet) -> Fleet:
    """Every living member joins again and syncs; dead dynamic ones are out, dead static ones stay."""

    def lives(member: Member) -> bool:
        return fleet.process_of(member) is not None

    group = clients.join_again(fleet.group, lives)
    if group.state is GroupState.PREPARING_REBALANCE:
        group, _ = model.complete(group)
    return replace(fleet, group=clients.sync(group, lives, PARTITIONS))


def reconciled(fleet: Fleet) -> Fleet:
    """Everybody has what the coordinator wants, unless somebody dead would have to give something up."""
    group = clients.reconcile(fleet.group, lambda member: fleet.process_of(member) is not None, PARTITIONS)
    return replace(fleet, group=group)


def sessions_ended(fleet: Fleet) -> Fleet:
    """So much time passes that the coordinator takes every dead member out."""
    group, fleet = fleet.group, replace(fleet, now=fleet.now + SESSION_S + TICK_S)
    for member in fleet.group.members:
        if fleet.process_of(member) is None:
            group, _ = modern.drop(group, member.member_id)
    return replace(fleet, group=group)


def crashed(fleet: Fleet, pod: Pod) -> Fleet:
    """SIGKILL: nobody is told. The kubelet starts the container again."""
    dead = replace(
        pod,
        running=False,
        member_id="",
        restarts=pod.restarts + 1,
        ended_at=fleet.now,
        last_run_started_at=pod.started_at,
        ready_changed_at=fleet.now,
    )
    return replace(fleet, pods=put(fleet.pods, dead), taken=fleet.taken - {pod.ordinal})


def cut_off(fleet: Fleet, pod: Pod) -> Fleet:
    """It cannot reach its broker until its session has ended, and lives on."""
    group, _ = modern.drop(fleet.group, pod.member_id)
    return replace(fleet, group=group, taken=fleet.taken - {pod.ordinal})


def _served(fleet: Fleet) -> Fleet:
    """Pods that serve again are not down because of the operator any more."""
    return replace(fleet, taken=frozenset(o for o in fleet.taken if not fleet.serves(o)))
