"""`retry`, and what a version fails by: a pod is made again for whatever it is, and fails again where it still does."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from slackwater.api.annotations import RETRY
from slackwater.core.decision.acts import Cause, DeletePod
from slackwater.core.manifests.template import Template, wanted_template
from slackwater.core.plan import plan
from slackwater.core.rollout.candidates import incomplete
from slackwater.core.rollout.in_place import next_move
from slackwater.core.world.memory import RolloutMemory, RolloutPhase, read_memory
from slackwater.core.world.pods import NotMade
from slackwater.core.world.step import Step
from tests.core.factories import (
    NEW,
    NOW,
    OLD,
    changed,
    group,
    member,
    members,
    observation,
    pod,
    watched,
    workload,
    world,
)
from tests.core.parameters import first_of
from tests.core.simulation import versions
from tests.core.simulation.outside import Outside
from tests.core.simulation.runs import Run
from tests.core.simulation.stateful_set import SimulatedPod
from tests.core.simulation.versions import Version

COMPLETE, FAILED, ROLLED_BACK = RolloutPhase.COMPLETE, RolloutPhase.FAILED, RolloutPhase.ROLLED_BACK
WARM: dict[str, Any] = {"strategy": "WarmHandover"}


@pytest.fixture
def tried(monkeypatch: pytest.MonkeyPatch) -> Any:
    """How the version `tried` behaves from now on."""

    def behaves(version: Version) -> None:
        monkeypatch.setitem(versions.NOT_DRAWN, "tried", version)

    return behaves


def at_rest(version: str = "v1", spec: dict[str, Any] | None = None, **options: Any) -> Run:
    run = Run(Outside(version=version, **options))
    run.outside.spec |= spec or {}
    run.until(COMPLETE)
    run.for_seconds(20)
    return run


def of_version(outside: Outside, version: str, ordinal: int | None = None) -> SimulatedPod | None:
    found = (each for each in outside.pods if outside.image(each) == version and ordinal in (None, each.ordinal))
    return next(found, None)


ONE_OF_TWO = {"membersPerPod": 2}
FAILS_BY = {
    "it is never Ready, though it consumes": ("v1", {}, Version(gets_ready=False), Version()),
    "one of two does not stay": (
        "two-threads",
        ONE_OF_TWO,
        Version(members=2, one_dies_after_s=2.5),
        Version(members=2),
    ),
    "it is Ready, and does not join": ("v1", {}, Version(joins=False), Version()),
    "it joins, and consumes nothing": ("v1", {}, Version(consumes=False), Version()),
}


@pytest.mark.parametrize("rollout", first_of({}, WARM), ids=["in place", "warm"])
@pytest.mark.parametrize(("before", "spec", "fails", "works"), FAILS_BY.values(), ids=FAILS_BY)
def test_it_is_made_again(
    tried: Any, before: str, spec: dict[str, Any], fails: Version, works: Version, rollout: dict[str, Any]
) -> None:
    tried(fails)
    run = at_rest(before, spec, **rollout)
    run.do("the version is applied", lambda o: o.apply("tried"))
    run.until(FAILED, within_s=300)
    run.do("retry, and nothing has been mended", Outside.retry)
    run.step()
    run.until(FAILED, within_s=300)
    tried(works)
    run.do("retry, and it has", Outside.retry)
    run.until(COMPLETE, within_s=400)
    assert [run.outside.image(each) for each in run.outside.pods] == ["tried"] * 3


def test_a_replacement_of_which_one_member_has_taken_over_is_made_again(tried: Any) -> None:
    """The other one never joins. The old pod is fenced in half of its members, and waited for in vain."""
    tried(Version())
    run = at_rest("two-threads", ONE_OF_TWO, **WARM)
    run.do("the version is applied", lambda o: o.apply("tried"))
    run.until(FAILED, within_s=300)
    run.do("retry, and nothing has been mended", Outside.retry)
    run.step()
    run.until(FAILED, within_s=300)
    tried(Version(members=2))
    run.do("retry, and it has", Outside.retry)
    run.until(COMPLETE, within_s=400)


@pytest.mark.parametrize("replicas", first_of(3, 1))
def test_the_last_pod_of_a_warm_rollout_is_made_again_before_the_good_version_goes(tried: Any, replicas: int) -> None:
    """The StatefulSet of the good version was deleted, and the bad one called good."""
    tried(Version())
    run = at_rest(replicas=replicas, **WARM)
    run.do("the version is applied", lambda o: o.apply("tried"))
    run.until_it_is("the last is made", lambda o: of_version(o, "tried", replicas - 1) is not None, 200)
    last = of_version(run.outside, "tried", replicas - 1)
    assert last is not None
    last.version = Version(consumes=False)
    tried(Version(consumes=False))
    run.until(FAILED, within_s=300)
    run.do("retry, and nothing has been mended", Outside.retry)
    run.step()
    run.until(FAILED, within_s=300)
    memory = read_memory(run.outside.status)
    assert memory.last_good_hash not in ("", memory.target_hash)
    run.do("abort", Outside.abort)
    run.until(ROLLED_BACK, within_s=200)


def test_a_pod_that_was_refused_has_its_time_again() -> None:
    """The StatefulSet controller tries again after a while; what it was told before says nothing of now."""
    given = world(group=group({RETRY: "1"}), pods=(pod(0), pod(1)), kafka=observation(members(0, 1)))
    template = wanted_template(given).hash
    memory = RolloutMemory(
        phase=FAILED,
        target_hash=template,
        failed_hash=template,
        last_good_revision=OLD,
        last_good_hash="old",
        started_at=NOW - 400,
        step=Step(2, NOW - 310),
    )
    refused = NotMade('admission webhook "x" denied the request: no', NOW - 90)
    given = changed(
        given,
        memory=memory,
        workload=workload(partition=2, template_hash=template),
        not_made={"payments-2": refused},
    )
    for after_s, phase in ((0, RolloutPhase.PROGRESSING), (250, RolloutPhase.PROGRESSING), (301, FAILED)):
        kafka = observation(members(0, 1), at=NOW + after_s)
        given = changed(given, now=NOW + after_s, kafka=kafka, history=watched(kafka))
        decided = plan(given)
        assert decided.memory.phase is phase
        given = given.remembering(decided.memory)


@pytest.mark.parametrize("on_failure", first_of("Pause", "Rollback"))
def test_a_corrected_number_of_members_is_taken_up_by_retry(on_failure: str) -> None:
    """Alone it makes no other template, and begins nothing: what was given up may have been for something else. Pods
    that were right all along are not made again for it."""
    run = at_rest("v1", {"membersPerPod": 1}, onFailure=on_failure)
    run.do("v2, with two members by mistake", lambda o: o.apply("v2", membersPerPod=2))
    run.until(FAILED, ROLLED_BACK, within_s=300)
    assert any("has 1 of 2 members in the group after" in line for line in run.operator.log)
    run.for_seconds(60)
    right = {each.uid for each in run.outside.pods if run.outside.image(each) == "v2"}
    given_up = run.phase
    run.do("one member", lambda o: o.change_spec(membersPerPod=1))
    run.for_seconds(60)
    assert run.phase is given_up
    run.do("retry", Outside.retry)
    run.until(COMPLETE, within_s=300)
    assert [run.outside.image(each) for each in run.outside.pods] == ["v2"] * 3
    assert right <= {each.uid for each in run.outside.pods}


@pytest.mark.parametrize("strategy", first_of("InPlace", "WarmHandover"))
@pytest.mark.parametrize("on_failure", first_of("Pause", "Rollback"))
def test_a_version_with_more_members_than_it_should_have_fails_and_is_taken_up_when_that_is_corrected(
    on_failure: str, strategy: str
) -> None:
    """It was held at ForeignMembers for ever: nobody is away for whom anybody would be waited for."""
    run = at_rest("v1", {"membersPerPod": 1}, onFailure=on_failure, strategy=strategy)
    run.do("two-threads is applied", lambda o: o.apply("two-threads"))
    run.until(FAILED, ROLLED_BACK, within_s=600)
    assert any("has had 2 members in the group for more than" in line for line in run.operator.log)
    run.for_seconds(60)
    run.do("two members, and retry", lambda o: o.change_spec(membersPerPod=2))
    run.do("retry", Outside.retry)
    run.until(COMPLETE, within_s=600)
    assert [run.outside.image(each) for each in run.outside.pods] == ["two-threads"] * 3


def test_a_number_that_is_wrong_for_all_pods_fails_no_version() -> None:
    """Old pods have as many members as the new one; a slip in the spec took the new one back within a second."""
    run = at_rest("two-threads", {"membersPerPod": 2}, onFailure="Rollback", canary=[{"replicas": 1}])
    run.do("another one with two", lambda o: o.apply("two-b"))
    run.for_seconds(90)
    run.do("one member, by a slip", lambda o: o.change_spec(membersPerPod=1))
    run.for_seconds(100)
    assert run.phase is RolloutPhase.PROGRESSING
    run.do("two members", lambda o: o.change_spec(membersPerPod=2))
    run.do("promote", Outside.promote)
    run.until(COMPLETE, within_s=300)


DYNAMIC = {"static": False}


def is_away_for_a_moment(run: Run, pod: SimulatedPod) -> None:
    works, pod.version = pod.version, replace(pod.version, joins=False)
    (process,) = pod.processes
    run.do(f"the consumer of {pod.name} leaves, and is back in 2 s", lambda o: o.broker.leave(process, o.now))
    run.for_seconds(2)
    pod.version = works


@pytest.mark.parametrize("kind", first_of(DYNAMIC, DYNAMIC | {"kip848": True}, {}), ids=["dynamic", "848", "static"])
def test_a_member_that_is_away_for_a_moment_fails_no_version(kind: dict[str, Any]) -> None:
    """Its pod has run for longer than `rejoinTimeout`; the member has not been away for as long."""
    run = at_rest(canary=[{"replicas": 1}], onFailure="Rollback", **kind)
    run.do("v2 is applied", lambda o: o.apply("v2"))
    run.for_seconds(60)
    canary = of_version(run.outside, "v2")
    assert canary is not None
    is_away_for_a_moment(run, canary)
    run.for_seconds(60)
    assert run.phase is RolloutPhase.PROGRESSING
    assert of_version(run.outside, "v2") is canary


@pytest.mark.parametrize("kind", first_of(DYNAMIC, {}), ids=["dynamic", "static"])
def test_nor_is_the_next_pod_taken_for_it(tried: Any, kind: dict[str, Any]) -> None:
    """Two pods would be away: the new one has yet to join, and an old one's member is about to be back."""
    tried(Version(ready_s=1.0, join_s=15.0))
    run = at_rest(**kind)
    run.do("the version is applied", lambda o: o.apply("tried"))
    run.until_it_is("the first is Ready", lambda o: any(p.ready for p in o.pods if o.image(p) == "tried"), 60)
    run.for_seconds(2)
    old = of_version(run.outside, "v1", 1)
    assert old is not None
    is_away_for_a_moment(run, old)
    run.for_seconds(4)
    assert of_version(run.outside, "v1", 1) is old


