"""What limits the session timeout besides its cost: each limit alone, and which of them counts."""

from __future__ import annotations

from typing import Any

import numpy as np

from slackwater.api.timeouts import Objective
from slackwater.core.world.broker import Bounds
from slackwater.pipeline.statistics.arrays import Floats
from slackwater.pipeline.statistics.constraint import Allowed, allowed_timeouts
from tests.pipeline.statistics.groups import CLASSIC

REBALANCE_S = 3.0


def needless(timeout_s: Floats) -> Floats:
    """One a month at a timeout of a minute."""
    return np.asarray(60.0 / timeout_s)


def allowed(objective: Objective | None = None, bounds: Bounds = CLASSIC, **limits: Any) -> Allowed:
    return allowed_timeouts(bounds, objective or Objective(), REBALANCE_S, limits.get("heartbeat_ms"), needless)


def ends(found: Allowed) -> tuple[float, float]:
    return found.low.timeout_s, found.high.timeout_s


def test_without_objectives_the_brokers_bounds_are_all_there_is() -> None:
    assert ends(allowed()) == (6.0, 1_800.0)


def test_three_of_the_smallest_heartbeats_have_room() -> None:
    assert ends(allowed(heartbeat_ms=5_000)) == (15.0, 1_800.0)


def test_recovery_has_the_time_that_the_rebalance_leaves() -> None:
    assert ends(allowed(Objective(recover_within_ms=60_000))) == (6.0, 57.0)


def test_the_shortest_timeout_that_keeps_needless_rebalances_down_is_the_lower_end() -> None:
    """To the next point of a grid of 5 %."""
    low_s, _ = ends(allowed(Objective(needless_rebalances_per_month=1.0)))
    assert 60.0 <= low_s <= 63.0


def test_what_no_timeout_reaches_is_said_to_be_out_of_reach() -> None:
    found = allowed(Objective(needless_rebalances_per_month=0.01))
    assert found.is_empty
    assert "wants more than the brokers allow, the brokers' highest" in found.conflict()


def test_the_tightest_counts_and_is_named() -> None:
    both = allowed(Objective(recover_within_ms=60_000), heartbeat_ms=10_000)
    assert ends(both) == (30.0, 57.0)
    assert both.low.reason == "room for three heartbeats"
    assert both.high.reason == "objective.recoverWithin"
    assert [both.contains(each) for each in (29.9, 30.0, 57.0, 57.1)] == [False, True, True, False]


def test_one_timeout_is_enough() -> None:
    assert not allowed(bounds=Bounds(20_000, 20_000)).is_empty
    assert allowed(Objective(recover_within_ms=20_000), bounds=Bounds(20_000, 20_000)).is_empty
