"""Whose member is it? Another Kubernetes cluster may run the group, and its processes have our instance ids."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import pytest

from slackwater.core.decision.reasons import Reason
from slackwater.core.world.memory import RolloutPhase
from slackwater.core.world.workload import Workload
from tests.core.coordinator import model
from tests.core.simulation import stateful_set
from tests.core.simulation.broker import RANGE, Broker, Process
from tests.core.simulation.life import Life, LifesRun
from tests.core.simulation.outside import Outside
from tests.core.simulation.runs import Run
from tests.core.simulation.stateful_set import StatefulSet

COMPLETE = RolloutPhase.COMPLETE


def theirs(*ordinals: int, kip848: bool = False) -> list[Process]:
    protocols = () if kip848 else RANGE
    return [Process(f"payments-{each}", f"10.9.9.{each}", protocols=protocols) for each in ordinals]


def alongside(run: Run, processes: Iterable[Process], for_s: float) -> None:
    """They join again whenever they were taken out, as a consumer does at its next heartbeat."""
    until = run.now + for_s
    while run.now < until:
        run.step()
        for each in processes:
            run.outside.broker.join(each, run.outside.now)


@pytest.fixture
def living(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Who was taken out though its process lives."""
    found: list[str] = []
    remove = Broker.remove

    def removes(broker: Broker, members: Any, now: float) -> None:
        held = {each.member_id for each in broker.group.members}
        found.extend(r.instance_id for r in members if r.member_id in held and broker.process_of(r.member_id).alive)
        remove(broker, members, now)

    monkeypatch.setattr(Broker, "remove", removes)
    return found


@pytest.mark.parametrize("on_failure", ["Pause", "Rollback"])
def test_a_stop_has_its_deadline_where_a_living_process_elsewhere_has_one_of_our_ids(
    on_failure: str, living: list[str]
) -> None:
    """It is taken out once, for it may be a dead one of ours."""
    run = Run(Outside(protocol={"target": "Eager", "allowDowntime": True}, onFailure=on_failure))
    run.until(COMPLETE)
    run.for_seconds(30)
    run.do("Cooperative", lambda o: o.change_target("Cooperative"))
    while run.outside.set.replicas:
        run.step()
    alongside(run, theirs(0), 300)
    said = {line.partition("hold ")[2].partition(":")[0] for line in run.operator.log if "hold " in line}
    assert len(living) <= 1, f"taken out {len(living)} times, in each pass, for ever"
    assert run.phase is not RolloutPhase.PROGRESSING or Reason.DRAIN_STANDS_STILL in said


def test_who_has_the_id_of_a_pod_that_an_autoscaler_took_away_is_not_taken_out_in_each_pass(
    monkeypatch: pytest.MonkeyPatch, living: list[str]
) -> None:
    """The autoscaler scales the StatefulSet again and again, so that its number stays."""
    by: list[str] = []
    seen, write = StatefulSet.seen, StatefulSet.write

    def seen_with(of: StatefulSet) -> Workload | None:
        found = seen(of)
        return None if found is None else replace(found, replicas_by="".join(by))

    def written(of: StatefulSet, *args: Any) -> None:
        write(of, *args)
        by.clear()

    monkeypatch.setattr(StatefulSet, "seen", seen_with)
    monkeypatch.setattr(StatefulSet, "write", written)
    run = Run(Outside())
    run.until(COMPLETE)
    run.for_seconds(30)

    def autoscaled(outside: Outside) -> None:
        by[:] = ["kube-controller-manager"]
        outside.set.replicas, outside.set.generation, outside.set.version = (
            1,
            outside.set.generation + 1,
            outside.set.version + 1,
        )

    for _ in range(5):
        run.do("an autoscaler", autoscaled)
        run.for_seconds(12)
    assert run.outside.set.replicas == 1
    before = run.outside.broker.rebalances
    alongside(run, theirs(2), 60)
    assert len(living) <= 1, f"{len(living)} times in 60 s, {run.outside.broker.rebalances - before} rebalances"


def passive() -> tuple[Run, list[Process]]:
    """Here it is scaled to nothing; the group runs in another cluster."""
    run = Run(Outside())
    run.until(COMPLETE)
    run.for_seconds(30)
    run.do("to nothing", lambda o: o.scale(0))
    run.for_seconds(60)
    others = theirs(0, 1, 2)
    alongside(run, others, 60)
    assert all(map(run.outside.broker.works, others))
    return run, others


@pytest.mark.parametrize("version", ["no room", "no-image", "crashes", "never-joins"])
def test_pods_that_never_joined_leave_nobody_behind(version: str, living: list[str]) -> None:
    """The cluster that stands by is scaled up by mistake, and no pod of it ever joins."""
    run, others = passive()
    if version == "no room":
        run.outside.room = 0
    else:
        run.outside.apply(version)
    before = run.outside.broker.rebalances
    run.do("three pods", lambda o: o.scale(3))
    alongside(run, others, 15)
    run.do("and none again", lambda o: o.scale(0))
    alongside(run, others, 40)
    assert living == []
    assert run.outside.broker.rebalances == before


