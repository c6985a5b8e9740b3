"""The API server's clock is behind the operator's by seconds; nodes' clocks are as they should be."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from slackwater.core.world.memory import RolloutPhase
from slackwater.core.world.pods import Pod
from tests.core.simulation.outside import Outside
from tests.core.simulation.runs import Run
from tests.core.simulation.stateful_set import SimulatedPod
from tests.core.simulation.test_other_topics import BOTH, IN_PLACE, WARM, asks_for, at_rest, read


@pytest.mark.parametrize("options", [IN_PLACE, WARM], ids=["in place", "warm"])
@pytest.mark.parametrize("behind_s", [1, 2, 3])
def test_a_version_of_other_topics_is_rolled_out_though_the_api_servers_clock_is_behind(
    behind_s: int, options: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = SimulatedPod.seen

    def seen_later(pod: SimulatedPod) -> Pod:
        return replace(seen(pod), created_at=float(int(pod.created_at - behind_s)))

    monkeypatch.setattr(SimulatedPod, "seen", seen_later)
    run = at_rest("orders-only", options)
    assert run.outside.edit(asks_for("orders-and-refunds", BOTH))
    run.for_seconds(2)
    run.until(RolloutPhase.COMPLETE, RolloutPhase.ROLLED_BACK, within_s=150)
    run.for_seconds(30)
    assert run.phase is RolloutPhase.COMPLETE, run.outside.memory.message
    assert read(run) == BOTH


@pytest.mark.parametrize("behind_s", [2, 3, 5])
def test_one_retry_restarts_a_pod_once_though_the_api_servers_clock_is_behind(
    behind_s: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = SimulatedPod.seen

    def seen_later(pod: SimulatedPod) -> Pod:
        return replace(seen(pod), created_at=float(int(pod.created_at - behind_s)))

    monkeypatch.setattr(SimulatedPod, "seen", seen_later)
    run = Run(Outside())
    run.until(RolloutPhase.COMPLETE)
    run.for_seconds(30)
    run.do("one that never joins", lambda there: there.apply("never-joins"))
    run.until(RolloutPhase.FAILED)
    restarted = len(deletions(run))
    run.do("retry", Outside.retry)
    run.for_seconds(50)
    assert len(deletions(run)) == restarted + 1


def deletions(run: Run) -> list[str]:
    return [line for line in run.operator.log if "  delete " in line]
