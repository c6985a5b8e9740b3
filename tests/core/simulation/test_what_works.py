"""Which pods work, as the operator learns it: of those that never did, that hang later, that own nothing, or that have
hardly anything to read. And that it learns nothing of an old look."""

from __future__ import annotations

from typing import Any, Final

import pytest

from slackwater.core.decision.reasons import Reason
from slackwater.core.world.memory import RolloutPhase
from tests.core.simulation import broker as broker_module
from tests.core.simulation.outside import Outside
from tests.core.simulation.runs import Run
from tests.core.simulation.versions import NOT_DRAWN, Version

ENDS: Final = (RolloutPhase.COMPLETE, RolloutPhase.FAILED, RolloutPhase.ROLLED_BACK)
DYNAMIC: Final = [(False, False), (False, True)]
KINDS: Final = [(True, False), (True, True), *DYNAMIC]
kinds = pytest.mark.parametrize(("static", "kip848"), KINDS)


def lenient(run: Run) -> None:
    """What is away by a version that nobody can know to be bad is no fault of the operator's."""
    run.invariants.before_act = run.invariants.taken_down = lambda *_: None  # type: ignore[assignment, method-assign]
    for stateful_set in run.outside.sets.values():
        stateful_set.before_update = lambda *_: None


def with_version(run: Run, version: str) -> int:
    return sum(run.outside.image(pod) == version for pod in run.outside.pods)


def set_all(run: Run, *, consume: bool) -> None:
    for pod in run.outside.pods:
        for process in pod.processes:
            process.consumes = consume


def stand_for(run: Run, ordinals: tuple[int, ...], seconds: int, *, clear: bool = True) -> None:
    """Nobody gets past a record in any of these pods' partitions."""
    broker = run.outside.broker
    pods = [run.outside.set.pods[ordinal] for ordinal in ordinals]
    broker.poisoned.update(p for pod in pods for process in pod.processes for p in broker.owned_by(process))
    for _ in range(seconds):
        run.step()
    if clear:
        broker.poisoned.clear()


def until_some_serve_with_it(run: Run, pods: int) -> None:
    """So many have v2, and each has just got on."""
    run.do("v2", lambda outside: outside.apply("v2"))
    run.until_it_is("some have it", lambda _: with_version(run, "v2") == pods)
    run.until_it_is("served", lambda outside: all(map(outside.serves, outside.pods)))
    run.for_seconds(8)


def until_over(run: Run, version: str, records_every_s: int = 0) -> int:
    """Roll it out, and say how many pods had it at most."""
    run.do(version, lambda outside: outside.apply(version))
    most = 0
    for second in range(1_000):
        if records_every_s and second % records_every_s == 0:
            run.outside.broker.fill(1)
        run.step()
        most = max(most, with_version(run, version))
        if second > 5 and run.phase in ENDS and not run.acting:
            return most
    raise AssertionError(f"{version} is {run.phase} after 1,000 s")


@pytest.mark.parametrize(("static", "kip848"), DYNAMIC)
def test_the_fix_of_a_group_in_which_nobody_consumes_waits_once(static: bool, kip848: bool) -> None:
    """Each restart of a dynamic pod rebalances the group: the others that are dead go at once all the same."""
    options: dict[str, Any] = {"rejoinTimeout": "5m", "stableFor": "10s"}
    run = Run(Outside(replicas=6, version="never-consumes", static=static, kip848=kip848, **options))
    run.for_seconds(900)
    begun = run.now
    run.do("the fix", lambda outside: outside.apply("v1"))
    run.for_seconds(3)
    run.until(RolloutPhase.COMPLETE, within_s=300)
    assert run.now - begun < 300, "longer than rejoinTimeout"


@kinds
@pytest.mark.parametrize("dies", [False, True])
def test_who_was_dead_before_a_restart_of_the_operator_goes_first(static: bool, kip848: bool, dies: bool) -> None:
    """It no longer remembers by then who got on, and so asks all pods before one that works goes."""
    run = Run(Outside(replicas=4, static=static, kip848=kip848))
    run.until(RolloutPhase.COMPLETE)
    run.for_seconds(20)
    for ordinal in (0, 1):
        for process in run.outside.set.pods[ordinal].processes:
            process.consumes = False
    run.outside.broker.grow(6, run.outside.now)
    run.for_seconds(60)
    run.do("v2", lambda outside: outside.apply("v2"))
    run.until_it_is("one new", lambda outside: with_version(run, "v2") == 1)
    run.for_seconds(2)
    if dies:
        run.operator.die("killed")
    run.until(RolloutPhase.COMPLETE)


