"""The operator in an exploration: the real decisions, split where it can be killed.

A pass looks, decides and writes the memory; carrying the act out is an event of its own, before which anything else may
happen. What it watched lives in its process and is lost with it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from slackwater.core import plan as planning
from slackwater.core.decision.acts import (
    Act,
    Cause,
    DeletePod,
    DeleteWorkload,
    Purpose,
    ReleaseMembers,
    RemoveMembers,
    WriteWorkload,
)
from slackwater.core.decision.reasons import Hold
from slackwater.core.world.history import GroupHistory, advance
from slackwater.core.world.memory import RolloutPhase
from slackwater.core.world.observation import GroupObservation, GroupType, PartitionOffsets
from slackwater.core.world.pods import Pod as SeenPod
from slackwater.core.world.workload import UpdateStrategy, Workload
from slackwater.core.world.world import World
from tests.core.coordinator import clients, modern
from tests.core.coordinator.described import observed
from tests.core.coordinator.fleet import (
    BROKERS,
    TEMPLATES,
    TICK_S,
    Fleet,
    Pod,
    StatefulSet,
    group_resource,
    template_hash,
)
from tests.core.coordinator.model import Member
from tests.core.factories import BOOTSTRAP, UID

ONE_LOOK, MANY_LOOKS = 1, 3
"""After the third one the operator knows all that looking at what stands still can tell."""
READ: Final = 100
"""Every partition's offsets before a look; only whether they grow is of interest."""


class Broken(AssertionError):
    """An invariant does not hold."""


def look(fleet: Fleet, looks: int) -> World:
    """What the operator sees when it has looked so often, with what it had watched before."""
    history = fleet.history
    for _ in range(looks):
        kafka = observe(fleet)
        history = _folded(advance(history, kafka))
        fleet = replace(fleet, now=fleet.now + TICK_S)
    memory = fleet.memory
    in_use = memory.phase not in (RolloutPhase.NONE, RolloutPhase.COMPLETE)
    workloads = [_workload(each) for each in fleet.sets]
    pods = tuple(_seen_pod(pod) for pod in fleet.pods)
    return World(
        now=kafka.observed_at,
        group=group_resource(fleet.client, fleet.spec),
        kafka=kafka,
        history=history,
        sets=tuple(workloads),
        all_pods=pods,
        memory=memory,
        bootstrap_servers=BOOTSTRAP,
        last_good_template=TEMPLATES.get(memory.last_good_revision) if in_use else None,
        broker=BROKERS,
    )


def passes(fleet: Fleet) -> Iterator[Fleet]:
    """What comes of looking: once, where that leads to something already, and for a while."""
    at_once = _run_pass(fleet, ONE_LOOK)
    if at_once.pending is not None or at_once.memory != fleet.memory:
        yield at_once
    yield _run_pass(fleet, MANY_LOOKS)


def _run_pass(fleet: Fleet, looks: int) -> Fleet:
    """Look, decide, write the memory. Raises Broken when the decision would do harm."""
    world = look(fleet, looks)
    decided = planning.plan(world)
    if decided.act is not None:
        _judge(fleet, decided.act)
    now = int(world.now)
    return replace(fleet, now=now, memory=decided.memory, history=world.history, pending=decided.act, outrun=False)


def why_not(fleet: Fleet) -> Hold | None:
    """What the operator says that it is waiting for."""
    decided = planning.plan(look(fleet, MANY_LOOKS))
    return decided.hold or decided.refusal


def carry_out(fleet: Fleet) -> Fleet:
    """Do what was decided; the world may have gone on since."""
    act = fleet.pending
    done = replace(fleet, pending=None, outrun=False)
    if isinstance(act, WriteWorkload):
        return done if fleet.outrun else _written(done, act)
    if isinstance(act, DeleteWorkload):
        left = tuple(each for each in done.sets if str(each.uid) != act.uid)
        return replace(done, sets=left)
    if isinstance(act, DeletePod):
        pod = next((pod for pod in fleet.pods if str(pod.uid) == act.uid and pod.name == act.name), None)
        return take_down(done, pod) if pod is not None and not pod.terminating else done
    if isinstance(act, RemoveMembers):
        for ref in act.members:
            done = _removed(done, ref.instance_id, ref.member_id)
        return done
    if isinstance(act, ReleaseMembers):
        for ref in act.members:
            done = _released(done, ref.instance_id, ref.member_id)
    return done


