"""Versions that join wrongly, and versions that differ in more than their image: each has a way on, and a way back."""

from __future__ import annotations

from typing import Any

import pytest

from slackwater.core.decision.reasons import Reason
from slackwater.core.world.memory import RolloutPhase, read_memory
from tests.core.simulation import versions
from tests.core.simulation.outside import Outside
from tests.core.simulation.runs import Run

pytestmark = pytest.mark.slow

COMPLETE, FAILED, ROLLED_BACK = RolloutPhase.COMPLETE, RolloutPhase.FAILED, RolloutPhase.ROLLED_BACK
WRONG = ("nameless", "comes-and-goes")
MOMENTS = [15, pytest.param(5, marks=pytest.mark.slow), pytest.param(25, marks=pytest.mark.slow)]
"""Seconds of the rollout, after which the spec goes back."""


def at_rest(version: str = "v1", **options: Any) -> Run:
    run = Run(Outside(version=version, **options))
    run.until(COMPLETE)
    run.for_seconds(20)
    return run


def images(run: Run) -> list[str]:
    return [run.outside.image(pod) for pod in run.outside.pods]


def everybody_works(run: Run) -> bool:
    return all(map(run.outside.serves, run.outside.pods)) and len(run.outside.pods) == run.outside.spec["replicas"]


@pytest.mark.parametrize("version", WRONG)
def test_abort_takes_back_what_joins_wrongly(version: str) -> None:
    run = at_rest()
    run.do(f"version {version} is applied", lambda o: o.apply(version))
    run.for_seconds(15)
    assert version in images(run)
    run.do("abort", Outside.abort)
    run.until(ROLLED_BACK, within_s=60)
    assert images(run) == ["v1"] * 3
    run.until_it_is("at work again", lambda _: everybody_works(run), within_s=40)


def test_a_version_without_instance_ids_fails_and_goes_back_by_itself() -> None:
    run = at_rest(onFailure="Rollback")
    run.do("version nameless is applied", lambda o: o.apply("nameless"))
    run.until(ROLLED_BACK, within_s=120)
    assert images(run) == ["v1"] * 3


def test_a_member_without_its_instance_id_is_its_pods_and_no_stranger() -> None:
    run = at_rest()
    run.do("version nameless is applied", lambda o: o.apply("nameless"))
    run.for_seconds(15)
    hold = run.operator.last.hold if run.operator.last is not None else None
    assert hold is not None
    assert hold.reason is not Reason.FOREIGN_MEMBERS
    run.until_it_is("told of the instance id", lambda _: any("instance id" in line for line in run.operator.log), 30)
    assert not any(Reason.FOREIGN_MEMBERS in line for line in run.operator.log)


CALL_THEMSELVES_0 = ("calls-itself-0", "calls-itself-0-and-lives-when-fenced")


@pytest.mark.parametrize("on_failure", ["Pause", "Rollback"])
@pytest.mark.parametrize("version", CALL_THEMSELVES_0)
def test_a_version_with_another_pods_instance_id_gets_no_second_pod(version: str, on_failure: str) -> None:
    """Pod 0 was knocked over by pod 2, so it was down; and who is down went first: it got the version, too."""
    run = at_rest(onFailure=on_failure)
    had_it: set[int] = set()

    def note(run: Run) -> bool:
        had_it.update(pod.ordinal for pod in run.outside.pods if run.outside.image(pod) == version)
        return run.phase in (FAILED, ROLLED_BACK)

    run.do(f"version {version} is applied", lambda o: o.apply(version))
    run.until_it_is("given up", lambda _: note(run), within_s=300)
    assert had_it == {2}
    if on_failure == "Pause":
        run.do("abort", Outside.abort)
        run.until(ROLLED_BACK, within_s=120)
    run.until_it_is("at work again", lambda _: everybody_works(run), within_s=60)
    assert images(run) == ["v1"] * 3


@pytest.mark.parametrize("after_s", [15, 22, 30, 60])
def test_nor_does_it_where_the_operator_starts_again(after_s: int) -> None:
    """Who fell since the last step is not known by its history, which went with the operator."""
    run = at_rest(rejoinTimeout="120s")
    run.do("version calls-itself-0 is applied", lambda o: o.apply("calls-itself-0"))
    run.for_seconds(after_s)
    run.operator.die("for no reason")
    run.until(FAILED, within_s=600)
    assert sorted(images(run)) == ["calls-itself-0", "v1", "v1"]


def test_a_version_with_another_pods_instance_id_is_called_so() -> None:
    run = at_rest()
    run.do("version calls-itself-0 is applied", lambda o: o.apply("calls-itself-0"))
    run.until(FAILED, within_s=300)
    assert "may have joined with instance id payments-0" in read_memory(run.outside.status).message