@pytest.mark.parametrize("kip848", [False, True])
def test_a_version_that_hangs_after_it_got_on_fails(kip848: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """A commit is no proof for ever: else each next pod of it goes, as long as the last one has just committed."""
    monkeypatch.setitem(NOT_DRAWN, "hangs", Version(one_stands_after_s=12.0))
    options: dict[str, Any] = {"stableFor": "10s", "rejoinTimeout": "20s", "onFailure": "Rollback"}
    run = Run(Outside(replicas=6, kip848=kip848, **options))
    run.until(RolloutPhase.COMPLETE)
    run.for_seconds(30)
    lenient(run)
    assert until_over(run, "hangs") <= 4
    run.until(RolloutPhase.ROLLED_BACK)
    assert all(run.outside.serves(pod) for pod in run.outside.pods)


@pytest.mark.parametrize("kip848", [False, True])
@pytest.mark.parametrize("hangs_for_s", [30, 120])
def test_an_old_pod_that_has_hung_since_it_got_on_goes_first(kip848: bool, hangs_for_s: int) -> None:
    run = Run(Outside(kip848=kip848))
    run.until(RolloutPhase.COMPLETE)
    run.for_seconds(30)
    for process in run.outside.set.pods[0].processes:
        process.consumes = False
    run.for_seconds(hangs_for_s)
    run.do("v2", lambda outside: outside.apply("v2"))
    run.for_seconds(3)
    run.until(RolloutPhase.COMPLETE)


@kinds
def test_when_nobody_gets_on_a_version_that_has_is_not_to_blame(static: bool, kip848: bool) -> None:
    """The database of all of them is away for minutes: no pod of the other version gets on either."""
    options: dict[str, Any] = {"stableFor": "10s", "rejoinTimeout": "20s", "onFailure": "Rollback"}
    run = Run(Outside(replicas=6, static=static, kip848=kip848, **options))
    run.until(RolloutPhase.COMPLETE)
    run.for_seconds(30)
    until_some_serve_with_it(run, 3)
    lenient(run)
    for _ in range(90):
        set_all(run, consume=False)
        run.step()
        assert run.phase is RolloutPhase.PROGRESSING
    set_all(run, consume=True)
    run.until(RolloutPhase.COMPLETE)


@kinds
@pytest.mark.parametrize("most", [1, "50%"])
def test_with_more_pods_than_partitions_a_batch_waits_for_one_that_owns_some(
    static: bool, kip848: bool, most: int | str
) -> None:
    """The first to go owns nothing, and a pod that owns nothing shows nothing."""
    options: dict[str, Any] = {"onFailure": "Rollback", "maxUnavailable": most}
    run = Run(Outside(static=static, kip848=kip848, replicas=8, **options))
    run.until(RolloutPhase.COMPLETE)
    run.for_seconds(60)
    lenient(run)
    run.do("never-consumes", lambda outside: outside.apply("never-consumes"))
    run.for_seconds(3)
    most_not_served = 0
    for _ in range(300):
        run.step()
        working = [p for pod in run.outside.pods for p in pod.processes if p.alive and p.consumes]
        served = {partition for process in working for partition in run.outside.broker.owned_by(process)}
        most_not_served = max(most_not_served, len(set(run.outside.broker.partitions) - served))
        if run.phase is RolloutPhase.ROLLED_BACK:
            break
    assert run.phase is RolloutPhase.ROLLED_BACK
    assert most_not_served == 1


def test_pods_that_own_nothing_go_together_and_the_first_that_does_goes_alone() -> None:
    """A hundred pods on ten partitions do not go one by one."""
    run = Run(Outside(replicas=100, partitions=10, maxUnavailable=45))
    run.until(RolloutPhase.COMPLETE)
    run.for_seconds(5)
    run.do("v2", lambda outside: outside.apply("v2"))
    run.for_seconds(3)
    run.until(RolloutPhase.COMPLETE, within_s=1_000)
    batches = [line for line in run.operator.log if "let the next pod take up the new version" in line]
    assert len(batches) <= 8


@pytest.mark.parametrize(
    ("every_s", "stable_for", "most"),
    [(8, "0s", 2), (20, "3s", 3), (20, "10s", 2)],
)
def test_where_records_come_seldom_what_came_meanwhile_is_read_first(every_s: int, stable_for: str, most: int) -> None:
    """Whatever came while a restart took the pod away has to be committed before the next one goes."""
    options: dict[str, Any] = {"stableFor": stable_for, "rejoinTimeout": "60s", "onFailure": "Rollback"}
    run = Run(Outside(replicas=6, **options))
    run.until(RolloutPhase.COMPLETE)
    run.for_seconds(30)
    run.outside.broker.producing = False
    for second in range(2 * every_s + 20):
        if second % every_s == 0:
            run.outside.broker.fill(1)
        run.step()
    lenient(run)
    assert until_over(run, "never-consumes", every_s) <= most
    run.until(RolloutPhase.ROLLED_BACK)


@kinds
@pytest.mark.parametrize("held", [False, True])
def test_a_shard_that_one_old_pod_needs_as_well_is_no_failure(static: bool, kip848: bool, held: bool) -> None:
    """It is away for a minute, for one new pod and one old one; all others get on."""
    options: dict[str, Any] = {"stableFor": "10s", "rejoinTimeout": "20s", "onFailure": "Rollback"}
    more: dict[str, Any] = {"canary": [{"replicas": 3, "hold": "3m"}]} if held else {}
    run = Run(Outside(replicas=10, partitions=10, static=static, kip848=kip848, **options, **more))
    run.until(RolloutPhase.COMPLETE)
    run.for_seconds(60)
    until_some_serve_with_it(run, 3)
    lenient(run)
    stand_for(run, (9, 0), 60)
    run.do("promote", Outside.promote)
    run.until(*ENDS, within_s=1_000)
    assert run.phase is RolloutPhase.COMPLETE


@kinds
@pytest.mark.parametrize("for_s", [30, 60])
def test_a_record_that_one_new_pod_does_not_get_past_is_no_failure(static: bool, kip848: bool, for_s: int) -> None:
    """It takes its time, or is poison for any version."""
    options: dict[str, Any] = {"stableFor": "10s", "rejoinTimeout": "20s", "onFailure": "Rollback"}
    canary = [{"replicas": 1, "hold": "5m"}]
    run = Run(Outside(replicas=6, static=static, kip848=kip848, canary=canary, **options))
    run.until(RolloutPhase.COMPLETE)
    run.for_seconds(60)
    run.do("v2", lambda outside: outside.apply("v2"))
    run.until_it_is("canary", lambda outside: with_version(run, "v2") == 1)
    run.for_seconds(60)
    stand_for(run, (5,), for_s)
    assert run.phase is RolloutPhase.PROGRESSING


@pytest.mark.parametrize("kip848", [False, True])
def test_no_pod_goes_under_ordered_ready_while_one_above_it_is_missing(kip848: bool) -> None:
    """The lowest has met a record that takes its time: it keeps nobody from being made, and is not known to be down."""
    run = Run(Outside(replicas=4, partitions=4, kip848=kip848, stableFor="3s", rejoinTimeout="20s"))
    run.outside.sets["payments"].in_order = True
    run.until(RolloutPhase.COMPLETE)
    run.for_seconds(60)
    run.do("v2", lambda outside: outside.apply("v2"))
    run.until_it_is("one", lambda outside: with_version(run, "v2") == 1)
    run.until_it_is("served", lambda outside: all(outside.serves(pod) for pod in outside.pods))
    run.do("pause", Outside.pause)
    stand_for(run, (0,), 19, clear=False)
    run.do("pod 3 is evicted", lambda outside: outside.evict(3))
    run.outside.stop_controller()
    run.do("resume", Outside.resume)
    for _ in range(9):
        run.step()
        assert 0 in run.outside.set.pods
        assert run.outside.set.pods[0].gone_at is None
    run.outside.start_controller()
    run.for_seconds(60)


@kinds
def test_of_an_old_pod_that_got_one_burst_and_read_nothing_it_is_known(static: bool, kip848: bool) -> None:
    run = Run(Outside(replicas=4, static=static, kip848=kip848, version="v1", stableFor="3s"))
    run.until(RolloutPhase.COMPLETE)
    run.for_seconds(30)
    broker = run.outside.broker
    broker.producing = False
    run.for_seconds(30)
    for process in run.outside.set.pods[0].processes:
        process.consumes = False
    broker.grow(6, run.outside.now)
    run.for_seconds(30)
    broker.fill(60)
    run.for_seconds(60)
    run.do("v2", lambda outside: outside.apply("v2"))
    run.for_seconds(3)
    run.until(RolloutPhase.COMPLETE)


@kinds
def test_a_consumer_that_commits_once_a_minute_is_waited_for(
    static: bool, kip848: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(broker_module, "COMMIT_EVERY_S", 60.0)
    options: dict[str, Any] = {"stableFor": "10s", "rejoinTimeout": "5m", "onFailure": "Rollback"}
    run = Run(Outside(static=static, kip848=kip848, **options))
    run.until(RolloutPhase.COMPLETE, within_s=1_000)
    run.for_seconds(300)
    run.do("v2", lambda outside: outside.apply("v2"))
    run.for_seconds(3)
    run.until(*ENDS, within_s=1_000)
    assert run.phase is RolloutPhase.COMPLETE


def test_nobody_fails_by_a_look_of_before_the_process_slept() -> None:
    """Six minutes later its newest look at Kafka is still the last one, and shows the pod away."""
    run = Run(Outside(onFailure="Rollback", rejoinTimeout="5m", kip848=True))
    run.until(RolloutPhase.COMPLETE)
    run.for_seconds(60)
    run.do("v2", lambda outside: outside.apply("v2"))
    run.until_it_is("away", lambda o: any(o.image(pod) == "v2" and pod.started_at is not None for pod in o.pods))
    run.step()
    operator = run.operator
    assert operator.last_world is not None
    kafka, history, look = operator.last_world.kafka, operator.history, operator.look
    for _ in range(360):
        run.outside.tick(1.0)
    operator.look = lambda: run.outside.world(kafka, history)  # type: ignore[method-assign]
    operator.run_pass(run.crashes)
    assert run.phase is RolloutPhase.PROGRESSING
    assert operator.last is not None
    assert operator.last.hold is not None
    assert operator.last.hold.reason is Reason.OBSERVATION_STALE
    operator.look = look  # type: ignore[method-assign]
    run.until(RolloutPhase.COMPLETE)