def die(fleet: Fleet) -> Fleet:
    """The operator is killed, and another one starts."""
    return replace(fleet, pending=None, outrun=False, history=GroupHistory())


def take_down(fleet: Fleet, pod: Pod) -> Fleet:
    """Because of the operator a pod ends. Raises Broken when as many are down because of it as may be."""
    if fleet.is_member(pod):
        others = {o for o in fleet.taken if o < fleet.replicas} - {pod.ordinal}
        if len(others) >= fleet.client.at_once:
            raise Broken(f"takes {pod.ordinal} down while {sorted(others)} are down because of it")
        fleet = replace(fleet, taken=fleet.taken | {pod.ordinal})
    return stop(fleet, pod)


def stop(fleet: Fleet, pod: Pod) -> Fleet:
    """SIGTERM: its process ends in order."""
    member = fleet.group.member(pod.member_id) if pod.running and pod.member_id else None
    group = fleet.group if member is None else clients.stop(fleet.group, member)
    ended = fleet.now if pod.running else pod.ended_at
    gone = replace(pod, terminating=True, running=False, ended_at=ended, ready_changed_at=fleet.now)
    return replace(fleet, group=group, pods=put(fleet.pods, gone))


def put(pods: tuple[Pod, ...], pod: Pod) -> tuple[Pod, ...]:
    others = [p for p in pods if (p.workload, p.ordinal) != (pod.workload, pod.ordinal)]
    return tuple(sorted([*others, pod], key=lambda p: (p.ordinal, p.workload)))


def observe(fleet: Fleet) -> GroupObservation:
    """Partitions of living owners are read on; in every partition something new has come."""
    living = [m for m in fleet.group.members if fleet.process_of(m) is not None]
    reads = {p for m in living for p in m.assignment}
    offsets = {p: PartitionOffsets(READ + (p.partition in reads), READ + 1) for p in fleet.partitions}
    return observed(fleet.group, float(fleet.now), _host, offsets, settings={})


def _judge(fleet: Fleet, act: Act) -> None:
    """What must never be decided, given the world as it is."""
    if isinstance(act, (RemoveMembers, ReleaseMembers)):
        for ref in act.members:
            member = fleet.group.member(ref.member_id)
            if member is not None and fleet.process_of(member) is not None:
                raise Broken(f"{act} although its process lives")
    if isinstance(act, WriteWorkload) and act.purpose is Purpose.RESTART:
        out = [o for o in range(fleet.replicas) if o != act.ordinal and not fleet.serves(o)]
        if out and fleet.serves(act.ordinal if act.ordinal is not None else -1):
            raise Broken(f"{act.purpose} of {act.ordinal} while {out} do not serve")
    if isinstance(act, WriteWorkload) and act.purpose is Purpose.LET_GO:
        _judge_letting_go(fleet, act)
    if isinstance(act, DeletePod):
        _judge_deletion(fleet, act)


def _judge_deletion(fleet: Fleet, act: DeletePod) -> None:
    """No doubt allows to delete one that serves, whatever the cause, but for haste."""
    deleted = [p for p in fleet.pods if (p.name, str(p.uid)) == (act.name, act.uid)]
    if act.cause is Cause.TOGETHER:
        _judge_haste(fleet, act)
    elif any(fleet.is_member(pod) for pod in deleted):
        raise Broken(f"{act}, which serves")


