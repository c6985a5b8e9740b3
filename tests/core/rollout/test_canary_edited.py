"""Canary steps that are edited, and pods that are scaled away, while a step is held."""

from __future__ import annotations

from typing import Any

import pytest

from slackwater.core.world.memory import RolloutPhase
from tests.core.simulation.outside import Outside
from tests.core.simulation.runs import Run

pytestmark = pytest.mark.slow

FIRST: dict[str, Any] = {"replicas": 1, "hold": "3s"}


def held_at_two(*, replicas: int = 4, strategy: str = "InPlace", steps: Any = (FIRST, {"replicas": 2})) -> Run:
    run = Run(Outside(replicas=replicas, strategy=strategy, canary=list(steps)))
    run.until(RolloutPhase.COMPLETE)
    run.for_seconds(20)
    run.do("v2", lambda o: o.apply("v2"))
    run.until_it_is("held", lambda _: any("canary of 2" in line for line in run.operator.log))
    run.for_seconds(5)
    return run


def new_pods(run: Run) -> int:
    return sum(run.outside.image(pod) == "v2" for pod in run.outside.pods)


@pytest.mark.parametrize("strategy", ["InPlace", "WarmHandover"])
@pytest.mark.parametrize("left", [[FIRST], [{"replicas": 1}], []], ids=["one", "one without an end", "none"])
def test_who_takes_the_held_step_out_lets_the_rollout_go_on(left: list[dict[str, Any]], strategy: str) -> None:
    """Each pass crashed for it, and nothing was said."""
    run = held_at_two(strategy=strategy)
    run.do("fewer steps", lambda o: o.change_rollout(canary=left))
    run.until(RolloutPhase.COMPLETE)


def test_a_promotion_passes_the_step_that_is_held_and_no_other() -> None:
    """Held at 2 pods; now the steps are 1 and 3: it goes on to 3, and is held there."""
    run = held_at_two(replicas=5)
    run.do("other steps", lambda o: o.change_rollout(canary=[FIRST, {"replicas": 3}]))
    run.until_it_is("held again", lambda _: any("canary of 3" in line for line in run.operator.log))
    run.for_seconds(60)
    assert new_pods(run) == 3
    run.do("promote", Outside.promote)
    run.until(RolloutPhase.COMPLETE)


@pytest.mark.parametrize("fewest", [2, 1])
def test_a_canary_whose_pods_were_scaled_away_is_held_until_it_is_promoted(fewest: int) -> None:
    """As by an autoscaler at night. The version went to all pods, and became the last good one."""
    run = held_at_two(steps=[{"replicas": 2}])
    run.do(f"scale to {fewest}", lambda o: o.scale(fewest))
    run.for_seconds(60)
    assert run.phase is RolloutPhase.PROGRESSING
    run.do("scale to 4", lambda o: o.scale(4))
    run.for_seconds(60)
    assert new_pods(run) <= 2
    assert run.phase is RolloutPhase.PROGRESSING
    run.do("promote", Outside.promote)
    run.until(RolloutPhase.COMPLETE)


def test_a_canary_whose_pods_were_scaled_away_is_tried_again_for_its_whole_time() -> None:
    """Its time went on with nobody in it, and the whole group got a version that no pod was running.

    In a handover they are the lowest ordinals, which scaling leaves."""
    run = held_at_two(replicas=5, steps=[{"replicas": 2, "hold": "120s"}])
    run.for_seconds(100)
    run.do("scale to 3", lambda o: o.scale(3))
    run.until_it_is("without its pods", lambda _: new_pods(run) == 0)
    run.until_it_is("tried by others", lambda _: new_pods(run) == 2)
    run.for_seconds(100)
    assert new_pods(run) == 2
    assert run.phase is RolloutPhase.PROGRESSING
    run.until(RolloutPhase.COMPLETE)


def test_a_canary_whose_pods_were_scaled_away_is_not_over_while_nobody_runs_it() -> None:
    """The one pod that is left would be all of the group."""
    run = held_at_two(steps=[{"replicas": 2, "hold": "60s"}])
    run.do("scale to 1", lambda o: o.scale(1))
    run.for_seconds(200)
    assert new_pods(run) == 0
    assert run.phase is RolloutPhase.PROGRESSING
    run.do("scale to 4", lambda o: o.scale(4))
    run.until_it_is("tried by others", lambda _: new_pods(run) == 2)
    run.until(RolloutPhase.COMPLETE)


@pytest.mark.parametrize("strategy", ["InPlace", "WarmHandover"])
def test_a_held_step_that_is_made_smaller_is_held_on(strategy: str) -> None:
    run = held_at_two(strategy=strategy, steps=[{"replicas": 2}])
    run.do("a smaller step", lambda o: o.change_rollout(canary=[{"replicas": 1}]))
    run.for_seconds(120)
    assert new_pods(run) == 2
    assert run.phase is RolloutPhase.PROGRESSING
    run.do("promote", Outside.promote)
    run.until(RolloutPhase.COMPLETE)
