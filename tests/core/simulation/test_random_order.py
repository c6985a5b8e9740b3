"""Rollouts in which anything happens at any moment, in any order: the invariants hold, and every rollout ends."""

from __future__ import annotations

from random import Random

import pytest

from slackwater.core.world.memory import RolloutPhase
from tests.core.simulation import chance
from tests.core.simulation.operator import ChanceCrashes
from tests.core.simulation.outside import Outside
from tests.core.simulation.runs import Run
from tests.core.simulation.versions import VERSIONS

pytestmark = pytest.mark.slow

SEEDS = (
    *range(40),
    8143,  # once took a recovered pod down beside one that was down, by a partition lowered for it before
)


@pytest.mark.parametrize("seed", chance.seeds(SEEDS))
def test_rollout_ends_or_says_why_it_does_not(seed: int) -> None:
    run = chance.draw_run(seed)
    chance.trouble(run, seed)
    chance.end(run)


@pytest.mark.parametrize("seed", range(6))
def test_static_members_that_return_in_time_cost_no_rebalance(seed: int) -> None:
    random = Random(seed)
    run = Run(Outside(replicas=3), random, crashes=ChanceCrashes(random=random, probability=0.2))
    run.until(RolloutPhase.COMPLETE)
    before = run.outside.broker.rebalances
    run.outside.apply("v2")
    run.until(RolloutPhase.PROGRESSING)
    run.until(RolloutPhase.COMPLETE)
    assert (run.outside.broker.rebalances - before, run.invariants.restarts) == (0, 3)


@pytest.mark.parametrize("version", [name for name, version in VERSIONS.items() if not version.works])
@pytest.mark.parametrize("replicas", [1, 3])
@pytest.mark.parametrize("on_failure", ["Pause", "Rollback"])
def test_a_version_that_does_not_work_stops_at_its_first_pod(version: str, replicas: int, on_failure: str) -> None:
    run = Run(Outside(replicas=replicas, onFailure=on_failure))
    run.until(RolloutPhase.COMPLETE)
    run.outside.apply(version)
    run.until(RolloutPhase.ROLLED_BACK if on_failure == "Rollback" else RolloutPhase.FAILED)
    assert run.invariants.restarts == 1
    works = [run.outside.serves(pod) for _, pod in sorted(run.outside.set.pods.items())]
    assert works == [True] * replicas if on_failure == "Rollback" else [True] * (replicas - 1) + [False]


@pytest.mark.parametrize("static", [True, False])
def test_nothing_is_written_at_rest(static: bool) -> None:
    """Records come and are consumed all the time; that alone is worth no write."""
    run = Run(Outside(static=static))
    run.until(RolloutPhase.COMPLETE)
    run.outside.apply("v2")
    run.step()
    run.until(RolloutPhase.COMPLETE)
    run.for_seconds(10)
    before = run.operator.writes, run.operator.acts
    run.for_seconds(120)
    assert before == (run.operator.writes, run.operator.acts)


def test_a_group_scaled_to_nothing_takes_a_new_version_when_it_comes_back() -> None:
    run = Run(Outside())
    run.until(RolloutPhase.COMPLETE)
    run.outside.scale(0)
    run.for_seconds(20)
    run.outside.apply("v2")
    run.step()
    run.until(RolloutPhase.COMPLETE)
    run.outside.scale(2)
    run.for_seconds(20)
    assert [run.outside.image(pod) for pod in run.outside.set.pods.values()] == ["v2", "v2"]
