"""Which restarts came together."""

from __future__ import annotations

from datetime import UTC, datetime

import numpy as np
import pytest

from slackwater.pipeline.recommend.advising import batches_of

LAST: datetime = datetime(1970, 4, 11, 12, tzinfo=UTC)
"""Day 100."""
NONE = float("nan")


@pytest.mark.parametrize(
    ("day", "rollout", "batch"),
    [
        ([], [], []),
        ([90, 95, 100], [NONE, NONE, NONE], [-10, -5, 0]),
        ([91, 90, 92], [7, 7, 7], [-10, -10, -10]),
        ([90, 91], [7, 8], [-10, -9]),
        ([90, 91], [7, NONE], [-10, -9]),
        ([60, 90, 91], [7, 7, 7], [-40, -10, -10]),
    ],
    ids=["nothing", "by their day", "one rollout", "two rollouts", "a crash meanwhile", "rolled out again"],
)
def test_restarts_of_one_rollout_came_together(day: list[float], rollout: list[float], batch: list[float]) -> None:
    found = batches_of(np.array(day, dtype=np.float64), np.array(rollout, dtype=np.float64), LAST)
    assert found.tolist() == batch