@pytest.mark.parametrize("kind", first_of(DYNAMIC, DYNAMIC | {"kip848": True}), ids=["dynamic", "848"])
@pytest.mark.parametrize("stays_s", first_of(5.0, 12.0))
def test_one_that_comes_and_goes_for_ever_fails_all_the_same(tried: Any, stays_s: float, kind: dict[str, Any]) -> None:
    """Each of its returns would give it another `rejoinTimeout`, and one with the right pace would be called good."""
    tried(Version(stays_s=stays_s))
    run = at_rest(**kind)
    run.do("the version is applied", lambda o: o.apply("tried"))
    run.until(FAILED, within_s=200)


@pytest.mark.parametrize("came_back", [False, True])
def test_on_the_way_back_nobody_goes_while_another_may_be_on_its_way(came_back: bool) -> None:
    """payments-2 is the controller's to restart, or has just come back; payments-1 has one of its two members."""
    listed = (("payments-0-0", 0), ("payments-0-1", 0), ("payments-1-0", 1), ("payments-2-0", 2), ("payments-2-1", 2))
    kafka = observation(member(ordinal, instance_id=key, member_id=f"{key}-a") for key, ordinal in listed)
    since = {"started_at": NOW - 6, "ready_changed_at": NOW - 4, "restarts": 1} if came_back else {}
    two = pod(2, NEW, **since)
    given = world(
        memory=replace(BACK, last_good_revision=OLD, last_good_hash="good"),
        pods=(pod(0, NEW), pod(1, NEW), two),
        kafka=kafka,
        history=watched(kafka),
        workload=workload(current_revision=OLD, update_revision=OLD, partition=2, template_hash="good"),
        last_good_template={"metadata": {"annotations": {"slackwater.dev/template-hash": "good"}}},
        **TWO_EACH,
    )
    act = next_move(given, given.sets[0], Template("good", {})).act
    assert not isinstance(act, DeletePod) or (came_back and act.ordinal == 2)  # of its own two, none may live


