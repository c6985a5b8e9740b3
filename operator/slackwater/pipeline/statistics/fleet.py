"""What the fleet knows of the shapes that silences can have: an empirical Bayes prior for groups that restart seldom.

Groups differ in how quickly their pods start, and in the shape of their silences: one kind of restart or two, a light
tail or a heavy one. Every group with enough restarts gives its own fitted curve, relative to its median, as one shape
that silences can have. A group that restarts seldom weighs all of them, each at every pace, by how well they foretell
its own silences (a discrete mixing distribution: Kiefer and Wolfowitz 1956; Koenker and Mizera 2014). Its own curve is
one candidate more: what cross-validation finds better foretold by that curve than by the fleet falls back to it, so
that a group unlike all others loses nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np

from slackwater.pipeline.statistics.arrays import Floats
from slackwater.pipeline.statistics.curve import Curve, fitted_curve
from slackwater.pipeline.statistics.history import Silences

FROM_S: Final = 0.1
TO_S: Final = 7_200.0
LOG_STEP: Final = 0.05
BINS: Final = int(np.ceil(np.log(TO_S / FROM_S) / LOG_STEP))
"""Of the grid of silences that a group's own are counted on."""
EDGES_S: Final = FROM_S * np.exp(np.arange(BINS + 1) * LOG_STEP)
BELOW: Final = 60
ABOVE: Final = 130
"""Steps of a shape below and above the median: from a twentieth to six hundred times of it."""
POINTS: Final = BELOW + ABOVE + 1
FEWEST_TO_GIVE: Final = 20
"""Restarts that returned below which a group's shape is mostly guessed."""
FEWEST_SHAPES: Final = 5
"""Groups that a fleet must have for its shapes to be believed."""
MOST_SHAPES: Final = 200
FEWEST_OWN: Final = 5
"""Restarts that returned below which even the pace is a guess: nothing is taken from the fleet."""
MOST_OWN: Final = 1_000.0
"""Restarts above which a group knows itself better than any fleet does."""
PACES: Final = 24
"""Steps on either side of the group's own median that its pace is looked for in: a factor of 3.3."""
FOLDS: Final = 5
_WIDTH: Final = 0.25
"""Of the neighbourhood, in logarithms of seconds, were there one restart."""
_PRIOR_OF_A_SHAPE: Final = 0.1
"""A tenth of what a group alone is given: what is beyond a group's longest silence, the other groups' shapes say."""
_BELIEVED_FIRST: Final = 1.5
"""The log of the odds that a group is like some of the others, before its own silences are asked."""
_SHARPNESS: Final = 2.0
"""Times what cross-validation says: where the fleet foretells better, even a small share of the own guessed tail would
decide about dear evictions."""
_UNLIKE: Final = 1.0
"""Of a shape's restarts: what is spread evenly over the grid, so that no silence is impossible under any shape."""


@dataclass(frozen=True, slots=True, eq=False)
class Fleet:
    """Shapes of other groups: S at `POINTS` places around the median, one row for each, and how many restarts each
    was learnt from."""

    survival: Floats
    restarts: Floats

    @property
    def size(self) -> int:
        return len(self.survival)


@dataclass(frozen=True, slots=True, eq=False)
class Shape:
    """One group's, as it is given to the fleet."""

    survival: Floats
    restarts: float


def shape_of(silences: Silences) -> Shape | None:
    """None where too few restarts returned."""
    if silences.returned.sum() < FEWEST_TO_GIVE:
        return None
    curve = fitted_curve(silences, np.random.default_rng(0), replicates=0, prior_restarts=_PRIOR_OF_A_SHAPE)
    median_s = EDGES_S[_median(curve.survival(EDGES_S)[0])]
    at_s = median_s * np.exp((np.arange(POINTS) - BELOW) * LOG_STEP)
    return Shape(curve.survival(at_s)[0], silences.count)


def fleet_of(shapes: Iterable[Shape]) -> Fleet:
    found = list(shapes)
    survival = np.array([each.survival for each in found]).reshape(len(found), POINTS)
    return Fleet(survival, np.array([each.restarts for each in found]))


@dataclass(frozen=True)
class GridCurve:
    """S on the grid, rows by `EDGES_S`; straight between its points. Not slotted: its area is cached."""

    rows: Floats

    def survival(self, at_s: Floats) -> Floats:
        """P(D > at), rows by `at_s`."""
        index, part = _place(at_s)
        return np.asarray(self.rows[:, index] * (1 - part) + self.rows[:, index + 1] * part)

    def mean_wait_s(self, until_s: Floats) -> Floats:
        """E[min(D, until)] in seconds, rows by `until_s`."""
        index, part = _place(until_s)
        begun_s = EDGES_S[index] + part * (EDGES_S[index + 1] - EDGES_S[index]) - EDGES_S[index]
        height = self.rows[:, index] * (1 - part / 2) + self.rows[:, index + 1] * part / 2
        return np.asarray(self._area[:, index] + height * begun_s)

    @cached_property
    def _area(self) -> Floats:
        steps = np.diff(EDGES_S) * (self.rows[:, 1:] + self.rows[:, :-1]) / 2
        begun = np.full((len(self.rows), 1), EDGES_S[0])
        return np.concatenate((begun, begun + np.cumsum(steps, axis=1)), axis=1)


