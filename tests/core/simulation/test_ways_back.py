"""A way back ends by itself, whatever becomes of the other pods meanwhile."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from slackwater.core.world.memory import RolloutPhase, read_memory
from slackwater.core.world.pods import Pod
from tests.core.simulation import stateful_set
from tests.core.simulation.broker import Process
from tests.core.simulation.operator import Crash, Crashes
from tests.core.simulation.outside import Outside
from tests.core.simulation.runs import Run
from tests.core.simulation.stateful_set import SimulatedPod
from tests.core.simulation.versions import NOT_DRAWN, VERSIONS, Version

COMPLETE, ROLLED_BACK = RolloutPhase.COMPLETE, RolloutPhase.ROLLED_BACK


def of_four() -> Run:
    run = Run(Outside(replicas=4, onFailure="Rollback"))
    run.until(COMPLETE)
    run.for_seconds(20)
    return run


def halfway() -> Run:
    """Two of four pods have v2, and it works."""
    run = of_four()
    run.do("version v2 is applied", lambda o: o.apply("v2"))
    run.until_it_is("halfway", lambda o: sum(o.serves(pod) for pod in of_v2(o)) == 2)
    return run


def of_v2(outside: Outside) -> list[SimulatedPod]:
    return [pod for pod in outside.pods if outside.image(pod) == "v2"]


@pytest.mark.parametrize("deleted", [True, False])
def test_a_good_pod_whose_node_is_lost_keeps_no_other_from_going_back(deleted: bool) -> None:
    run = of_four()
    run.do("version crashes is applied", lambda o: o.apply("crashes"))
    run.for_seconds(12)

    def lose(outside: Outside) -> None:
        pod = outside.set.pods[0]
        pod.lost, pod.processes[0].alive = True, False
        pod.set_ready(False, outside.now)
        if deleted:
            outside.evict(0)

    run.do("the node of pod 0 is lost", lose)
    run.until_it_is("back", lambda o: o.image(o.set.pods[3]) == "v1")
    assert run.phase is RolloutPhase.ROLLING_BACK


def test_nor_does_one_for_which_there_is_no_room() -> None:
    run = halfway()

    def crash(outside: Outside) -> None:
        for pod in of_v2(outside):
            pod.version = VERSIONS["crashes"]
            pod.crash(outside.now)
        outside.room = 3

    run.do("both crash from now on, and a node is lost", crash)
    run.until(ROLLED_BACK)
    assert not of_v2(run.outside)


def test_nor_does_one_that_is_ready_only_in_a_calm_group(monkeypatch: pytest.MonkeyPatch) -> None:
    """As where readiness asks whether Kafka Streams is RUNNING: the failed version's pods keep the group from it."""
    run = halfway()
    bad = {pod.uid for pod in of_v2(run.outside)}
    good_before = {pod.uid for pod in run.outside.pods} - bad
    as_it_is = SimulatedPod.set_ready

    def set_ready(pod: SimulatedPod, ready: bool, now: float) -> None:
        calm = not any(each.uid in bad for each in run.outside.pods)
        as_it_is(pod, ready and (calm or pod.uid in bad | good_before), now)

    def break_it(outside: Outside) -> None:
        for pod in of_v2(outside):
            pod.version = NOT_DRAWN["comes-and-goes"]

    run.do("both come and go from now on", break_it)
    monkeypatch.setattr(SimulatedPod, "set_ready", set_ready)
    run.for_seconds(5)
    run.do("abort", Outside.abort)
    run.until(ROLLED_BACK, within_s=600)
    assert not of_v2(run.outside)


@pytest.mark.parametrize("static", [True, False])
def test_while_a_good_pod_is_drained_no_other_is_taken_away(static: bool) -> None:
    """It works until the end of its grace, and has for hours: that is no time that it had to come back."""
    run = Run(Outside(replicas=4, static=static))
    run.until(COMPLETE)
    run.for_seconds(20)
    run.do("version v2 is applied", lambda o: o.apply("v2"))
    run.until_it_is("halfway", lambda o: sum(o.serves(pod) for pod in of_v2(o)) == 2)
    run.for_seconds(2)
    run.do("abort", Outside.abort)
    run.for_seconds(1)

    def drain(outside: Outside) -> None:
        outside.set.pods[0].gone_at = outside.now + 15

    run.do("pod 0 is drained", drain)
    for _ in range(12):
        run.step()
        assert [pod.ordinal for pod in run.outside.pods if pod.gone_at is not None] == [0]


