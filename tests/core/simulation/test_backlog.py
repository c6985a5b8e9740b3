"""A backlog that no new records join, as of a nightly batch: who consumes nothing of it is found out all the same."""

from __future__ import annotations

import pytest

from slackwater.core.world.memory import RolloutPhase
from tests.core.simulation.outside import Outside
from tests.core.simulation.runs import Run


@pytest.mark.parametrize("kip848", [False, True])
@pytest.mark.parametrize(
    ("version", "comes_to"), [("never-consumes", RolloutPhase.ROLLED_BACK), ("v2", RolloutPhase.COMPLETE)]
)
def test_a_version_is_held_against_how_the_one_before_got_on(
    version: str, comes_to: RolloutPhase, kip848: bool
) -> None:
    run = Run(Outside(onFailure="Rollback", kip848=kip848))
    run.until(RolloutPhase.COMPLETE)
    broker = run.outside.broker
    broker.fill(1_000_000)
    broker.producing, broker.batch = False, 60
    run.for_seconds(20)
    run.do(f"version {version} is applied", lambda o: o.apply(version))
    run.until(comes_to, within_s=200)
    restarted = {pod.ordinal for pod in run.outside.pods if run.outside.image(pod) == version}
    assert restarted == (set() if version == "never-consumes" else {0, 1, 2})
    left = broker.unread()
    run.for_seconds(10)
    assert broker.unread() < left


@pytest.mark.parametrize("kip848", [False, True])
def test_nor_does_a_second_try_long_after_get_further_than_the_first(kip848: bool) -> None:
    """Nobody has committed for longer than twice `rejoinTimeout` by then; played by a reader on the cluster."""
    run = Run(Outside(kip848=kip848))
    run.until(RolloutPhase.COMPLETE)
    broker = run.outside.broker
    broker.fill(1_000_000)
    broker.producing, broker.batch = False, 60
    run.for_seconds(20)
    run.do("a version that consumes nothing is applied", lambda o: o.apply("never-consumes"))
    run.until(RolloutPhase.FAILED, within_s=200)
    run.for_seconds(100)
    run.do("retry", Outside.retry)
    run.for_seconds(5)
    run.until(RolloutPhase.FAILED, within_s=200)
    assert [pod.ordinal for pod in run.outside.pods if run.outside.image(pod) == "never-consumes"] == [2]