def test_pods_that_stand_excuse_none_of_their_own_version(tried: Any) -> None:
    """Of three that were scaled up with it each had been the others' excuse, and the version was called good."""
    tried(Version(members=2, one_stands_after_s=0.0))
    run = at_rest("two-threads", ONE_OF_TWO, replicas=1)
    run.do("a version of which a thread stands", lambda o: o.apply("tried"))
    run.until(FAILED, within_s=300)
    run.do("three pods", lambda o: o.scale(3))
    run.for_seconds(20)
    run.do("retry, and nothing has been mended", Outside.retry)
    run.step()
    run.until(FAILED, COMPLETE, within_s=400)
    assert run.phase is FAILED


@pytest.mark.parametrize("version", first_of("v1", "v2"))
def test_force_is_for_what_is_asked_for_with_it(version: str) -> None:
    """The template that is forced has the protocol that comes with it, in one apply."""
    run = at_rest(protocol={"target": "Eager"}, client={"library": "Java", "version": "4.1.0"})

    def all_at_once(outside: Outside) -> None:
        outside.change_target("Cooperative")
        outside.apply(version)
        outside.force()

    run.do(f"Cooperative, {version} and force", all_at_once)
    run.for_seconds(3)
    assert read_memory(run.outside.status).is_forced
    assert any("Forced: force: this rollout goes on as a rollback does" in line for line in run.operator.log)