def test_a_good_version_that_restores_state_goes_back_pod_by_pod(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its startup probe takes longer than rejoinTimeout, and it is in the group meanwhile."""
    monkeypatch.setitem(NOT_DRAWN, "restores", Version(ready_s=90.0, join_s=2.0))
    as_it_is = SimulatedPod.seen

    def seen(pod: SimulatedPod) -> Pod:
        return replace(as_it_is(pod), starting=pod.started_at is not None and not pod.ready)

    monkeypatch.setattr(SimulatedPod, "seen", seen)
    run = Run(Outside(replicas=4, version="restores"))
    run.until(COMPLETE)
    run.for_seconds(20)
    run.do("version v2 is applied", lambda o: o.apply("v2"))
    run.until_it_is("everywhere", lambda o: len(of_v2(o)) == 4 and all(pod.ready for pod in o.pods))
    run.do("abort", Outside.abort)
    for _ in range(150):
        run.step()
        assert sum(not pod.ready for pod in run.outside.pods) <= 1


def test_a_pod_that_ends_meanwhile_comes_back_with_the_good_version_though_the_operator_was_killed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Killed right after the write that gives it the good version, it does not know that revision for its own."""
    monkeypatch.setattr(stateful_set, "TERMINATION_S", 15.0)
    run = Run(Outside(replicas=3, stableFor="10s", rejoinTimeout="60s"))
    run.until(COMPLETE)
    run.for_seconds(20)
    run.do("version v2 is applied", lambda o: o.apply("v2"))
    run.until_it_is("in all", lambda o: len(of_v2(o)) == 3 and all(map(o.serves, o.pods)))
    assert run.phase is RolloutPhase.PROGRESSING
    run.do("pod 2 is evicted", lambda o: o.evict(2))
    run.for_seconds(1)
    ending = run.outside.set.pods[2].uid
    run.crashes = Once(Crash.AFTER_ACT)
    run.do("v2 is given up", Outside.abort)
    run.until_it_is("made again", lambda o: 2 in o.set.pods and o.set.pods[2].uid != ending)
    assert run.outside.image(run.outside.set.pods[2]) == "v1"
    run.until(ROLLED_BACK)


class Once(Crashes):
    def at(self, number: int) -> Crash | None:
        where, self.where = self.where, None
        return where


def with_a_second_consumer(monkeypatch: pytest.MonkeyPatch, run: Run, *versions: str) -> None:
    """Without an instance id; the pods that are there have it already."""
    ids, have = SimulatedPod._instance_ids, [VERSIONS[version] for version in versions]
    monkeypatch.setattr(SimulatedPod, "_instance_ids", lambda pod: [*ids(pod), *[None] * (pod.version in have)])
    for pod in run.outside.pods:
        if pod.version in have:
            second = Process(None, pod.address)
            pod.processes += (second,)
            run.outside.broker.join(second, run.outside.now)


@pytest.mark.parametrize("on_failure", ["Pause", "Rollback"])
def test_a_second_consumer_without_an_id_that_the_version_before_has_as_well_is_no_fault_of_the_new_one(
    monkeypatch: pytest.MonkeyPatch, on_failure: str
) -> None:
    """Nor can `membersPerPod` be corrected: whoever counts it would have to give it an id."""
    monkeypatch.setitem(VERSIONS, "v2", Version(join_s=3.5))
    run = Run(Outside(replicas=3, rejoinTimeout="30s", onFailure=on_failure))
    run.until(COMPLETE)
    with_a_second_consumer(monkeypatch, run, "v1", "v2")
    run.for_seconds(60)
    run.do("version v2 is applied", lambda o: o.apply("v2"))
    run.until(COMPLETE, within_s=300)


def test_but_one_that_only_the_new_version_has_ends_at_the_first_pod(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(VERSIONS, "v2", Version(join_s=3.5))
    run = Run(Outside(replicas=3, rejoinTimeout="30s", onFailure="Pause"))
    run.until(COMPLETE)
    with_a_second_consumer(monkeypatch, run, "v2")
    run.for_seconds(60)
    run.do("version v2 is applied", lambda o: o.apply("v2"))
    run.until(RolloutPhase.FAILED, within_s=300)
    assert len(of_v2(run.outside)) == 1
    assert (
        "1 without an instance id, which not every pod of the version before has"
        in read_memory(run.outside.status).message
    )


def without_its_id(run: Run, pod: SimulatedPod) -> None:
    """As a pod that was adopted may run its consumer."""
    (process,) = pod.processes
    run.outside.broker.stopped_in_order(process, run.outside.now)
    process.alive = False
    pod.processes = (Process(None, pod.address),)
    run.outside.broker.join(pod.processes[0], run.outside.now)


def beside_its_own(run: Run, pod: SimulatedPod) -> None:
    """As a console consumer by `kubectl exec`."""
    pod.processes += (Process(None, pod.address),)
    run.outside.broker.join(pod.processes[-1], run.outside.now)


@pytest.mark.parametrize(
    ("differ", "ordinals"), [(without_its_id, (0, 1, 2)), (without_its_id, (0,)), (beside_its_own, (0,))]
)
def test_nor_does_it_go_on_where_pods_of_the_version_before_differ(
    monkeypatch: pytest.MonkeyPatch, differ: Callable[[Run, SimulatedPod], None], ordinals: tuple[int, ...]
) -> None:
    monkeypatch.setitem(VERSIONS, "v2", Version(join_s=3.5))
    run = Run(Outside(replicas=3, rejoinTimeout="30s", onFailure="Pause"))
    run.until(COMPLETE)
    for ordinal in ordinals:
        differ(run, run.outside.set.pods[ordinal])
    run.for_seconds(40)
    with_a_second_consumer(monkeypatch, run, "v2")
    run.for_seconds(60)
    run.do("version v2 is applied", lambda o: o.apply("v2"))
    for _ in range(200):
        run.for_seconds(1)
        assert len(of_v2(run.outside)) <= 1
    assert any("ForeignMembers" in line for line in run.operator.log)