Change = tuple[str, dict[str, Any], str, dict[str, Any]]
CHANGES: dict[str, Change] = {
    "static to dynamic": ("v1", {"membership": "Static"}, "v2", {"membership": "Dynamic"}),
    "dynamic to static": ("v1", {"membership": "Dynamic"}, "v2", {"membership": "Static"}),
    "three members a pod to one": ("three-threads", {"membersPerPod": 3}, "v2", {"membersPerPod": 1}),
    "one member a pod to three": ("v1", {"membersPerPod": 1}, "three-threads", {"membersPerPod": 3}),
    "three to two": ("three-threads", {"membersPerPod": 3}, "two-threads", {"membersPerPod": 2}),
}


def before(change: str, **options: Any) -> Run:
    """At rest, after one ordinary restart of all pods: static members are known by their first holder's address."""
    version, spec, _, _ = CHANGES[change]
    run = Run(Outside(version=version, static=spec.get("membership") != "Dynamic", **options))
    run.outside.spec |= spec
    run.until(COMPLETE)
    run.for_seconds(20)
    run.do("restart", Outside.restart)
    run.for_seconds(5)
    run.until(COMPLETE)
    run.for_seconds(20)
    return run


@pytest.mark.parametrize("change", CHANGES)
def test_spec_and_image_change_at_once(change: str) -> None:
    _, _, version, spec = CHANGES[change]
    run = before(change)
    run.do(f"version {version} and {spec} are applied", lambda o: o.apply(version, **spec))
    run.for_seconds(5)
    run.until(COMPLETE, within_s=200)
    assert images(run) == [version] * 3
    run.until_it_is("at work", lambda _: everybody_works(run), within_s=40)
    assert not any("ForeignMembers" in line for line in run.operator.log)


@pytest.mark.parametrize("change", [change for change in CHANGES if "ynamic" not in change])
def test_under_kip_848_nobody_who_works_is_taken_for_refused(change: str) -> None:
    """An id that the new version does not use is given free; its pod has all the members that it is to have."""
    _, _, version, spec = CHANGES[change]
    run = before(change, kip848=True)
    restarts = run.invariants.restarts
    run.do(f"version {version} and {spec} are applied", lambda o: o.apply(version, **spec))
    run.for_seconds(5)
    run.until(COMPLETE, within_s=300)
    run.for_seconds(90)
    assert images(run) == [version] * 3
    assert run.invariants.restarts == restarts + 3
    assert everybody_works(run)


@pytest.mark.parametrize("after_s", MOMENTS)
@pytest.mark.parametrize("change", CHANGES)
def test_spec_and_image_go_back_at_once(change: str, after_s: float) -> None:
    first, _, version, spec = CHANGES[change]
    run = before(change)
    run.do(f"version {version} and {spec} are applied", lambda o: o.apply(version, **spec))
    run.for_seconds(after_s)
    run.do("abort", Outside.abort)
    run.until(ROLLED_BACK, COMPLETE, within_s=200)
    if run.phase is ROLLED_BACK:
        assert images(run) == [first] * 3
    run.until_it_is("at work", lambda _: everybody_works(run), within_s=40)


@pytest.mark.parametrize("change", CHANGES)
def test_a_bad_version_with_another_spec_goes_back_by_itself(change: str) -> None:
    first, _, _, spec = CHANGES[change]
    run = before(change, onFailure="Rollback")
    run.do(f"version never-joins and {spec} are applied", lambda o: o.apply("never-joins", **spec))
    run.until(ROLLED_BACK, within_s=200)
    assert images(run) == [first] * 3
    run.until_it_is("at work", lambda _: everybody_works(run), within_s=40)


WARM = {"strategy": "WarmHandover"}
FEWER_OR_MORE = [change for change in CHANGES if "membersPerPod" in CHANGES[change][3]]


@pytest.mark.parametrize("change", FEWER_OR_MORE)
def test_other_members_of_a_pod_come_in_place_where_warm_is_asked_for(change: str) -> None:
    _, _, version, spec = CHANGES[change]
    run = before(change, **WARM)
    run.do(f"version {version} and {spec} are applied", lambda o: o.apply(version, **spec))
    run.for_seconds(5)
    assert [each.exists for each in run.outside.sets.values()].count(True) == 1, "its members would have other ids"
    run.until(COMPLETE, within_s=300)
    assert images(run) == [version] * 3
    run.until_it_is("at work", lambda _: everybody_works(run), within_s=40)


@pytest.mark.parametrize("change", FEWER_OR_MORE)
@pytest.mark.parametrize("after_s", MOMENTS)
def test_and_takes_them_back(change: str, after_s: float) -> None:
    first, _, version, spec = CHANGES[change]
    run = before(change, **WARM)
    run.do(f"version {version} and {spec} are applied", lambda o: o.apply(version, **spec))
    run.for_seconds(after_s)
    run.do("abort", Outside.abort)
    run.until(ROLLED_BACK, COMPLETE, within_s=300)
    if run.phase is ROLLED_BACK:
        assert images(run) == [first] * 3
    run.until_it_is("at work", lambda _: everybody_works(run), within_s=40)


def test_dynamic_members_become_static_in_place_where_warm_is_asked_for() -> None:
    run = before("dynamic to static")
    rollout = {**run.outside.spec["rollout"], **WARM}
    run.do("version v2, Static and WarmHandover", lambda o: o.apply("v2", membership="Static", rollout=rollout))
    run.for_seconds(5)
    run.until(COMPLETE, within_s=200)
    assert sorted(pod.name for pod in run.outside.pods) == [f"payments-{ordinal}" for ordinal in range(3)]
    assert images(run) == ["v2"] * 3


