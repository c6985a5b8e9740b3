"""A group that is scaled to nothing and back, and versions that nobody has judged: none of them stays for good."""

from __future__ import annotations

import pytest

from slackwater.core.world.memory import RolloutPhase, read_memory
from tests.core.simulation.outside import Outside
from tests.core.simulation.runs import Run

pytestmark = pytest.mark.slow

COMPLETE, FAILED, ROLLED_BACK = RolloutPhase.COMPLETE, RolloutPhase.FAILED, RolloutPhase.ROLLED_BACK


def at_rest(**options: object) -> Run:
    run = Run(Outside(**options))  # type: ignore[arg-type]
    run.until(COMPLETE)
    run.for_seconds(20)
    return run


def images(run: Run) -> list[str]:
    return [run.outside.image(pod) for pod in run.outside.pods]


def to_nothing(run: Run) -> None:
    run.do("the group is scaled to nothing", lambda o: o.scale(0))
    run.until_it_is("empty", lambda o: not o.pods)
    run.for_seconds(10)


def back(run: Run) -> None:
    run.do("and back", lambda o: o.scale(3))
    run.until_it_is("whole again", lambda o: len(o.pods) == 3)


def test_pods_that_come_back_after_a_version_has_failed_have_the_last_good_one() -> None:
    run = at_rest(onFailure="Pause")
    run.do("version never-joins is applied", lambda o: o.apply("never-joins"))
    run.until(FAILED)
    assert sorted(images(run)) == ["never-joins", "v1", "v1"]
    to_nothing(run)
    back(run)
    run.until(ROLLED_BACK)
    assert images(run) == ["v1"] * 3


@pytest.mark.parametrize(("on_failure", "phase"), [("Rollback", ROLLED_BACK), ("Pause", FAILED)])
def test_a_version_that_was_rolled_out_to_no_pod_is_judged_by_the_first_that_come(
    on_failure: str, phase: RolloutPhase
) -> None:
    run = at_rest(onFailure=on_failure)
    to_nothing(run)
    run.do("version never-joins is applied", lambda o: o.apply("never-joins"))
    run.until(COMPLETE)
    assert read_memory(run.outside.status).last_good_hash != read_memory(run.outside.status).target_hash
    back(run)
    run.until(phase)
    if phase is ROLLED_BACK:
        assert images(run) == ["v1"] * 3


def test_a_version_that_works_is_good_after_that() -> None:
    run = at_rest()
    to_nothing(run)
    run.do("version v2 is applied", lambda o: o.apply("v2"))
    run.until(COMPLETE)
    back(run)
    run.until(RolloutPhase.PROGRESSING)
    run.until(COMPLETE)
    memory = read_memory(run.outside.status)
    assert memory.last_good_hash == memory.target_hash
    run.for_seconds(30)
    assert run.phase is COMPLETE


def test_scaled_to_nothing_in_the_middle_of_a_rollout() -> None:
    run = at_rest(onFailure="Rollback")
    run.do("version never-joins is applied", lambda o: o.apply("never-joins"))
    run.for_seconds(3)
    to_nothing(run)
    back(run)
    run.until(ROLLED_BACK)
    assert images(run) == ["v1"] * 3


def test_a_first_version_that_was_only_slow_is_good_once_it_works() -> None:
    """Else the next one that fails could not be taken back."""
    run = Run(Outside(version="slow", rejoinTimeout="10s", onFailure="Rollback"))
    run.until(FAILED)
    run.until(COMPLETE)
    memory = read_memory(run.outside.status)
    assert memory.last_good_hash == memory.target_hash
    run.do("version never-joins is applied", lambda o: o.apply("never-joins"))
    run.until(ROLLED_BACK)
    assert images(run) == ["slow"] * 3


@pytest.mark.parametrize("strategy", ["InPlace", "WarmHandover"])
def test_who_was_stopped_for_a_version_is_started_with_its_fix_alone(strategy: str) -> None:
    """Both in one manifest: no pod has the version again that did harm."""
    run = at_rest(strategy=strategy)
    run.do("version v2 is applied", lambda o: o.apply("v2"))
    run.until(COMPLETE)
    to_nothing(run)
    run.do("the fix, and three pods", lambda o: o.apply("v3", replicas=3))
    seen: set[str] = set()
    for _ in range(60):
        run.step()
        seen |= set(images(run))
    assert seen == {"v3"}
    run.until(COMPLETE)


def test_abort_starts_nobody_of_a_stopped_group_with_what_is_aborted() -> None:
    run = at_rest(protocol={"target": "Eager", "allowDowntime": True}, onFailure="Rollback")
    run.do("version never-joins is applied", lambda o: o.apply("never-joins"))
    run.until_it_is("one is there", lambda _: sorted(images(run)) == ["never-joins", "v1", "v1"])
    run.do("another protocol is asked for", lambda o: o.change_target("Cooperative"))
    run.until_it_is("stopped", lambda o: not o.pods)
    run.do("abort", Outside.abort)
    run.until_it_is("whole again", lambda o: len(o.pods) == 3)
    for _ in range(60):
        run.step()
        assert set(images(run)) <= {"v1"}


