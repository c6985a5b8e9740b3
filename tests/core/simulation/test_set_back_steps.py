"""People take back in the spec what has not begun, or what has failed: no pod moves for what nobody asks for, and none
is stopped without permission. Found by a fresh reader of 2026-11-30 (the second one), each played red first."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace
from typing import Any

import pytest

from tests.core.simulation.outside import SESSION_S, Outside, _template
from tests.core.simulation.runs import Run
from tests.core.simulation.test_set_back import (
    BY_A_STOP,
    COMPLETE,
    FAILED,
    ROLLED_BACK,
    at_rest,
    fewest_that_serve,
    protocols,
)
from tests.core.simulation.versions import VERSIONS

CLASSIC = {"session": f"{SESSION_S}s"}
ON_FAILURE = pytest.mark.parametrize("on_failure", ["Rollback", "Pause"])
OTHERS = pytest.mark.parametrize("to", ["Eager", "Consumer"])


def timeouts(target: str) -> dict[str, str]:
    return {} if target == "Consumer" else CLASSIC


def uids(run: Run) -> list[str]:
    return sorted(pod.uid for pod in run.outside.pods)


def upgrade_said(run: Run) -> tuple[str, str, str]:
    found = next(each for each in run.outside.status["conditions"] if each["type"] == "ProtocolUpgrade")
    return found["status"], found["reason"], found.get("message", "")


def begun_to_kip_848(on_failure: str = "Pause") -> Run:
    """The first pod of the step never joins."""
    run = at_rest(onFailure=on_failure)
    run.do("a target", lambda o: o.change_target("Consumer"))
    run.until_it_is("begun", lambda o: any(str(pod.profile) == "Consumer" for pod in o.pods), 100)
    next(pod for pod in run.outside.pods if str(pod.profile) == "Consumer").version = VERSIONS["never-joins"]
    return run


def test_a_target_that_is_taken_away_before_any_pod_has_it_moves_none() -> None:
    run = at_rest()
    had, before = protocols(run), uids(run)
    run.do("pause", Outside.pause)
    run.do("a target", lambda o: o.change_target("Consumer"))
    run.for_seconds(10)
    run.do("taken away", lambda o: o.change_spec(protocol={}, timeouts=CLASSIC))
    run.for_seconds(10)
    run.do("resume", Outside.resume)
    run.for_seconds(150)
    assert (protocols(run), uids(run), run.phase) == (had, before, COMPLETE)


@OTHERS
@pytest.mark.parametrize("permitted", [True, False])
def test_another_target_before_a_stop_has_begun_needs_none(to: str, permitted: bool) -> None:
    run = at_rest()
    run.do("pause", Outside.pause)
    run.do("a stop", lambda o: o.change_spec(protocol=BY_A_STOP))
    run.for_seconds(10)
    other = {"target": to, "allowDowntime": True}
    run.do("another target", lambda o: o.change_spec(protocol=other, timeouts=timeouts(to)))
    run.for_seconds(10)
    if not permitted:
        run.do("no stop is permitted", lambda o: o.change_spec(protocol={"target": to}))
        run.for_seconds(10)
    run.do("resume", Outside.resume)
    assert fewest_that_serve(run, 200) == 2
    assert (run.phase, protocols(run)) == (COMPLETE, {to})


@OTHERS
@ON_FAILURE
def test_another_target_after_a_stop_went_back_needs_none(to: str, on_failure: str) -> None:
    run = at_rest(onFailure=on_failure)
    run.do("a stop, and a bad version", lambda o: o.change_spec(protocol=BY_A_STOP, template=_template("never-joins")))
    run.until(ROLLED_BACK if on_failure == "Rollback" else FAILED)
    run.for_seconds(60)
    if on_failure == "Pause":
        run.do("abort", Outside.abort)
        run.until(ROLLED_BACK)
        run.for_seconds(30)
    asked = {"target": to, "allowDowntime": True}
    spec: dict[str, Any] = {"protocol": asked, "template": _template("v1"), "timeouts": timeouts(to)}
    run.do("set back", lambda o: o.change_spec(**spec))
    assert fewest_that_serve(run, 200) == 2
    assert (run.phase, protocols(run)) == (COMPLETE, {to})


def test_another_target_before_any_pod_has_the_first_restarts_each_pod_once() -> None:
    run = at_rest(client={"library": "Java", "version": "4.3"})
    run.do("pause", Outside.pause)
    run.do("a target", lambda o: o.change_target("Cooperative"))
    run.for_seconds(10)
    run.do("another", lambda o: o.change_target("Consumer"))
    run.for_seconds(10)
    before = run.invariants.restarts
    run.do("resume", Outside.resume)
    run.for_seconds(400)
    assert (run.phase, protocols(run)) == (COMPLETE, {"Consumer"})
    assert run.invariants.restarts - before == 3


@pytest.mark.parametrize("left", [{}, {"target": "Eager"}], ids=["removed", "set back"])
def test_what_works_after_a_stop_that_failed_is_not_stopped_without_permission(left: dict[str, Any]) -> None:
    run = at_rest(onFailure="Pause")
    run.do("a stop", lambda o: o.change_spec(protocol=BY_A_STOP))
    run.until_it_is("started", lambda o: len(o.pods) == 3 and protocols(run) == {"Cooperative"}, 60)
    run.outside.set.pods[2].version = VERSIONS["never-joins"]
    run.until(FAILED)
    run.for_seconds(20)
    run.do("taken back with its permission", lambda o: o.change_spec(protocol=left))
    assert fewest_that_serve(run, 150) == 2
    assert upgrade_said(run)[1] == ("MixedAssignorsUnsupported" if left else "RolloutFailed")
    assert "set protocol.allowDowntime to true" in upgrade_said(run)[2]
    run.do("permitted", lambda o: o.change_spec(protocol={**left, "allowDowntime": True}))
    run.for_seconds(150)
    assert run.phase is COMPLETE
    assert protocols(run) == {left.get("target", "")}


@pytest.mark.parametrize("target", ["Eager", "Consumer"])
def test_to_undo_a_stop_is_dropped_with_its_permission(target: str) -> None:
    """It is being undone, and nothing has been stopped for that yet."""
    run = at_rest(onFailure="Pause")
    run.do("a stop", lambda o: o.change_spec(protocol=BY_A_STOP))
    run.until_it_is("started", lambda o: len(o.pods) == 3 and protocols(run) == {"Cooperative"}, 60)
    run.do("pause", Outside.pause)
    undone = {"target": target, "allowDowntime": True}
    run.do("undone", lambda o: o.change_spec(protocol=undone, timeouts=timeouts(target)))
    run.for_seconds(20)
    run.do("not permitted", lambda o: o.change_spec(protocol={"target": target}))
    run.for_seconds(20)
    run.do("resume", Outside.resume)
    assert fewest_that_serve(run, 250) >= 2
    assert run.phase is COMPLETE


def test_a_stop_that_failed_is_reverted_to_what_ran_before() -> None:
    run = at_rest(onFailure="Pause")
    had = protocols(run)
    run.do("a stop, and a bad version", lambda o: o.change_spec(protocol=BY_A_STOP, template=_template("never-joins")))
    run.until(FAILED)
    run.for_seconds(20)
    run.do("git revert", lambda o: o.change_spec(protocol={}, template=_template("v1")))
    run.for_seconds(150)
    assert (run.phase, protocols(run)) == (COMPLETE, had)


@ON_FAILURE
def test_nothing_is_about_to_begin_that_is_refused(on_failure: str) -> None:
    run = at_rest(onFailure=on_failure)
    run.outside.facts = replace(run.outside.facts, group_version=0)
    asked: dict[str, Any] = {"protocol": {"target": "Consumer"}, "timeouts": {}, "template": _template("never-joins")}
    run.do("a target, and a bad version", lambda o: o.change_spec(**asked))
    run.until(ROLLED_BACK if on_failure == "Rollback" else FAILED)
    run.for_seconds(60)
    assert upgrade_said(run)[:2] == ("False", "BrokerCannot")
    run.outside.facts = replace(run.outside.facts, group_version=1)
    run.for_seconds(60)
    assert upgrade_said(run)[:2] == ("False", "RolloutFailed")
    assert "apply a template that works" in upgrade_said(run)[2]


def test_nobody_is_asked_to_take_back_a_target_that_is_not_there() -> None:
    run = begun_to_kip_848()
    run.do("taken away in hand", lambda o: o.change_spec(protocol={}, timeouts=CLASSIC))
    run.until(FAILED)
    run.for_seconds(30)
    assert "apply a template that works" in upgrade_said(run)[2]
    assert "protocol.target" not in upgrade_said(run)[2]


def test_a_newer_operator_moves_no_pod_of_a_step_that_failed() -> None:
    """One before this noted nothing of what people gave: unknown is not changed."""
    run = begun_to_kip_848()
    run.do("taken away in hand", lambda o: o.change_spec(protocol={}, timeouts=CLASSIC))
    run.until(FAILED)
    run.for_seconds(10)
    status = deepcopy(run.outside.status)
    del status["rollout"]["targetGiven"]
    run.outside.status = status
    run.operator.die("and a newer one starts")
    before = uids(run)
    run.for_seconds(60)
    assert (run.phase, uids(run)) == (FAILED, before)


@pytest.mark.parametrize("most", [1, 2])
@pytest.mark.parametrize("by", ["abort", "revert", "abort, then revert", "revert, then abort"])
def test_the_last_good_version_applied_again_goes_the_way_back(by: str, most: int) -> None:
    """What it replaces rebalances without end: a rollout that waits for a calm group would wait for ever."""
    run = at_rest(replicas=4, maxUnavailable=most)
    run.do("apply", lambda o: o.apply("comes-and-goes"))
    run.for_seconds(25)
    for each in by.split(", then "):
        run.do(each, Outside.abort if each == "abort" else lambda o: o.apply("v1"))
        run.for_seconds(5)
    run.for_seconds(200)
    assert {run.outside.image(pod) for pod in run.outside.pods} == {"v1"}
    assert run.phase in (COMPLETE, ROLLED_BACK)
    assert "no earlier version" not in "\n".join(run.operator.log)