def _judge_haste(fleet: Fleet, act: DeletePod) -> None:
    """Its controller would restart the pod, too, and knows that already."""
    step, of = fleet.memory.step, fleet.sets[0]
    let_go = of.settled and not of.on_delete and act.ordinal >= of.partition
    if step is None or act.ordinal not in step.also or not let_go:
        raise Broken(f"{act}, which was not let go")


def _judge_letting_go(fleet: Fleet, act: WriteWorkload) -> None:
    """The other pod has to be there, and its process must be the one that holds the id, if one does."""
    assert act.ordinal is not None
    pod = fleet.pod_of(act.name, act.ordinal)
    if pod is not None and fleet.is_member(pod):
        raise Broken(f"lets {pod.name} go, which serves")


def _folded(history: GroupHistory) -> GroupHistory:
    """Offsets as they are before every look, since only their growth counts."""
    return replace(history, committed=dict.fromkeys(history.committed, READ), end=dict.fromkeys(history.end, READ))


def _workload(object_: StatefulSet) -> Workload:
    return Workload(
        name=object_.name,
        uid=str(object_.uid),
        resource_version="1",
        generation=2,
        observed_generation=2 if object_.settled else 1,
        replicas=object_.replicas,
        partition=0 if object_.on_delete else object_.partition,
        strategy=UpdateStrategy.ON_DELETE if object_.on_delete else UpdateStrategy.ROLLING_UPDATE,
        current_revision=object_.current,
        update_revision=object_.update,
        template_hash=object_.template,
        owner_uid=UID,
        template=TEMPLATES[object_.template],
        start=object_.start,
        created_at=float(object_.uid),
    )


def _seen_pod(pod: Pod) -> SeenPod:
    crashed = not pod.running and not pod.terminating and pod.ended_at is not None
    return SeenPod(
        name=pod.name,
        ordinal=pod.ordinal,
        uid=str(pod.uid),
        revision=pod.revision,
        created_at=float(pod.created_at),
        ready=pod.running and not pod.terminating,
        ready_changed_at=_float(pod.ready_changed_at),
        started_at=_float(pod.started_at) if pod.running else None,
        restarts=pod.restarts,
        waiting="CrashLoopBackOff" if crashed else "",
        terminating=pod.terminating,
        address=pod.address,
        ended_at=_float(pod.ended_at),
        last_run_started_at=_float(pod.last_run_started_at),
        protocol=pod.profile,
        workload=pod.workload,
    )


def _host(member: Member) -> str:
    return member.member_id.partition("/")[0]


def _float(moment: int | None) -> float | None:
    return None if moment is None else float(moment)


def _written(fleet: Fleet, act: WriteWorkload) -> Fleet:
    on_delete, before = act.strategy is UpdateStrategy.ON_DELETE, fleet.named(act.name)
    uid = before.uid if before is not None else fleet.ids
    after = StatefulSet(
        act.name, uid, template_hash(act.template), act.replicas, act.partition, on_delete, start=act.start
    )
    if before is None:
        return replace(fleet, sets=(*fleet.sets, after), ids=fleet.ids + 1)
    after = replace(after, current=before.current, update=before.update, settled=before.settled)
    after = after if after == before else replace(after, settled=False)
    return replace(fleet, sets=tuple(after if each is before else each for each in fleet.sets))


def _removed(fleet: Fleet, instance_id: str, member_id: str) -> Fleet:
    member = fleet.group.member(member_id)
    if member is not None and fleet.process_of(member) is not None:
        raise Broken(f"removes {instance_id}, whose process lives")
    group, _ = modern.leave(fleet.group, member_id, instance_id)
    return replace(fleet, group=group)


def _released(fleet: Fleet, instance_id: str, member_id: str) -> Fleet:
    if fleet.group.type is not GroupType.CONSUMER:
        return fleet
    member = fleet.group.member(member_id)
    if member is not None and fleet.process_of(member) is not None:
        raise Broken(f"releases {instance_id}, whose process lives")
    group, _ = modern.consumer_leave(fleet.group, member_id, instance_id, for_a_while=True)
    return replace(fleet, group=group)
