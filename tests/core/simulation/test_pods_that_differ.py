"""Which pod reads what may differ by design (decision 15): a version like the one before fails for none of that."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import pytest

from slackwater.core.world.memory import RolloutPhase
from tests.core.simulation.edits import image
from tests.core.simulation.life import Life, LifesRun
from tests.core.simulation.stateful_set import SimulatedPod

ORDERS, REFUNDS, BOTH = ("orders",), ("refunds",), ("orders", "refunds")
BY_DESIGN: Final[Mapping[str, Mapping[int, tuple[str, ...]]]] = {
    "the lowest reads another": {0: REFUNDS, 1: ORDERS, 2: ORDERS},
    "the lowest reads one more": {0: BOTH, 1: ORDERS, 2: ORDERS},
    "the highest reads another": {0: ORDERS, 1: ORDERS, 2: REFUNDS},
}


@pytest.mark.parametrize(
    "options", [{}, {"kip848": True}, {"strategy": "WarmHandover"}], ids=["in place", "KIP-848", "warm"]
)
@pytest.mark.parametrize("design", BY_DESIGN)
def test_a_version_like_the_one_before_is_rolled_out_where_pods_differ_by_design(
    design: str, options: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    start = SimulatedPod._start

    def starts(pod: SimulatedPod, now: float) -> None:
        start(pod, now)
        for process in pod.processes:
            process.topics = BY_DESIGN[design][pod.ordinal]

    monkeypatch.setattr(SimulatedPod, "_start", starts)
    run = LifesRun(Life(replicas=3, shows_subscriptions=True, onFailure="Rollback", **options))
    assert run.outside.edit((*image("v1"), ("topics", list(BOTH))))
    run.until(RolloutPhase.COMPLETE)
    run.for_seconds(20)
    assert run.outside.edit(image("v2"))
    run.for_seconds(120)
    assert [run.outside.image(pod) for pod in run.outside.pods] == ["v2"] * 3, run.outside.memory.message