BACK = RolloutMemory(phase=RolloutPhase.ROLLING_BACK)
TWO_EACH = {"group": group(membersPerPod=2)}


@pytest.mark.parametrize(
    ("memory", "new", "first"),
    [
        (BACK, (1, 2), {1}),
        (BACK, (0, 1, 2), {0, 1}),
        (BACK, (2,), set()),
        (RolloutMemory(), (1, 2), {1}),
        (RolloutMemory(), (0, 1, 2), set()),
    ],
    ids=["back", "back: all", "back: one", "forward", "forward: one of two of the same version"],
)
def test_who_works_in_part_only_goes_first(memory: RolloutMemory, new: tuple[int, ...], first: set[int]) -> None:
    """The third has both of its members. None is first where the next in order is one of them anyway; nor, going
    forward, where another one of the same version lacks as many."""
    listed = (("payments-0-0", 0), ("payments-1-0", 1), ("payments-2-0", 2), ("payments-2-1", 2))
    kafka = observation(member(ordinal, instance_id=key, member_id=f"{key}-a") for key, ordinal in listed)
    pods = tuple(pod(ordinal, NEW) for ordinal in range(3))
    given = world(memory=memory, pods=pods, kafka=kafka, history=watched(kafka), workload=workload(), **TWO_EACH)
    candidates = tuple(sorted((pods[ordinal] for ordinal in new), key=lambda each: -each.ordinal))
    assert incomplete(given, candidates) == first


def test_and_it_is_said_why(tried: Any) -> None:
    tried(Version(members=2))
    run = at_rest("two-threads", ONE_OF_TWO, onFailure="Rollback")
    run.do("the version is applied", lambda o: o.apply("tried"))
    run.until_it_is("the second is made", lambda o: of_version(o, "tried", 1) is not None, 100)
    second = of_version(run.outside, "tried", 1)
    assert second is not None
    second.version = Version(members=2, one_dies_after_s=2.5)
    deleted: list[tuple[int, Cause]] = []

    def back(outside: Outside) -> bool:
        act = run.operator.last.act if run.operator.last is not None else None
        if isinstance(act, DeletePod):
            deleted.append((act.ordinal, act.cause))
        return run.phase is ROLLED_BACK

    run.until_it_is("rolled back", back, 400)
    assert deleted[:1] == [(1, Cause.INCOMPLETE)]