@pytest.mark.parametrize("kip848", [False, pytest.param(True, marks=pytest.mark.slow)])
@pytest.mark.parametrize("static", [True, False])
def test_a_canary_that_is_scaled_to_nothing_begins_again(static: bool, kip848: bool) -> None:
    """As an autoscaler does: else every pod that comes next would have what nobody has promoted."""
    run = at_rest(canary=[{"replicas": 1}], static=static, kip848=kip848)
    run.do("version v2 is applied", lambda o: o.apply("v2"))
    run.until_it_is("held", lambda _: sorted(images(run)) == ["v1", "v1", "v2"])
    run.for_seconds(20)
    to_nothing(run)
    run.for_seconds(60)
    back(run)
    assert images(run) == ["v1"] * 3
    run.until_it_is("held again", lambda _: sorted(images(run)) == ["v1", "v1", "v2"])
    run.for_seconds(120)
    assert sorted(images(run)) == ["v1", "v1", "v2"]
    run.do("promote", Outside.promote)
    run.until(COMPLETE)
    assert images(run) == ["v2"] * 3


def test_one_that_is_promoted_meanwhile_is_what_all_get() -> None:
    run = at_rest(canary=[{"replicas": 1}])
    run.do("version v2 is applied", lambda o: o.apply("v2"))
    run.until_it_is("held", lambda _: sorted(images(run)) == ["v1", "v1", "v2"])
    run.for_seconds(20)
    to_nothing(run)
    run.do("promote", Outside.promote)
    back(run)
    run.until(COMPLETE)
    assert images(run) == ["v2"] * 3


def test_its_hold_begins_again_too() -> None:
    run = at_rest(canary=[{"replicas": 1, "hold": "60s"}])
    run.do("version v2 is applied", lambda o: o.apply("v2"))
    run.until_it_is("held", lambda _: sorted(images(run)) == ["v1", "v1", "v2"])
    run.for_seconds(20)
    to_nothing(run)
    run.for_seconds(60)
    back(run)
    run.until_it_is("held again", lambda _: sorted(images(run)) == ["v1", "v1", "v2"])
    run.for_seconds(50)
    assert sorted(images(run)) == ["v1", "v1", "v2"]
    run.until(COMPLETE)


def test_it_does_where_as_few_are_left_as_it_had_pods() -> None:
    """The time without any pod of it was counted, and the next ones were held for a moment."""
    run = at_rest(canary=[{"replicas": 1, "hold": "60s"}])
    run.do("version v2 is applied", lambda o: o.apply("v2"))
    run.until_it_is("held", lambda _: sorted(images(run)) == ["v1", "v1", "v2"])
    run.do("scaled to one", lambda o: o.scale(1))
    run.for_seconds(80)
    assert images(run) == ["v1"]
    run.do("scaled to three", lambda o: o.scale(3))
    run.until_it_is("tried again", lambda _: "v2" in images(run))
    run.for_seconds(55)
    assert "v1" in images(run)
    run.until(COMPLETE)
    assert images(run) == ["v2"] * 3


def test_pods_that_waited_for_room_excuse_no_version_that_never_works() -> None:
    run = at_rest(onFailure="Rollback")
    to_nothing(run)
    run.do("version never-ready is applied", lambda o: o.apply("never-ready"))
    run.until(COMPLETE)
    run.outside.room = 0
    back(run)
    run.for_seconds(30)
    run.outside.room = None
    run.until(ROLLED_BACK, within_s=600)


def test_pods_that_are_added_on_the_way_back_have_the_good_version() -> None:
    run = at_rest(replicas=4)
    run.do("version v2 is applied", lambda o: o.apply("v2"))
    run.until_it_is("everywhere", lambda o: images(run) == ["v2"] * 4 and all(pod.ready for pod in o.pods))
    run.do("abort", Outside.abort)
    run.until_it_is("one is back", lambda o: images(run).count("v1") == 1 and all(map(o.serves, o.pods)))
    run.do("pause", Outside.pause)
    run.for_seconds(10)
    run.do("scaled to 6", lambda o: o.scale(6))
    run.until_it_is("six", lambda o: len(o.pods) == 6)
    assert images(run).count("v2") <= 3


def test_pods_that_are_added_in_a_pause_have_the_good_version_though_kafka_is_away() -> None:
    run = at_rest(replicas=4)
    run.do("version v2 is applied", lambda o: o.apply("v2"))
    run.until_it_is("one has it", lambda o: images(run).count("v2") == 1 and all(map(o.serves, o.pods)))
    run.do("pause", Outside.pause)
    run.for_seconds(10)
    run.do("Kafka is away", lambda o: o.set_kafka(reachable=False))
    run.for_seconds(5)
    run.do("scaled to 6", lambda o: o.scale(6))
    run.until_it_is("six", lambda o: len(o.pods) == 6)
    assert images(run).count("v2") <= 1
