"""One group's month under any session timeout: cost and needless rebalances, as an estimate and as replicates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from scipy.special import betaincinv

from slackwater.pipeline.statistics.arrays import Floats
from slackwater.pipeline.statistics.cost import REBALANCES_AN_EVICTION, Costs, monthly_cost
from slackwater.pipeline.statistics.curve import REPLICATES, Curve, fitted_curve
from slackwater.pipeline.statistics.history import DAYS_A_MONTH, Silences
from slackwater.pipeline.statistics.survival import CONFIDENCE, kaplan_meier

LOST_SHARE: Final = 0.01
"""Of restarts: crashes without return that are expected before any was seen. The expectation weighs as much as one."""
TAILS: Final = (0.5 - CONFIDENCE / 2, 0.5 + CONFIDENCE / 2)
"""The quantiles of replicates that make a two-sided 95 % interval."""


@dataclass(frozen=True, slots=True, eq=False)
class GroupModel:
    """Row 0 of every result is the estimate, the others are bootstrap replicates."""

    silences: Silences
    """The group's own and what it was lent."""
    curve: Curve
    estimate: Curve
    costs: Costs
    restarts: Floats
    """λr a month, rows by 1; of this group's own restarts."""
    lost: Floats
    """λc a month, rows by 1."""

    def cost(self, timeout_s: Floats) -> Floats:
        """J in partition-seconds a month, rows by `timeout_s`."""
        return self._cost(self.curve, timeout_s, self.restarts, self.lost)

    def estimated_cost(self, timeout_s: Floats) -> Floats:
        """Row 0 of `cost` alone."""
        return np.asarray(self._cost(self.estimate, timeout_s, self.restarts[:1], self.lost[:1])[0])

    def needless(self, timeout_s: Floats) -> Floats:
        """Rebalances a month because of members that come back, rows by `timeout_s`."""
        return np.asarray(REBALANCES_AN_EVICTION * self.restarts * self.curve.survival(timeout_s))

    def needless_upper(self, timeout_s: Floats) -> Floats:
        """Its one-sided 95 % upper bound at each of `timeout_s`."""
        found = self.needless(timeout_s)
        return np.asarray(np.maximum(np.quantile(found[1:], CONFIDENCE, axis=0), found[0]))

    def survival_interval(self, at_s: Floats) -> tuple[Floats, Floats, Floats]:
        """S and its pointwise 95 % interval at each of `at_s`.

        Below the tail's threshold Greenwood's. Above it, where S is modelled, what the count of silences that long
        allows: Jeffreys' (Brown, Cai and DasGupta 2001), as the exact one of so few silences holds in 99.5 % where
        97.5 % are wanted. Beyond the longest silence the lower bound is zero and only the upper one can be wrong: the
        bootstrap's, with the whole of the 5 %.
        """
        rows = self.curve.survival(at_s)
        counted = kaplan_meier(self.silences)
        index = np.searchsorted(counted.at_s, at_s, side="right")
        before = np.maximum(index - 1, 0)
        count = self.silences.count
        longer = np.where(index > 0, count * counted.survival[before], count)
        by_count = [betaincinv(longer + 0.5, count - longer + 0.5, tail) for tail in TAILS]
        by_rows = np.quantile(rows[1:], CONFIDENCE, axis=0)
        modelled = (at_s > self.curve.threshold_s) | (index == 0) | (longer >= count) | (longer <= 0)
        lower = np.where(modelled, np.where(longer > 0, by_count[0], 0.0), counted.lower[before])
        upper = np.where(modelled, np.where(longer > 0, by_count[1], by_rows), counted.upper[before])
        return rows[0], np.minimum(lower, rows[0]), np.maximum(upper, rows[0])

    def _cost(self, curve: Curve, timeout_s: Floats, restarts: Floats, lost: Floats) -> Floats:
        waits_s = curve.mean_wait_s(timeout_s + self.costs.rebalance_s)
        return monthly_cost(self.costs, timeout_s, curve.survival(timeout_s), waits_s, restarts, lost)


@dataclass(frozen=True, slots=True)
class Watched:
    """How much of a group was seen."""

    restarts: float
    """Of this group itself, returned or censored."""
    lost: int
    days: float


def group_model(
    silences: Silences, watched: Watched, costs: Costs, rng: np.random.Generator, replicates: int = REPLICATES
) -> GroupModel:
    """`silences` may hold a loan of similar groups besides the group's own `watched.restarts`."""
    curve = fitted_curve(silences, rng, replicates)
    months = watched.days / DAYS_A_MONTH
    restarts = curve.total[:, None] * (watched.restarts / silences.count) / months
    # A Gamma prior of shape 1 whose mean is LOST_SHARE of the restarts: none seen so far does not mean never.
    seen = watched.lost + 1.0
    lost = np.full_like(restarts, seen)
    lost[1:, 0] = rng.standard_gamma(seen, size=len(restarts) - 1)
    lost /= months + 1 / (LOST_SHARE * restarts[0, 0])
    return GroupModel(silences, curve, curve.estimate(), costs, restarts, lost)
