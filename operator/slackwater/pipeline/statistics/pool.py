"""What groups of one client library and namespace lend to one that has restarted seldom.

A group's silences are told on a logarithmic grid: a fixed number of counts, however many restarts. Groups differ in how
quickly their pods start but less in the shape of their silences, so that a pool adds the sketches up relative to each
group's own median, each group counting for `MOST_OF_ONE_GROUP` restarts at most. A borrower gets them scaled to its own
median, as a weight that shrinks as its own restarts grow; nothing where its own silences contradict the pool.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

import numpy as np

from slackwater.pipeline.statistics.arrays import Floats
from slackwater.pipeline.statistics.history import Silences
from slackwater.pipeline.statistics.survival import survival_of

_FROM_S: Final = 0.1
_TO_S: Final = 7_200.0
_LOG_STEP: Final = 0.05
BINS: Final = int(np.ceil(np.log(_TO_S / _FROM_S) / _LOG_STEP))
MOST_OF_ONE_GROUP: Final = 100.0
LENT: Final = 30.0
"""Weight that a group without restarts of its own would get; one with as many of its own gets half of it."""
FEWEST_OWN: Final = 5
"""Restarts that returned below which even the median is a guess: nothing is borrowed."""
_KOLMOGOROV_95: Final = 1.36


@dataclass(frozen=True, slots=True, eq=False)
class Sketch:
    """One group's silences as counts on the grid; both arrays have `BINS` entries."""

    returned: Floats
    censored: Floats


@dataclass(frozen=True, slots=True, eq=False)
class Pool:
    """Counts over log(silence / its group's median), on a grid of 2·BINS+1 steps with the median in the middle."""

    returned: Floats
    censored: Floats
    groups: int
    restarts: float
    """Of all groups together, before each was held to `MOST_OF_ONE_GROUP`."""


def sketch_of(silences: Silences) -> Sketch:
    """Linear in the number of distinct silences; sketches of parts of a history add up to that of the whole."""
    bins = _bins(silences.at_s)
    returned, censored = (
        np.bincount(bins, weights=counts, minlength=BINS).astype(np.float64)
        for counts in (silences.returned, silences.censored)
    )
    return Sketch(returned, censored)


def pool_of(sketches: Iterable[Sketch]) -> Pool:
    """Add up the groups that have a median."""
    returned, censored = np.zeros(2 * BINS + 1), np.zeros(2 * BINS + 1)
    groups, restarts = 0, 0.0
    for sketch in sketches:
        if sketch.returned.sum() < FEWEST_OWN:
            continue
        total = float(sketch.returned.sum() + sketch.censored.sum())
        weight = min(1.0, MOST_OF_ONE_GROUP / total)
        begin = BINS - _median_bin(sketch.returned, sketch.censored)
        returned[begin : begin + BINS] += weight * sketch.returned
        censored[begin : begin + BINS] += weight * sketch.censored
        groups, restarts = groups + 1, restarts + total
    return Pool(returned, censored, groups, restarts)


def with_loan(own: Silences, pool: Pool | None, longest_s: float) -> tuple[Silences, float]:
    """The group's own silences and what the pool lends, and the weight of the loan."""
    returned = float(own.returned.sum())
    if pool is None or pool.groups == 0 or returned < FEWEST_OWN:
        return own, 0.0
    sketch = sketch_of(own)
    median = _median_bin(sketch.returned, sketch.censored)
    at_s = _FROM_S * np.exp((np.arange(2 * BINS + 1) - BINS + median + 0.5) * _LOG_STEP)
    some = (pool.returned + pool.censored > 0) & (at_s <= longest_s)
    weight = LENT * LENT / (LENT + own.count)
    total = float((pool.returned + pool.censored)[some].sum())
    if total <= 0 or _contradicts(sketch, pool, median):
        return own, 0.0
    scale = min(1.0, weight / total)
    lent = Silences(at_s[some], scale * pool.returned[some], scale * pool.censored[some])
    return _joined(own, lent), scale * total


def _contradicts(own: Sketch, pool: Pool, median: int) -> bool:
    """Kolmogorov's distance between the group and the pool, both around their medians, is beyond chance (95 %)."""
    begin = BINS - median
    theirs = survival_of(pool.returned, pool.censored)[begin : begin + BINS]
    mine = survival_of(own.returned, own.censored)
    return bool(np.abs(theirs - mine).max() > _KOLMOGOROV_95 / np.sqrt(own.returned.sum()))


def _joined(own: Silences, lent: Silences) -> Silences:
    at_s, where = np.unique(np.concatenate((own.at_s, lent.at_s)), return_inverse=True)
    pairs = ((own.returned, lent.returned), (own.censored, lent.censored))
    returned, censored = (np.bincount(where, weights=np.concatenate(pair)).astype(np.float64) for pair in pairs)
    return Silences(at_s, returned, censored)


def _median_bin(returned: Floats, censored: Floats) -> int:
    """Where half are back; the last bin with a silence where more than half are not."""
    survival = survival_of(returned, censored)
    half = survival <= 0.5
    return int(np.argmax(half)) if half.any() else int(np.flatnonzero(returned + censored)[-1])


def _bins(at_s: Floats) -> np.typing.NDArray[np.int64]:
    logs = np.log(np.maximum(at_s, _FROM_S) / _FROM_S)
    return np.minimum((logs / _LOG_STEP).astype(np.int64), BINS - 1)
