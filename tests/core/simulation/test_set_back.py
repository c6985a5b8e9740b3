"""People take a change back in the spec, as `git revert` does: what ran before is what is asked for. Found by a fresh
reader of 2026-11-30, each played red first."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

import pytest

from slackwater.core.manifests import template
from slackwater.core.world.broker import Bounds
from slackwater.core.world.memory import RolloutPhase
from tests.core.factories import BOOTSTRAP
from tests.core.simulation.outside import SESSION_S, Outside, _template
from tests.core.simulation.runs import Run
from tests.core.simulation.stateful_set import SimulatedPod
from tests.core.simulation.versions import NOT_DRAWN, VERSIONS, Version

COMPLETE, FAILED, ROLLED_BACK = RolloutPhase.COMPLETE, RolloutPhase.FAILED, RolloutPhase.ROLLED_BACK
BY_A_STOP: Final = {"target": "Cooperative", "allowDowntime": True}
BEFORE: Final[tuple[dict[str, Any], ...]] = ({}, {"target": "Eager"})
LEFT: Final[tuple[dict[str, Any], ...]] = ({}, {"target": "Cooperative"})
FIRST = pytest.mark.parametrize("before", BEFORE, ids=["its own choice", "Eager"])
THEN = pytest.mark.parametrize("left", LEFT, ids=["protocol removed", "allowDowntime removed"])


def at_rest(**spec: Any) -> Run:
    run = Run(Outside(**spec))
    run.until(COMPLETE)
    run.for_seconds(20)
    return run


def fewest_that_serve(run: Run, seconds: int) -> int:
    fewest = len(run.outside.pods)
    for _ in range(seconds):
        run.step()
        fewest = min(fewest, sum(run.outside.serves(pod) for pod in run.outside.pods))
    return fewest


def protocols(run: Run) -> set[str]:
    return {str(pod.profile) for pod in run.outside.pods}


@FIRST
@THEN
def test_nobody_is_stopped_after_a_step_went_back_without_the_permission(
    before: dict[str, Any], left: dict[str, Any]
) -> None:
    run = at_rest(onFailure="Rollback", protocol=before)
    had = protocols(run)
    run.do("a stop, and a bad version", lambda o: o.change_spec(protocol=BY_A_STOP, template=_template("never-joins")))
    run.until(ROLLED_BACK)
    run.for_seconds(60)
    run.do("the next version", lambda o: o.apply("v2", protocol=left))
    assert fewest_that_serve(run, 120) == 2
    assert run.phase is COMPLETE
    assert protocols(run) == had
    assert {run.outside.image(pod) for pod in run.outside.pods} == {"v2"}


@THEN
def test_nor_before_it_has_begun(left: dict[str, Any]) -> None:
    run = at_rest(protocol={"target": "Eager"})
    run.do("pause", Outside.pause)
    run.do("a stop is permitted", lambda o: o.change_spec(protocol=BY_A_STOP))
    run.for_seconds(10)
    run.do("it is not any more", lambda o: o.change_spec(protocol=left))
    run.for_seconds(10)
    run.do("resume", Outside.resume)
    assert fewest_that_serve(run, 80) == 3
    assert protocols(run) == {"Eager"}


@pytest.mark.parametrize("on_failure", ["Rollback", "Pause"])
def test_a_failed_step_is_taken_back_with_its_target(on_failure: str) -> None:
    """There was none before: nothing else could be set."""
    run = at_rest(onFailure=on_failure)
    had = protocols(run)
    run.do("a target", lambda o: o.change_target("Consumer"))
    run.until_it_is("begun", lambda o: any(str(pod.profile) == "Consumer" for pod in o.pods), 60)
    next(pod for pod in run.outside.pods if str(pod.profile) == "Consumer").version = VERSIONS["never-joins"]
    run.until(ROLLED_BACK if on_failure == "Rollback" else FAILED)
    run.do("set back", lambda o: o.change_spec(protocol={}, timeouts={"session": f"{SESSION_S}s"}))
    run.for_seconds(100)
    assert run.phase is COMPLETE
    assert protocols(run) == had
    run.do("the next version", lambda o: o.apply("v2"))
    run.for_seconds(150)
    assert run.phase is COMPLETE
    assert protocols(run) == had


def test_one_in_hand_goes_on_without_its_target() -> None:
    run = at_rest()
    run.do("a target", lambda o: o.change_target("Consumer"))
    run.until_it_is("begun", lambda o: any(str(pod.profile) == "Consumer" for pod in o.pods), 60)
    run.do("set back", lambda o: o.change_spec(protocol={}, timeouts={"session": f"{SESSION_S}s"}))
    run.for_seconds(150)
    assert run.phase is COMPLETE
    assert protocols(run) == {"Consumer"}


def brokers(run: Run) -> set[str]:
    found = set()
    for pod in run.outside.pods:
        environment = run.outside.revisions[pod.revision]["spec"]["containers"][0]["env"]
        found |= {each["value"] for each in environment if each["name"] == "KAFKA_BOOTSTRAP_SERVERS"}
    return found


def connected(run: Run, name: str, servers: str, *, by_name: bool) -> None:
    if by_name:
        run.do(f"connection {name}", lambda o: o.change_spec(connectionRef={"name": name}))
    run.outside.bootstrap = servers


def failed_elsewhere(on_failure: str, *, by_name: bool) -> Run:
    """Other brokers, which the first pod cannot reach."""
    run = at_rest(onFailure=on_failure)
    connected(run, "other", "other:9092", by_name=by_name)
    run.until_it_is("begun", lambda o: "other:9092" in brokers(run), 60)
    run.outside.set.pods[2].version = VERSIONS["never-joins"]
    run.until(ROLLED_BACK if on_failure == "Rollback" else FAILED)
    return run


@pytest.mark.parametrize("by_name", [True, False], ids=["connectionRef", "bootstrapServers"])
@pytest.mark.parametrize("on_failure", ["Rollback", "Pause"])
def test_brokers_that_are_set_back_are_the_last_good_version(on_failure: str, by_name: bool) -> None:
    run = failed_elsewhere(on_failure, by_name=by_name)
    connected(run, "main", BOOTSTRAP, by_name=by_name)
    run.for_seconds(100)
    assert run.phase is COMPLETE
    assert brokers(run) == {BOOTSTRAP}
    assert fewest_that_serve(run, 10) == 3
    connected(run, "third", "third:9092", by_name=by_name)
    run.for_seconds(100)
    assert (run.phase, brokers(run)) == (COMPLETE, {"third:9092"})


@pytest.mark.parametrize("on_failure", ["Rollback", "Pause"])
def test_another_connection_is_another_try(on_failure: str) -> None:
    run = failed_elsewhere(on_failure, by_name=True)
    connected(run, "third", "third:9092", by_name=True)
    run.for_seconds(100)
    assert (run.phase, brokers(run)) == (COMPLETE, {"third:9092"})


def test_other_brokers_of_what_failed_wait_for_retry_and_it_can_be_aborted() -> None:
    run = failed_elsewhere("Pause", by_name=False)
    connected(run, "", "third:9092", by_name=False)
    run.for_seconds(60)
    assert (run.phase, brokers(run)) == (FAILED, {BOOTSTRAP, "other:9092"})
    run.do("abort", Outside.abort)
    run.until(ROLLED_BACK)
    assert brokers(run) == {BOOTSTRAP}


def test_what_an_older_operator_noted_of_a_spec_is_understood(monkeypatch: pytest.MonkeyPatch) -> None:
    """It did not count the connection: a version that was given up is not tried again for that."""
    run = at_rest(onFailure="Rollback")
    with monkeypatch.context() as older:
        older.setattr("slackwater.core.rollout.beginning.what_people_gave", noted_before)
        run.do("a bad version", lambda o: o.apply("never-joins"))
        run.until(ROLLED_BACK)
        run.for_seconds(20)
        assert run.outside.memory.target_given == noted_before(run.operator.last_world)
    bounds = replace(run.outside.facts, classic_session=Bounds(SESSION_S * 1000 + 3000, 1_800_000))
    before = sorted(pod.uid for pod in run.outside.pods)
    run.do("the brokers have other bounds", lambda o: setattr(o, "facts", bounds))
    run.for_seconds(60)
    assert run.phase is ROLLED_BACK
    assert sorted(pod.uid for pod in run.outside.pods) == before


def noted_before(world: Any) -> str:
    return template._digest_of(world, template._PEOPLES_OWN)


@pytest.mark.parametrize("moved", [False, True], ids=["the same address", "another address"])
def test_a_pod_whose_node_was_started_again_gets_its_id(moved: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """KIP-848: its dead member is at the address that the pod had before."""
    monkeypatch.setitem(NOT_DRAWN, "slower", Version(pull_s=3.0, ready_s=2.0, join_s=5.0))
    addresses: dict[str, str] = {}
    own = property(lambda pod: addresses.get(pod.uid, f"10.0.0.{pod.uid}"))
    monkeypatch.setattr(SimulatedPod, "address", own)
    run = Run(Outside(kip848=True, version="slower"))
    run.outside.broker.session_s = 45.0
    run.until(COMPLETE)
    run.for_seconds(120)
    if moved:
        addresses[run.outside.set.pods[2].uid] = "10.0.9.99"
    run.do("its node is started again", lambda o: o.crash(2))
    run.for_seconds(25)
    assert run.outside.serves(run.outside.set.pods[2])