@dataclass(frozen=True, slots=True, eq=False)
class Loan:
    """What the fleet says of a group: row 0 is the mean of what is believed, the others are drawn from it."""

    curve: GridCurve
    share: float
    """Of the belief that goes to the fleet; the rest is the group's own curve's."""


def loan_of(own: Silences, fleet: Fleet | None, steadiness: float, draws: int, rng: np.random.Generator) -> Loan | None:
    """None where the fleet has nothing to say. `steadiness`: how many independent restarts one of the group's is worth,
    at most 1."""
    if fleet is None or fleet.size < FEWEST_SHAPES or not own.returned.sum() >= FEWEST_OWN or own.count > MOST_OWN:
        return None
    folds = _folds(own)
    belief = _Belief(fleet, own)
    by_fleet, by_itself = 0.0, 0.0
    for fold in folds:
        rest = Silences(own.at_s, own.returned - fold.returned, own.censored - fold.censored)
        if rest.returned.sum() < 2 or fold.count == 0:
            continue
        by_fleet += belief.foretold(rest, fold)
        by_itself += _foretold_by_itself(rest, fold)
    share = float(
        1 / (1 + np.exp(np.clip(_SHARPNESS * steadiness * (by_itself - by_fleet) - _BELIEVED_FIRST, -50, 50)))
    )
    return Loan(GridCurve(belief.rows(own, steadiness, draws, rng)), share)


class _Belief:
    """Every shape at every pace, and what a group's silences say about each."""

    def __init__(self, fleet: Fleet, own: Silences) -> None:
        middle = _median(fitted_curve(own, np.random.default_rng(0), replicates=0).survival(EDGES_S)[0])
        self._starts = np.arange(middle - PACES, middle + PACES + 1)
        survival = np.stack([_at_pace(fleet.survival, int(start)) for start in self._starts], axis=1)
        self._survival = survival.reshape(-1, BINS + 1)
        even = _UNLIKE / (fleet.restarts + _UNLIKE)
        weight = np.repeat(even, len(self._starts))[:, None]
        smooth = np.stack([_smooth(row, count) for row, count in zip(fleet.survival, fleet.restarts, strict=True)])
        ended = np.stack([_at_pace_ended(smooth, int(start)) for start in self._starts], axis=1).reshape(-1, BINS + 1)
        self._log_ended = np.log((1 - weight) * np.maximum(ended, 0) + weight / (BINS + 1))
        silent = (1 - weight) * self._survival + weight * np.linspace(1, 1 / (BINS + 1), BINS + 1)
        self._log_silent = np.log(silent)
        # What many restarts have drawn is the better drawing.
        self._log_prior = np.repeat(np.log(np.minimum(fleet.restarts, MOST_OWN)), len(self._starts))

    def _log_likelihood(self, silences: Silences, times: float = 1.0) -> Floats:
        returned, censored = counts_on_grid(silences)
        return times * (self._log_ended @ returned + self._log_silent @ censored)

    def _weights(self, silences: Silences, times: float = 1.0) -> Floats:
        found = self._log_prior + self._log_likelihood(silences, times)
        weights = np.exp(found - found.max())
        return np.asarray(weights / weights.sum())

    def foretold(self, known: Silences, asked: Silences) -> float:
        """The log of what those who know `known` give to each of `asked`, one by one."""
        weights = self._weights(known)
        some = weights > 1e-6
        returned, censored = counts_on_grid(asked)
        ended = np.log(weights[some] @ np.exp(self._log_ended[some]))
        silent = np.log(weights[some] @ np.exp(self._log_silent[some]))
        return float(ended @ returned + silent @ censored)

    def rows(self, own: Silences, times: float, draws: int, rng: np.random.Generator) -> Floats:
        weights = self._weights(own, times)
        drawn = self._survival[rng.choice(len(weights), draws, p=weights)]
        return np.concatenate(((weights @ self._survival)[None], drawn))


