"""A version that ends and ends is in the group most of the time, and its gates hold meanwhile."""

from __future__ import annotations

import pytest

from slackwater.core.world.memory import RolloutPhase
from tests.core.simulation.outside import Outside
from tests.core.simulation.runs import Run

pytestmark = pytest.mark.slow


def begun(version: str, *, kip848: bool = False) -> Run:
    run = Run(Outside(kip848=kip848, onFailure="Rollback"))
    run.until(RolloutPhase.COMPLETE)
    run.for_seconds(20)
    run.do(f"version {version} is applied", lambda o: o.apply(version))
    return run


@pytest.mark.parametrize("kip848", [False, True], ids=["classic", "KIP-848"])
def test_it_is_taken_back(kip848: bool) -> None:
    """Every 15 s it ends; calm for 3 s is soon reached again."""
    run = begun("ends-and-ends", kip848=kip848)
    run.for_seconds(600)
    assert run.phase is RolloutPhase.ROLLED_BACK
    assert {run.outside.image(pod) for pod in run.outside.pods} == {"v1"}


def test_one_end_holds_it_for_a_while() -> None:
    """A good version's pod is killed once by its node: the rollout goes on."""
    run = begun("v2")
    run.for_seconds(14)
    run.outside.crash(2)
    run.until(RolloutPhase.COMPLETE)
    assert {run.outside.image(pod) for pod in run.outside.pods} == {"v2"}
    assert any("PodCrashed" in line for line in run.operator.log)
