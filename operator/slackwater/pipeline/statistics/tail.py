"""The longest silences, of which there are too few to count, and which decide about the timeout.

Beyond the longest silence seen, counting says that nothing is ever evicted, and a minimiser believes it (F47). So above
a threshold the survival is a mixture of some hundred fixed tails, log-normal ones at every place from the threshold to
a little beyond the longest silence and generalised Pareto ones of every scale, all cut at the threshold. Their weights
maximise the likelihood under a prior that is worth `PRIOR_RESTARTS`, by expectation-maximisation, stopped early: what
few silences say is not followed to the end. One generalised Pareto tail alone cannot follow a second hump (a pod starts
again in seconds, a node in minutes): where one restart in ten took that long, its choice cost a fifth more than the
best at 30 restarts and no less at 300; the mixture's 3 % and 1 %.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from scipy.special import ndtr

from slackwater.pipeline.statistics.arrays import Floats

PRIOR_RESTARTS: Final = 1.0
"""Weight of the prior over all tails together, in restarts."""
_PLACES_RATIO: Final = 1.25
_LOG_WIDTHS: Final = np.array([0.3, 0.6, 1.1])
_SHAPES: Final = np.array([0.0, 0.3, 0.6])
_SCALES_RATIO: Final = 1.6
_REACH: Final = 1.3
"""The last log-normal's place, over the longest silence seen."""
BIN_LOG_WIDTH: Final = 0.08
"""Silences above the threshold are told apart to 8 % in the fit; the narrowest tail is four times as wide."""
_TINY: Final = 1e-300
_ROUNDS: Final = 25


@dataclass(frozen=True, slots=True, eq=False)
class TailFamily:
    """The fixed tails above `threshold_s`: first the log-normal ones, then the generalised Pareto ones."""

    threshold_s: float
    log_places: Floats
    log_widths: Floats
    shapes: Floats
    scales_s: Floats

    @property
    def size(self) -> int:
        return len(self.log_places) + len(self.shapes)

    def survival(self, at_s: Floats) -> Floats:
        """P(D > at | D > threshold), one row for each of `at_s` (none below the threshold), one column a tail."""
        return np.concatenate((self._log_normal(at_s), self._pareto(at_s)), axis=1)

    def area(self, until_s: Floats) -> Floats:
        """The integral of `survival` from the threshold to each of `until_s`, in seconds; same shape."""
        log_normal = self._log_normal(until_s)
        start = (np.log(self.threshold_s) - self.log_places) / self.log_widths
        end = (np.log(until_s)[:, None] - self.log_places) / self.log_widths
        inside, outside = (ndtr(self.log_widths - each) / ndtr(-start) for each in (start, end))
        mean_s = np.exp(self.log_places + self.log_widths**2 / 2)
        partial = until_s[:, None] * log_normal - self.threshold_s + mean_s * (inside - outside)
        above_s = (until_s - self.threshold_s)[:, None]
        shrunk = np.log1p(self.shapes * above_s / self.scales_s)
        with np.errstate(divide="ignore", invalid="ignore"):
            grown = -np.expm1(shrunk * (1 - 1 / self.shapes)) * self.scales_s / (1 - self.shapes)
        exponential = -np.expm1(-above_s / self.scales_s) * self.scales_s
        return np.concatenate((partial, np.where(self.shapes == 0, exponential, grown)), axis=1)

    def _log_normal(self, at_s: Floats) -> Floats:
        """No place is below the threshold, so at least half of each tail lies above it: it can be divided by."""
        start = (np.log(self.threshold_s) - self.log_places) / self.log_widths
        end = (np.log(at_s)[:, None] - self.log_places) / self.log_widths
        return np.asarray(ndtr(-end) / ndtr(-start))

    def _pareto(self, at_s: Floats) -> Floats:
        above = (at_s - self.threshold_s)[:, None] / self.scales_s
        with np.errstate(divide="ignore", invalid="ignore"):
            log_survival = np.where(self.shapes == 0, -above, -np.log1p(self.shapes * above) / self.shapes)
        return np.asarray(np.exp(log_survival))


def tail_family(threshold_s: float, longest_s: float) -> TailFamily:
    """The tails for silences between the two."""
    top_s = longest_s * _REACH
    places = np.arange(np.log(threshold_s), np.log(top_s) + np.log(_PLACES_RATIO), np.log(_PLACES_RATIO))
    widest_s = max(top_s - threshold_s, 0.2 * threshold_s)
    scales = np.exp(np.arange(np.log(0.05 * threshold_s), np.log(widest_s), np.log(_SCALES_RATIO)))
    log_places, log_widths = (grid.ravel() for grid in np.meshgrid(places, _LOG_WIDTHS, indexing="ij"))
    shapes, scales_s = (grid.ravel() for grid in np.meshgrid(_SHAPES, scales, indexing="ij"))
    return TailFamily(threshold_s, log_places, log_widths, shapes, scales_s)


def fitted_weights(likelihood: Floats, restarts: Floats, prior: Floats) -> Floats:
    """The tails' weights, replicates by tails, each row summing to 1.

    `likelihood` (observations by tails) is what each tail gives to each observation, `restarts` (replicates by
    observations) how many members had it, `prior` (replicates by tails) the pseudo-restarts of each tail.
    """
    weights = np.full(prior.shape, 1.0 / prior.shape[1])
    expected, share = np.empty_like(restarts), np.empty_like(weights)
    for _ in range(_ROUNDS):  # in place: as many fresh arrays would take as long as the sums
        np.matmul(weights, likelihood.T, out=expected)
        np.divide(restarts, expected, out=expected)
        weights *= np.matmul(expected, likelihood, out=share)
        weights += prior
        weights /= weights.sum(axis=1, keepdims=True)
    return weights


def interval_likelihood(family: TailFamily, from_s: Floats, to_s: Floats) -> Floats:
    """What each tail gives to "ended between the two", intervals by tails; an endless `to_s` means censored."""
    ends = family.survival(np.where(np.isinf(to_s), from_s, to_s))
    ends = np.where(np.isinf(to_s)[:, None], 0.0, ends)
    return np.maximum(family.survival(from_s) - ends, _TINY)