def _foretold_by_itself(known: Silences, asked: Silences) -> float:
    """The same of the group's own curve, as `_Belief.foretold`."""
    survival = fitted_curve(known, np.random.default_rng(0), replicates=0).survival(EDGES_S)[0]
    weight = _UNLIKE / (known.count + _UNLIKE)
    ended = _smooth(survival, known.count)
    returned, censored = counts_on_grid(asked)
    log_ended = np.log((1 - weight) * ended + weight / (BINS + 1))
    log_silent = np.log((1 - weight) * survival + weight * np.linspace(1, 1 / (BINS + 1), BINS + 1))
    return float(log_ended @ returned + log_silent @ censored)


def _smooth(survival: Floats, restarts: float) -> Floats:
    """What ends at each point of a grid. A curve that is counted is a staircase: what it foretells of a silence lies in
    its neighbourhood as well, the wider the fewer it was counted from."""
    ended = np.maximum(np.append(1 - survival[0], -np.diff(survival)), 0)
    width = _WIDTH * max(restarts, 1.0) ** -0.2 / LOG_STEP
    near = np.exp(-0.5 * (np.arange(-12, 13) / width) ** 2)
    return np.convolve(ended, near / near.sum(), mode="same")


def _at_pace_ended(ended: Floats, median: int) -> Floats:
    at = np.arange(BINS + 1) - median + BELOW
    inside = (at >= 0) & (at < POINTS)
    return np.where(inside, ended[:, np.clip(at, 0, POINTS - 1)], 0.0)


def counts_on_grid(silences: Silences) -> tuple[Floats, Floats]:
    """Returned and censored ones, `BINS` + 1 each: one that ended between two edges counts at the upper one."""
    bins = np.minimum(np.searchsorted(EDGES_S, silences.at_s), BINS)
    returned, censored = (
        np.bincount(bins, weights=counts, minlength=BINS + 1).astype(np.float64)
        for counts in (silences.returned, silences.censored)
    )
    return returned, censored


def _folds(own: Silences) -> list[Silences]:
    """`FOLDS` parts of about equal size and equal spread: every fifth of the sorted silences."""
    order = np.arange(len(own.at_s)) % FOLDS
    if len(own.at_s) >= own.count:
        return [_part(own, order == fold) for fold in range(FOLDS)]
    return [Silences(own.at_s, own.returned / FOLDS, own.censored / FOLDS)] * FOLDS


def _part(own: Silences, which: np.typing.NDArray[np.bool_]) -> Silences:
    return Silences(own.at_s, np.where(which, own.returned, 0.0), np.where(which, own.censored, 0.0))


def _at_pace(survival: Floats, median: int) -> Floats:
    """Shapes on the grid of silences, where their median is at that edge."""
    at = np.arange(BINS + 1) - median + BELOW
    found = survival[:, np.clip(at, 0, POINTS - 1)]
    return np.where(at < 0, 1.0, found)


def _median(survival: Floats) -> int:
    half = survival <= 0.5
    return int(np.argmax(half)) if half.any() else BINS


def _place(at_s: Floats) -> tuple[np.typing.NDArray[np.int64], Floats]:
    """The edge before each, and how far it is from there to the next one, 0 to 1."""
    at_s = np.clip(at_s, EDGES_S[0], EDGES_S[-1])
    index = np.clip(np.searchsorted(EDGES_S, at_s, side="right") - 1, 0, BINS - 1)
    return index, np.asarray((at_s - EDGES_S[index]) / (EDGES_S[index + 1] - EDGES_S[index]))


@dataclass(frozen=True, slots=True, eq=False)
class BlendedCurve:
    """The group's own curve and the fleet's: row 0 by the belief in each, every other row is one or the other."""

    own: Curve
    loan: GridCurve
    share: Floats
    """Of the loan, rows by 1."""

    @property
    def at_s(self) -> Floats:
        return self.own.at_s

    @property
    def total(self) -> Floats:
        return self.own.total

    @property
    def threshold_s(self) -> float:
        return self.own.threshold_s

    @property
    def smooth_from_s(self) -> float:
        return 0.0

    def estimate(self) -> BlendedCurve:
        return BlendedCurve(self.own.estimate(), GridCurve(self.loan.rows[:1]), self.share[:1])

    def survival(self, at_s: Floats) -> Floats:
        return np.asarray(self.share * self.loan.survival(at_s) + (1 - self.share) * self.own.survival(at_s))

    def mean_wait_s(self, until_s: Floats) -> Floats:
        return np.asarray(
            self.share * self.loan.mean_wait_s(until_s) + (1 - self.share) * self.own.mean_wait_s(until_s)
        )


def blended(own: Curve, loan: Loan, rng: np.random.Generator) -> BlendedCurve:
    """Rows of the own curve and of the loan, which are equally many."""
    share = (rng.random((len(loan.curve.rows), 1)) < loan.share).astype(np.float64)
    share[0] = loan.share
    return BlendedCurve(own, loan.curve, share)
