"""One group's month under any session timeout: cost and needless rebalances, as an estimate and as replicates."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
from scipy.special import betaincinv

from slackwater.pipeline.statistics.arrays import Floats
from slackwater.pipeline.statistics.cost import REBALANCES_AN_EVICTION, Costs, Rates, monthly_cost
from slackwater.pipeline.statistics.curve import REPLICATES, Curve, fitted_curve
from slackwater.pipeline.statistics.fleet import BlendedCurve, Fleet, blended, loan_of
from slackwater.pipeline.statistics.history import DAYS_A_MONTH, Silences
from slackwater.pipeline.statistics.survival import CONFIDENCE, kaplan_meier

LOST_SHARE: Final = 0.01
"""Of restarts: crashes without return that are expected before any was seen. The expectation weighs as much as one."""
TAILS: Final = (0.5 - CONFIDENCE / 2, 0.5 + CONFIDENCE / 2)
"""The quantiles of replicates that make a two-sided 95 % interval."""


@dataclass(frozen=True, eq=False)
class GroupModel:
    """Row 0 of every result is the estimate, the others are replicates. Not slotted: its estimated rates are cached."""

    silences: Silences
    """The group's own."""
    curve: Curve | BlendedCurve
    estimate: Curve | BlendedCurve
    costs: Costs
    rates: Rates
    """Of this group's own restarts; rows by 1."""
    lent: float = 0.0
    """How many of the restarts' weight in the estimate is that of similar groups."""

    def cost(self, timeout_s: Floats) -> Floats:
        """J in partition-seconds a month, rows by `timeout_s`."""
        return self._cost(self.curve, timeout_s, self.rates)

    def estimated_cost(self, timeout_s: Floats) -> Floats:
        """Row 0 of `cost` alone."""
        return np.asarray(self._cost(self.estimate, timeout_s, self._estimated)[0])

    @cached_property
    def _estimated(self) -> Rates:
        dearer = self.rates.dearer
        return Rates(self.rates.restarts[:1], self.rates.lost[:1], dearer if isinstance(dearer, float) else dearer[:1])

    @property
    def restarts(self) -> Floats:
        """λr a month, rows by 1."""
        return self.rates.restarts

    def cost_of_a_restart(self, timeout_s: float) -> float:
        """What one member's restart costs under that timeout, in partition-seconds."""
        once = Rates(np.ones((1, 1)), np.zeros((1, 1)))
        return float(self._cost(self.estimate, np.array([timeout_s]), once)[0, 0])

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

    def _cost(self, curve: Curve | BlendedCurve, timeout_s: Floats, rates: Rates) -> Floats:
        waits_s = curve.mean_wait_s(timeout_s + self.costs.rebalance_s)
        return monthly_cost(self.costs, timeout_s, curve.survival(timeout_s), waits_s, rates)


@dataclass(frozen=True, slots=True)
class Watched:
    """How much of a group was seen."""

    lost: int
    days: float


def group_model(
    silences: Silences,
    watched: Watched,
    costs: Costs,
    rng: np.random.Generator,
    fleet: Fleet | None = None,
    replicates: int = REPLICATES,
) -> GroupModel:
    """`fleet`: the shapes of other groups; None: the group's own silences alone speak."""
    own = fitted_curve(silences, rng, replicates)
    loan = loan_of(silences, fleet, silences.independent / silences.count, replicates, rng)
    curve = own if loan is None else blended(own, loan, rng)
    lent = 0.0 if loan is None else loan.share * silences.count
    rates = _rates(own, watched, costs, rng)
    return GroupModel(silences, curve, curve.estimate(), costs, rates, lent)


def _rates(curve: Curve, watched: Watched, costs: Costs, rng: np.random.Generator) -> Rates:
    months = watched.days / DAYS_A_MONTH
    restarts = curve.total[:, None] / months
    # A Gamma prior of shape 1 whose mean is LOST_SHARE of the restarts: none seen so far does not mean never.
    seen = watched.lost + 1.0
    lost = np.full_like(restarts, seen)
    lost[1:, 0] = rng.standard_gamma(seen, size=len(restarts) - 1)
    lost /= months + 1 / (LOST_SHARE * restarts[0, 0])
    if not costs.eviction_spread:
        return Rates(restarts, lost)
    precision = 1 / costs.eviction_spread**2
    dearer = np.ones_like(restarts)
    dearer[1:, 0] = rng.standard_gamma(precision, size=len(restarts) - 1) / precision
    return Rates(restarts, lost, dearer)
