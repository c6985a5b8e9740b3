"""What a person gave up stays given up, until the person asks for something else."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

import pytest

from slackwater.core.world.broker import Bounds
from slackwater.core.world.memory import RolloutPhase
from tests.core.simulation.outside import SESSION_S, Outside
from tests.core.simulation.runs import Doing, Run

SESSION: Final = "KAFKA_SESSION_TIMEOUT_MS"
COMPLETE, FAILED, ROLLED_BACK = RolloutPhase.COMPLETE, RolloutPhase.FAILED, RolloutPhase.ROLLED_BACK


def aborted() -> Run:
    """v2 works, does the wrong thing, and was taken back."""
    run = Run(Outside())
    run.until(COMPLETE)
    run.for_seconds(20)
    run.do("version v2 is applied", lambda o: o.apply("v2"))
    run.for_seconds(14)
    run.do("abort", Outside.abort)
    run.until(ROLLED_BACK)
    run.for_seconds(20)
    return run


def images(run: Run) -> set[str]:
    return {run.outside.image(pod) for pod in run.outside.pods}


def brokers_of(run: Run) -> set[str]:
    """Where the pods find their brokers."""
    return given(run, "KAFKA_BOOTSTRAP_SERVERS")


def given(run: Run, variable: str) -> set[str]:
    """What the pods' environments say."""
    found = set()
    for pod in run.outside.pods:
        environment = run.outside.revisions[pod.revision]["spec"]["containers"][0]["env"]
        found |= {each["value"] for each in environment if each["name"] == variable}
    return found


def comes_with_the_next_version(run: Run, what: str, doing: Doing) -> None:
    """Another template of what was aborted is what was aborted still."""
    before = sorted(pod.uid for pod in run.outside.pods)
    run.do(what, doing)
    run.for_seconds(60)
    assert run.phase is ROLLED_BACK
    assert sorted(pod.uid for pod in run.outside.pods) == before
    run.do("version v3 is applied", lambda o: o.apply("v3"))
    run.until(COMPLETE)


def test_other_brokers_begin_nothing() -> None:
    run = aborted()
    comes_with_the_next_version(run, "the brokers have moved", lambda o: setattr(o, "bootstrap", "other:9092"))
    assert brokers_of(run) == {"other:9092"}


def test_nor_do_other_bounds() -> None:
    """The brokers allow no session as short as what is asked for."""
    run, asked_ms = aborted(), SESSION_S * 1000
    assert given(run, SESSION) == {str(asked_ms)}
    facts = replace(run.outside.facts, classic_session=Bounds(asked_ms + 3000, 1_800_000))
    comes_with_the_next_version(run, "the brokers have other bounds", lambda o: setattr(o, "facts", facts))
    assert given(run, SESSION) == {str(asked_ms + 3000)}


def test_with_onfailure_pause_nothing_moves_for_other_brokers() -> None:
    run = Run(Outside())
    run.until(COMPLETE)
    run.for_seconds(20)
    run.do("version never-joins is applied", lambda o: o.apply("never-joins"))
    run.until(FAILED)
    before = sorted(pod.uid for pod in run.outside.pods)
    run.outside.bootstrap = "other:9092"
    run.for_seconds(60)
    assert run.phase is FAILED
    assert sorted(pod.uid for pod in run.outside.pods) == before
    run.do("version v2 is applied", lambda o: o.apply("v2"))
    run.until(COMPLETE)
    assert brokers_of(run) == {"other:9092"}


@pytest.mark.parametrize("asks", ["another image", "other topics", "retry"])
def test_what_people_ask_for_begins(asks: str) -> None:
    run = aborted()
    if asks == "another image":
        run.do("version v3 is applied", lambda o: o.apply("v3"))
    elif asks == "other topics":
        run.do("topics and brokers", lambda o: o.apply("v2", topics=["orders", "refunds"]))
        run.outside.bootstrap = "other:9092"
    else:
        run.do("retry", Outside.retry)
    run.for_seconds(3)
    run.until(COMPLETE)
    assert images(run) == ({"v3"} if asks == "another image" else {"v2"})


def test_a_restart_does_not_begin_what_was_given_up() -> None:
    """Somebody wants the pods that run to start again, not what they were taken back from."""
    run = aborted()
    before = sorted(pod.uid for pod in run.outside.pods)
    run.do("restart", Outside.restart)
    run.for_seconds(60)
    assert run.phase is ROLLED_BACK
    assert sorted(pod.uid for pod in run.outside.pods) == before
    run.do("version v3 is applied", lambda o: o.apply("v3"))
    run.until(COMPLETE)
    assert images(run) == {"v3"}


@pytest.mark.parametrize(
    "edit",
    [{"timeouts": {"session": "12s", "mode": "Recommend"}}, {"topics": ["orders", "refunds"]}, {"membersPerPod": 2}],
    ids=["mode", "topics", "membersPerPod"],
)
def test_an_edit_that_makes_no_other_template_does_not_begin_what_was_given_up(edit: dict[str, Any]) -> None:
    run = aborted()
    before = sorted(pod.uid for pod in run.outside.pods)
    run.do("an edit", lambda o: o.change_spec(**edit))
    run.for_seconds(60)
    assert run.phase is ROLLED_BACK
    assert sorted(pod.uid for pod in run.outside.pods) == before
