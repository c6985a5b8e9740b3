"""What besides the cost limits the session timeout, each limit with who set it and what would relax it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np

from slackwater.api.timeouts import Objective
from slackwater.core.world.broker import Bounds
from slackwater.pipeline.statistics.arrays import Floats

HEARTBEATS_A_SESSION: Final = 3
_SEARCH_POINTS: Final = 120


@dataclass(frozen=True, slots=True)
class Limit:
    """One end of what is allowed."""

    timeout_s: float
    reason: str
    """Completes "… holds it at 12 s"."""
    remedy: str
    """What would relax it; empty for what only the brokers' owners can change."""


@dataclass(frozen=True, slots=True)
class Allowed:
    """The session timeouts that meet every constraint; none do where `low` is above `high`."""

    low: Limit
    high: Limit

    @property
    def is_empty(self) -> bool:
        return self.low.timeout_s > self.high.timeout_s

    def contains(self, timeout_s: float) -> bool:
        return self.low.timeout_s <= timeout_s <= self.high.timeout_s

    def conflict(self) -> str:
        """Why it is empty."""
        remedies = " or ".join(each.remedy for each in (self.low, self.high) if each.remedy)
        return (
            f"{self.low.reason} wants {_at_least(self.low)}, {self.high.reason} {self.high.timeout_s:.3g} s or less: "
            f"{remedies}"
        )


def allowed_timeouts(
    bounds: Bounds,
    objective: Objective,
    rebalance_s: float,
    least_heartbeat_ms: int | None,
    needless_upper: Callable[[Floats], Floats],
) -> Allowed:
    """The tightest limits. `needless_upper` is the upper bound of needless rebalances a month at each timeout in
    seconds, and falls with it."""
    lows = [Limit(bounds.min_ms / 1000, "the brokers' lowest session timeout", "lower the brokers' minimum")]
    highs = [Limit(bounds.max_ms / 1000, "the brokers' highest session timeout", "raise the brokers' maximum")]
    if least_heartbeat_ms is not None:
        room_s = HEARTBEATS_A_SESSION * least_heartbeat_ms / 1000
        lows.append(Limit(room_s, "room for three heartbeats", "lower the brokers' smallest heartbeat interval"))
    if objective.needless_rebalances_per_month is not None:
        lows.append(_needless_limit(bounds, objective.needless_rebalances_per_month, needless_upper))
    if objective.recover_within_ms is not None:
        recovery_s = objective.recover_within_ms / 1000 - rebalance_s
        highs.append(Limit(recovery_s, "objective.recoverWithin", "raise objective.recoverWithin"))
    return Allowed(max(lows, key=lambda each: each.timeout_s), min(highs, key=lambda each: each.timeout_s))


def _needless_limit(bounds: Bounds, accepted: float, needless_upper: Callable[[Floats], Floats]) -> Limit:
    """Where the upper bound comes down to what is accepted; endless where no allowed timeout reaches that far."""
    points_s = np.geomspace(bounds.min_ms / 1000, bounds.max_ms / 1000, _SEARCH_POINTS)
    meets = np.flatnonzero(needless_upper(points_s) <= accepted)
    timeout_s = float(points_s[meets[0]]) if len(meets) else float("inf")
    return Limit(
        timeout_s,
        f"objective.needlessRebalancesPerMonth {accepted:g}",
        "raise objective.needlessRebalancesPerMonth",
    )


def _at_least(limit: Limit) -> str:
    return f"{limit.timeout_s:.3g} s or more" if np.isfinite(limit.timeout_s) else "more than the brokers allow"
