"""One survival curve of a group's silences, counted up to a threshold and modelled above it, with bootstrap replicates.

Row 0 of every matrix is the estimate; the others are replicates of a Bayesian bootstrap (Rubin 1981): each member's
silence gets a random weight of mean 1, so that all rows are computed at once, and no replicate lacks a silence.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np

from slackwater.pipeline.statistics.arrays import Floats
from slackwater.pipeline.statistics.history import Silences
from slackwater.pipeline.statistics.survival import survival_of
from slackwater.pipeline.statistics.tail import (
    BIN_LOG_WIDTH,
    PRIOR_RESTARTS,
    TailFamily,
    fitted_weights,
    interval_likelihood,
    tail_family,
)

REPLICATES: Final = 200
TAIL_RESTARTS: Final = 200.0
"""As many of the longest silences belong to the tail, but never more than half of all."""
_EXTRA_SPREAD_RESTARTS: Final = 6.0
"""A bootstrap of few restarts is too sure of itself: its variance is raised by the factor 1 + 6/n."""
_EXTRA_SPREAD_BATCHES: Final = 30.0
"""Where restarts come in batches, that much over their number is added to the 6: of three rollouts nobody knows how
much rollouts differ."""
_EXTRA_PRIOR: Final = 2.0
"""Replicates see the tail's prior with twice its weight, at random: what was never seen is the least certain."""
_SHORTEST_THRESHOLD_S: Final = 0.05


@dataclass(frozen=True)
class Curve:
    """S and the area below it. Not slotted: the tail's products are cached."""

    at_s: Floats
    """Distinct silences, ascending."""
    total: Floats
    """Weight of all silences together, one for each row."""
    body: Floats
    """S just after each of `at_s`, rows by silences."""
    family: TailFamily
    tail_share: Floats
    """S at the threshold, one for each row."""
    tail_weights: Floats
    """Rows by tails."""

    @property
    def threshold_s(self) -> float:
        return self.family.threshold_s

    @property
    def smooth_from_s(self) -> float:
        """Below it S is a staircase with its steps at `at_s`."""
        return self.threshold_s

    @cached_property
    def _area(self) -> Floats:
        """E[min(D, x)] at 0 and at each silence, rows by (silences + 1)."""
        steps = np.diff(self.at_s, prepend=0.0)
        before = np.concatenate((np.ones((len(self.body), 1)), self.body[:, :-1]), axis=1)
        area = np.cumsum(before * steps, axis=1)
        return np.concatenate((np.zeros((len(area), 1)), area), axis=1)

    def estimate(self) -> Curve:
        """Row 0 alone."""
        first = slice(0, 1)
        return Curve(
            self.at_s,
            self.total[first],
            self.body[first],
            self.family,
            self.tail_share[first],
            self.tail_weights[first],
        )

    def survival(self, at_s: Floats) -> Floats:
        """P(D > at), rows by `at_s`."""
        found = self._padded(np.searchsorted(self.at_s, at_s, side="right"))
        above = at_s > self.threshold_s
        if above.any():
            found[:, above] = self.tail_share[:, None] * (self.tail_weights @ self.family.survival(at_s[above]).T)
        return found

    def mean_wait_s(self, until_s: Floats) -> Floats:
        """E[min(D, until)] in seconds, rows by `until_s`."""
        found = self._area_until(np.minimum(until_s, self.threshold_s))
        above = until_s > self.threshold_s
        if above.any():
            tail_s = self.tail_weights @ self.family.area(until_s[above]).T
            found[:, above] += self.tail_share[:, None] * tail_s
        return found

    def _padded(self, index: np.typing.NDArray[np.int64]) -> Floats:
        """S after the first `index` silences."""
        return np.where(index > 0, self.body[:, np.maximum(index - 1, 0)], 1.0)

    def _area_until(self, until_s: Floats) -> Floats:
        index = np.searchsorted(self.at_s, until_s, side="right")
        begun_s = np.where(index > 0, self.at_s[np.maximum(index - 1, 0)], 0.0)
        return np.asarray(self._area[:, index] + self._padded(index) * (until_s - begun_s))