@pytest.mark.parametrize("version", WRONG)
def test_a_warm_rollout_of_what_joins_wrongly_is_taken_back(version: str) -> None:
    run = at_rest(onFailure="Rollback", **WARM)
    run.do(f"version {version} is applied", lambda o: o.apply(version))
    run.for_seconds(15)
    run.do("abort", Outside.abort)
    run.until(ROLLED_BACK, within_s=200)
    assert images(run) == ["v1"] * 3
    run.until_it_is("at work", lambda _: everybody_works(run), within_s=40)


@pytest.mark.parametrize("kip848", [False, True])
def test_a_version_that_loses_a_thread_in_each_pod_stops_at_its_first(kip848: bool) -> None:
    """It works for seven of the ten seconds for which its first pod has to prove itself."""
    run = Run(Outside(version="three-threads", replicas=2, kip848=kip848, stableFor="10s", onFailure="Rollback"))
    run.outside.spec |= {"membersPerPod": 3}
    run.until(COMPLETE)
    run.for_seconds(20)
    seen = set[int]()
    run.do("version loses-a-thread is applied", lambda o: o.apply("loses-a-thread"))

    def is_back(outside: Outside) -> bool:
        seen.update(pod.ordinal for pod in outside.pods if outside.image(pod) == "loses-a-thread")
        return run.phase is ROLLED_BACK

    run.until_it_is("rolled back", is_back, within_s=400)
    assert seen == {1}


@pytest.mark.parametrize("rollout", [{}, WARM], ids=["in place", "warm"])
def test_retry_makes_a_pod_again_that_has_one_of_its_two_members(rollout: dict[str, Any]) -> None:
    """What the other one lacked may be there by now; where it is not, that is a failure again, and not a wait."""
    run = Run(Outside(version="two-threads", stableFor="10s", **rollout))
    run.outside.spec |= {"membersPerPod": 2}
    run.until(COMPLETE)
    run.for_seconds(20)
    run.do("version loses-one-of-two is applied", lambda o: o.apply("loses-one-of-two"))
    run.until(FAILED, within_s=200)
    (first,) = (pod for pod in run.outside.pods if run.outside.image(pod) == "loses-one-of-two")
    assert any("is Ready but has 1 of 2 members in the group after" in line for line in run.operator.log)
    run.do("retry", Outside.retry)
    run.until_it_is("made again", lambda o: first.uid not in {pod.uid for pod in o.pods}, within_s=30)
    run.until(FAILED, within_s=200)
    assert sorted(images(run)) == ["loses-one-of-two", "two-threads", "two-threads"]
    run.do("retry, with what it lacked", Outside.retry)
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(versions.NOT_DRAWN, "loses-one-of-two", versions.NOT_DRAWN["two-threads"])
        run.until(COMPLETE, within_s=300)


def test_the_fix_of_a_version_that_rebalances_without_end_can_be_forced() -> None:
    """While it was rolled out; in one go with the fix."""
    run = at_rest()
    run.do("version comes-and-goes is applied", lambda o: o.apply("comes-and-goes"))
    run.for_seconds(60)
    assert "comes-and-goes" in images(run)
    run.do("version v2 is applied, and forced", lambda o: o.apply("v2"))
    run.outside.force()
    run.until(COMPLETE)
    assert images(run) == ["v2"] * 3


def test_a_fix_can_be_forced_where_every_pod_keeps_the_group_from_being_calm() -> None:
    run = at_rest()
    run.do("version comes-and-goes is applied, and forced", lambda o: o.apply("comes-and-goes"))
    run.step()
    run.outside.force()
    run.until(COMPLETE)
    assert images(run) == ["comes-and-goes"] * 3
    run.do("version v2 is applied", lambda o: o.apply("v2"))
    run.for_seconds(200)
    assert "comes-and-goes" in images(run)
    run.do("force", Outside.force)
    run.until(COMPLETE)
    assert images(run) == ["v2"] * 3
    assert not read_memory(run.outside.status).forced_hash, "it was for that rollout and no other"
    run.until_it_is("at work again", lambda _: everybody_works(run), within_s=40)


def test_an_old_number_that_comes_with_a_version_takes_no_pod_away_before_it_is_corrected() -> None:
    run = Run(Outside(replicas=4))
    run.until(COMPLETE)
    run.for_seconds(20)
    fewest = 4
    run.do("version v2 is applied with an old number of pods", lambda o: o.apply("v2", replicas=2))

    def watch(outside: Outside) -> bool:
        nonlocal fewest
        fewest = min(fewest, outside.set.replicas)
        return run.phase is COMPLETE and not run.acting

    run.for_seconds(6)
    run.do("the autoscaler corrects it", lambda o: o.scale(4))
    run.until_it_is("rolled out", watch)
    assert fewest == 4
    assert images(run) == ["v2"] * 4