@pytest.mark.parametrize("kip848", [True, False], ids=["KIP-848", "classic"])
def test_who_takes_an_id_while_our_pod_ends_is_not_taken_out(
    kip848: bool, monkeypatch: pytest.MonkeyPatch, living: list[str]
) -> None:
    """Under KIP-848 who ends leaves its id, and whoever waits for it elsewhere has it before the pod is gone."""
    monkeypatch.setattr(stateful_set, "TERMINATION_S", 4.0)
    run = Run(Outside(kip848=kip848))
    run.until(COMPLETE)
    run.for_seconds(100)
    run.do("here it is scaled to nothing", lambda o: o.scale(0))
    run.until_it_is("told to end", lambda o: all(pod.gone_at is not None for pod in o.pods))
    others = theirs(0, 1, 2, kip848=kip848)
    alongside(run, others, 60)
    assert all(map(run.outside.broker.works, others))
    assert living == []


def with_long_sessions(run: Run, session_s: int = 300) -> None:
    run.outside.spec["timeouts"] = {"session": f"{session_s}s"}
    if isinstance(run.outside, Life):
        run.outside.wanted["timeouts"] = {"session": f"{session_s}s"}
    run.outside.broker.session_s = session_s
    run.outside._parsed = None


def ids(run: Run) -> list[str]:
    return sorted(each.instance_id or "" for each in run.outside.broker.group.members)


def test_who_joined_again_after_it_was_taken_out_for_more_partitions_is_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its session is long: it would have the partitions until then."""
    run = LifesRun(Life(replicas=3))
    with_long_sessions(run)
    run.until(COMPLETE)
    run.for_seconds(100)
    with monkeypatch.context() as patch:
        patch.setattr(model, "rebalance", lambda group: (group,))  # F57: a static leader that came back does not look
        run.outside.grow(1, "orders")
    run.for_seconds(60)
    assert any("the new partitions of orders" in line for line in run.operator.log)
    assert run.outside.edit((("replicas", 0),))
    run.for_seconds(60)
    assert ids(run) == []


def away_and_back(run: Run) -> None:
    outside = run.outside
    outside.set_kafka(reachable=False)
    run.for_seconds(2)
    outside.crash(2)
    run.for_seconds(40)
    joins_only_after(run, 3)  # its client's back-off
    outside.set_kafka(reachable=True)


def evicted_and_slow(run: Run) -> None:
    joins_only_after(run, 40)
    run.outside.evict(2)


def joins_only_after(run: Run, seconds: float) -> None:
    broker, at = run.outside.broker, run.now + seconds
    join = broker.join
    broker.join = lambda process, now: join(process, now) if run.now >= at else None  # type: ignore[method-assign]


@pytest.mark.parametrize("happens", [away_and_back, evicted_and_slow])
def test_who_joined_late_is_ours(happens: Callable[[Run], None]) -> None:
    """It took the id of a dead one, later than `rejoinTimeout` after its start."""
    run = Run(Outside())
    with_long_sessions(run)
    run.until(COMPLETE)
    run.for_seconds(100)
    happens(run)
    run.for_seconds(100)
    assert all(map(run.outside.serves, run.outside.pods))
    run.do("two pods", lambda o: o.scale(2))
    run.for_seconds(60)
    assert ids(run) == ["payments-0", "payments-1"]


def evicted_and_killed(run: Run) -> str:
    """Pod 2's process leaves its static member in the group; the pod's uid."""
    with_long_sessions(run)
    run.until(COMPLETE)
    run.for_seconds(60)
    ended = run.outside.set.pods[2]
    run.outside.evict(2)
    for process in ended.processes:
        process.alive = False
    return ended.uid


def test_who_joins_while_its_pod_ends_is_taken_out_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """A preStop hook keeps the process running. Its predecessor, which was killed, was noted as who is to go."""
    monkeypatch.setattr(stateful_set, "TERMINATION_S", 15.0)
    monkeypatch.setattr(stateful_set.SimulatedPod, "stop", lambda *_: None)
    run = Run(Outside())
    ended = evicted_and_killed(run)
    run.until_it_is("made again", lambda o: _runs_again(o, ended))
    again = run.outside.set.pods[2]
    run.do("scaled to 2", lambda o: o.scale(2))
    run.for_seconds(5)
    for process in again.processes:
        run.outside.broker.join(process, run.outside.now)
    run.until_it_is("gone", lambda o: 2 not in o.set.pods)
    for process in again.processes:
        process.alive = False
    run.for_seconds(60)
    assert ids(run) == ["payments-0", "payments-1"]


def test_a_dead_one_is_taken_out_though_its_pods_successor_never_joined() -> None:
    """That is scaled away while it starts."""
    run = Run(Outside())
    ended = evicted_and_killed(run)
    run.until_it_is("made again", lambda o: 2 in o.set.pods and o.set.pods[2].uid != ended)
    run.do("scaled to 2", lambda o: o.scale(2))
    run.until_it_is("gone", lambda o: 2 not in o.set.pods)
    run.for_seconds(60)
    assert ids(run) == ["payments-0", "payments-1"]


def _runs_again(outside: Outside, ended: str) -> bool:
    pod = outside.set.pods.get(2)
    return pod is not None and pod.uid != ended and pod.started_at is not None