def fitted_curve(
    silences: Silences,
    rng: np.random.Generator,
    replicates: int = REPLICATES,
    prior_restarts: float = PRIOR_RESTARTS,
) -> Curve:
    """Fit the curve to at least one silence that ended. Deterministic for a generator in a given state.

    `prior_restarts`: the weight of all tails together before any silence was seen.
    """
    returned, censored = _reweighted(silences, rng, replicates)
    body = survival_of(returned, censored)
    threshold_s = threshold_of(silences, body[0])
    index = int(np.searchsorted(silences.at_s, threshold_s, side="right"))
    tail_share = body[:, index - 1] if index else np.ones(len(body))
    family = tail_family(threshold_s, max(float(silences.at_s[-1]), threshold_s))
    priors = _priors(family, prior_restarts, len(body), rng)
    weights = _tail_weights(family, silences.at_s[index:], returned[:, index:], censored[:, index:], priors)
    return Curve(silences.at_s, (returned + censored).sum(axis=1), body, family, tail_share, weights)


def _reweighted(silences: Silences, rng: np.random.Generator, replicates: int) -> tuple[Floats, Floats]:
    """Returned and censored ones, then `replicates` rows of random weights of the same mean.

    Restarts of one batch share one weight (a Bayesian bootstrap of clusters; Field and Welsh 2007).
    """
    independent = silences.independent
    extra = _EXTRA_SPREAD_RESTARTS + (_EXTRA_SPREAD_BATCHES / independent if silences.batches is not None else 0.0)
    steadiness = independent / (independent + extra)
    if silences.batches is None:
        counts = (silences.returned, silences.censored)
        returned, censored = (_each_alone(each, steadiness, rng, replicates) for each in counts)
        return returned, censored
    batches, points = silences.batches, len(silences.at_s)
    weights = rng.standard_gamma(steadiness, size=(replicates, len(batches.sizes))) / steadiness
    weights = np.concatenate((np.ones((1, weights.shape[1])), weights))
    tables = (batches.table(each, points) for each in (batches.returned, batches.censored))
    returned, censored = (weights @ each for each in tables)
    return returned, censored


def _each_alone(counts: Floats, steadiness: float, rng: np.random.Generator, replicates: int) -> Floats:
    rows = np.zeros((replicates + 1, len(counts)))
    rows[0] = counts
    some = counts > 0
    rows[1:, some] = rng.standard_gamma(counts[some] * steadiness, size=(replicates, int(some.sum()))) / steadiness
    return rows


def threshold_of(silences: Silences, survival: Floats) -> float:
    """In seconds: the longest silence that leaves enough members silent, or just below the shortest where none does."""
    at_s = silences.at_s
    enough = int((survival >= min(0.5, TAIL_RESTARTS / silences.count)).sum())
    return max(float(at_s[enough - 1]) if enough else 0.9 * float(at_s[0]), _SHORTEST_THRESHOLD_S)


def _priors(family: TailFamily, restarts: float, rows: int, rng: np.random.Generator) -> Floats:
    prior = np.full(family.size, restarts / family.size)
    return np.concatenate((prior[None], rng.standard_gamma(prior * _EXTRA_PRIOR, size=(rows - 1, family.size))))


def _tail_weights(family: TailFamily, at_s: Floats, returned: Floats, censored: Floats, priors: Floats) -> Floats:
    if not len(at_s):
        return np.asarray(priors / priors.sum(axis=1, keepdims=True))
    bins = np.floor(np.log(at_s / family.threshold_s) / BIN_LOG_WIDTH)
    first = np.flatnonzero(np.diff(bins, prepend=-1.0))
    from_s = family.threshold_s * np.exp(bins[first] * BIN_LOG_WIDTH)
    to_s = from_s * np.exp(BIN_LOG_WIDTH)
    restarts = [np.add.reduceat(weights, first, axis=1) for weights in (returned, censored)]
    ended = interval_likelihood(family, from_s, to_s)
    silent = interval_likelihood(family, from_s, np.full_like(to_s, np.inf))
    seen = [(weights, each) for weights, each in zip(restarts, (ended, silent), strict=True) if weights[0].any()]
    likelihood = np.concatenate([each[weights[0] > 0] for weights, each in seen])
    counts = np.concatenate([weights[:, weights[0] > 0] for weights, _ in seen], axis=1)
    return fitted_weights(likelihood, counts, priors)
