"""Warm rollouts, pass by pass: what went into each plan, and what came out, is as it was before (`kept`)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import pytest

from slackwater.core.world.memory import RolloutPhase
from slackwater.core.world.two_sets import names_of
from tests.core.factories import NAME
from tests.core.simulation import kept
from tests.core.simulation.outside import Outside
from tests.core.simulation.passes import passes_of
from tests.core.simulation.runs import Run
from tests.core.simulation.scenarios import Scenario

GOLDEN = Path(__file__).parent / "golden"
WARM: Final[Mapping[str, Any]] = {"replicas": 2, "strategy": "WarmHandover", "onFailure": "Rollback"}
_, SECOND = names_of(NAME)
COMPLETE, PROGRESSING, ROLLED_BACK = RolloutPhase.COMPLETE, RolloutPhase.PROGRESSING, RolloutPhase.ROLLED_BACK


def _apply(run: Run, version: str) -> None:
    run.do(f"version {version} is applied", lambda outside: outside.apply(version))
    run.until(PROGRESSING)


def _is_fenced(outside: Outside) -> bool:
    return any(pod.process is not None and outside.broker.has_fenced(pod.process) for pod in outside.pods)


def warm_rollout(run: Run) -> None:
    """Three pods, each replaced by one that starts beside it; then the first StatefulSet goes."""
    _apply(run, "v2")
    run.until(COMPLETE)
    run.for_seconds(10)


def predictive(run: Run) -> None:
    """The first replacement shows how long they take to join; the second one's predecessor goes shortly before that."""
    _apply(run, "slow")
    run.until(COMPLETE)
    run.for_seconds(10)


def replacement_never_joins(run: Run) -> None:
    """The version's first pod gets Ready without joining: it is removed, and the old pod was never touched."""
    _apply(run, "never-joins")
    run.until(ROLLED_BACK)
    run.for_seconds(10)


def fight(run: Run) -> None:
    """The StatefulSet controller is late: the replaced process has exited, comes back, and fences its replacement."""
    _apply(run, "v2")
    run.until_it_is("taken over", _is_fenced)
    run.do("the StatefulSet controller stops", Outside.stop_controller)
    run.for_seconds(14)
    run.do("the StatefulSet controller is back", Outside.start_controller)
    run.until(COMPLETE)
    run.for_seconds(10)


def going_back_in_the_middle(run: Run) -> None:
    """Aborted when two ordinals are handed over and the third one's replacement starts: that one is removed, and the
    two go back, the last one first."""
    _apply(run, "v2")
    run.until_it_is("at the third ordinal", lambda outside: 2 in outside.sets[SECOND].pods)
    run.for_seconds(1)
    run.do("abort", Outside.abort)
    run.until(ROLLED_BACK)
    run.for_seconds(10)


def no_room(run: Run) -> None:
    """There is no room for one more pod: after surgeTimeout, old pods are given up first, once all gates hold."""

    def fill(outside: Outside) -> None:
        outside.room = len(outside.pods)

    run.do("the nodes are full", fill)
    _apply(run, "v2")
    run.for_seconds(12)
    run.do("somebody's console joins the group", lambda outside: outside.foreign_member(there=True))
    run.for_seconds(10)
    run.do("the console leaves", lambda outside: outside.foreign_member(there=False))
    run.until(COMPLETE)
    run.for_seconds(10)


SCENARIOS: Final[Mapping[str, Scenario]] = {
    "warm-rollout": Scenario(warm_rollout, {**WARM, "replicas": 3}),
    "predictive": Scenario(predictive, {**WARM, "handover": "Predictive", "rejoinTimeout": "60s"}),
    "replacement-never-joins": Scenario(replacement_never_joins, WARM),
    "fight": Scenario(fight, WARM),
    "going-back-in-the-middle": Scenario(going_back_in_the_middle, {**WARM, "replicas": 3}),
    "no-room": Scenario(no_room, {**WARM, "surgeTimeout": "15s", "rejoinTimeout": "60s"}),
}


@pytest.mark.parametrize("name", SCENARIOS)
def test_every_pass_comes_to_what_it_came_to_before(name: str) -> None:
    kept.compare(GOLDEN / f"{name}.txt", passes_of(SCENARIOS[name]))


def test_every_log_is_of_a_scenario() -> None:
    assert kept.names_in(GOLDEN) == sorted(SCENARIOS)
