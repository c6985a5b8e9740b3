"""KIP-848: who is slow to join, or has fewer members than the spec says, was not refused, and is not restarted."""

from __future__ import annotations

import pytest

from slackwater.core.plan import plan
from slackwater.core.world.memory import RolloutPhase, read_memory
from tests.core.parameters import first_of
from tests.core.simulation.outside import Outside
from tests.core.simulation.runs import Run
from tests.core.simulation.versions import NOT_DRAWN, Version

pytestmark = pytest.mark.slow


def of_slow(monkeypatch: pytest.MonkeyPatch, join_s: float, session_s: float | None = None) -> Run:
    """Ready a second after its start, as a pod without a readiness probe is, and in the group so much later."""
    monkeypatch.setitem(NOT_DRAWN, "warms-up", Version(ready_s=1.0, join_s=join_s))
    run = Run(Outside(kip848=True, version="warms-up", rejoinTimeout="120s"))
    if session_s is not None:
        run.outside.broker.session_s = session_s
    run.until(RolloutPhase.COMPLETE)
    run.for_seconds(60)
    return run


def made_in(run: Run, for_s: int) -> set[str]:
    """The uids of pods that come in so many seconds."""
    before, made = {pod.uid for pod in run.outside.pods}, set[str]()
    for _ in range(for_s):
        run.step()
        made |= {pod.uid for pod in run.outside.pods}
    return made - before


@pytest.mark.parametrize("join_s", first_of(10.0, 20.0, 30.0, 50.0))
def test_a_rollout_restarts_each_once_though_sessions_end_meanwhile(
    monkeypatch: pytest.MonkeyPatch, join_s: float
) -> None:
    run = of_slow(monkeypatch, join_s)
    run.do("restart", Outside.restart)
    assert len(made_in(run, 700)) == 3
    assert run.phase is RolloutPhase.COMPLETE


@pytest.mark.parametrize("join_s", first_of(10.0, 20.0, 30.0, 50.0, 70.0))
def test_one_that_crashed_is_left_to_come_back(monkeypatch: pytest.MonkeyPatch, join_s: float) -> None:
    run = of_slow(monkeypatch, join_s)
    run.do("crash", lambda o: o.crash(1))
    assert made_in(run, 300) == set()


@pytest.mark.parametrize("join_s", first_of(15.0, 30.0))
def test_an_operator_that_is_restarted_in_a_pods_turn_restarts_no_other(
    monkeypatch: pytest.MonkeyPatch, join_s: float
) -> None:
    """It does not know since when the id is free; its member is listed as one that has left."""
    run = of_slow(monkeypatch, join_s, session_s=45.0)
    run.do("restart", Outside.restart)
    assert len(made_in(run, 7)) == 1
    run.operator.die("for an upgrade")
    assert len(made_in(run, 400)) == 2
    assert run.phase is RolloutPhase.COMPLETE


def test_nor_does_one_that_did_not_see_kafka_for_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    run = of_slow(monkeypatch, 40.0, session_s=45.0)
    run.do("evict", lambda o: o.evict(1))
    assert len(made_in(run, 5)) == 1
    run.do("Kafka is away", lambda o: o.set_kafka(reachable=False))
    run.for_seconds(12)
    run.do("Kafka is back", lambda o: o.set_kafka(reachable=True))
    assert made_in(run, 200) == set()


FEWER_MEMBERS = {
    "static, one thread to two": ("two-threads", {"membersPerPod": 3}),
    "static to dynamic, two threads": ("two-threads", {"membersPerPod": 3, "membership": "Dynamic"}),
    "static, and ids are not taken": ("nameless", {"membersPerPod": 2}),
}


@pytest.mark.parametrize(("version", "spec"), first_of(*FEWER_MEMBERS.values()), ids=FEWER_MEMBERS)
def test_nobody_who_works_is_restarted_for_an_id_that_his_version_never_asks_for(
    version: str, spec: dict[str, object]
) -> None:
    """`membersPerPod` is too large by mistake. The run breaks where a pod is deleted that serves."""
    run = Run(Outside(kip848=True, rejoinTimeout="120s"))
    run.outside.broker.session_s = 30.0
    run.until(RolloutPhase.COMPLETE)
    run.for_seconds(60)
    run.do(f"{version} and {spec}", lambda o: o.apply(version, **spec))
    run.for_seconds(110)


def refused() -> Run:
    """Pod 4 has crashed, its next process asked too early, and is about to be restarted for that."""
    run = Run(Outside(kip848=True, replicas=5, rejoinTimeout="120s"))
    run.outside.broker.session_s = 45.0
    run.until(RolloutPhase.COMPLETE)
    run.for_seconds(60)
    run.do("pod 4 crashes, and the operator does not look for 9 s", lambda o: o.crash(4))
    for _ in range(9):
        run.outside.tick(1.0)
    run.for_seconds(2)
    process = run.outside.set.pods[4].process
    assert process is not None
    assert process.refused is not None
    assert "payments-4" in read_memory(run.outside.status).released
    return run


@pytest.mark.parametrize("replicas", first_of(5, 3))
def test_an_apply_with_fewer_pods_forgets_no_id_of_a_pod_that_is_there(replicas: int) -> None:
    """The rollout goes on with the pods that there are."""
    run = refused()
    run.outside.apply("v2", replicas=replicas)
    memory = plan(run.operator.look()).memory
    assert memory.replicas == 5
    assert "payments-4" in memory.released
    assert "payments-4" in memory.holders


@pytest.mark.parametrize("replicas", first_of(5, 3))
def test_nor_is_a_good_version_given_up_for_that(replicas: int) -> None:
    """The operator begins the rollout right after the crash, and is restarted."""
    run = Run(Outside(kip848=True, replicas=5, onFailure="Rollback", rejoinTimeout="60s"))
    run.outside.broker.session_s = 45.0
    run.until(RolloutPhase.COMPLETE)
    run.for_seconds(60)
    run.do("pod 4 crashes", lambda o: o.crash(4))
    run.do(f"v2 with {replicas} pods", lambda o: o.apply("v2", replicas=replicas))
    run.step()
    run.operator.die("for an upgrade")
    run.until(RolloutPhase.COMPLETE, within_s=300)
