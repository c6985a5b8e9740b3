"""Where a group's restarts became others: a new image, another node pool, images that are pulled beforehand.

What came before says nothing about what is now, and a slow kind of restart that has disappeared would keep the timeout
long for ever. So the history is cut where it broke (binary segmentation; Killick, Fearnhead and Eckley 2012), not
forgotten bit by bit. A break is one in the share of restarts that take longer than some length: the likelihood-ratio
test, held against what batches of restarts differ by anyway.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from scipy.special import xlogy

from slackwater.pipeline.statistics.arrays import Bools, Floats, Indices
from slackwater.pipeline.statistics.history import Absences

SURE: Final = 13.0
"""Twice the log of the likelihood ratio from which on it is a break: each group is looked at in a hundred places and at
eight lengths. A slow kind (one in five) that has disappeared is found in 19 groups of 20 after 40 restarts."""
FEWEST_RESTARTS: Final = 30
FEWEST_BATCHES: Final = 5
"""On either side: restarts of one rollout are alike, and unlike those of the next, without anything being new."""
_QUANTILES: Final = (0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95)
_MOST_BREAKS: Final = 8


@dataclass(frozen=True, slots=True)
class Broken:
    """A history without what came before its last break."""

    history: Absences
    days: float | None
    """How long ago that was; None: it never broke."""


def since_last_break(history: Absences) -> Broken:
    """Restarts of no known batch cannot be placed in time: where there are any, all stay."""
    days: float | None = None
    for _ in range(_MOST_BREAKS):
        place = _break_in(history)
        if place is None:
            break
        days = min(1.0 - place, history.observed_days)
        history = _from(history, place, days)
    return Broken(history, days)


def _break_in(history: Absences) -> float | None:
    batch = history.batch
    usable = np.isfinite(history.silence_s)
    if batch is None or not usable.any() or not np.isfinite(batch[usable]).all():
        return None
    times = np.ones(len(batch)) if history.times is None else history.times
    numbers, at = np.unique(batch[usable], return_inverse=True)
    if len(numbers) < 2 * FEWEST_BATCHES:
        return None
    silence_s, returned, times = history.silence_s[usable], history.returned[usable], times[usable]
    order = np.argsort(silence_s)
    shares = np.cumsum(times[order]) / times.sum()
    lengths_s = np.unique(silence_s[order][[min(int(np.searchsorted(shares, q)), len(order) - 1) for q in _QUANTILES]])
    tested = [_ratios(_Counts(silence_s, returned, times, at, length_s)) for length_s in lengths_s]
    best = np.max(tested, axis=0)
    place = int(np.argmax(best))
    return float(numbers[place]) if best[place] >= SURE else None


class _Counts:
    """By batch: restarts of which it is known whether they took longer than a length, and those that did."""

    def __init__(self, silence_s: Floats, returned: Bools, times: Floats, batch: Indices, length_s: float) -> None:
        longer = silence_s > length_s
        known = returned | longer
        self.all = np.bincount(batch, np.where(known, times, 0.0))
        self.longer = np.bincount(batch, np.where(longer, times, 0.0))


def _ratios(counts: _Counts) -> Floats:
    """Twice the log likelihood ratio of a break before each batch; 0 where too few are on either side."""
    total, longer = float(counts.all.sum()), float(counts.longer.sum())
    before, longer_before = (np.concatenate(([0.0], np.cumsum(each)[:-1])) for each in (counts.all, counts.longer))
    after, longer_after = total - before, longer - longer_before
    apart = _log_likelihood(longer_before, before) + _log_likelihood(longer_after, after)
    ratio = 2 * (apart - _log_likelihood(np.array([longer]), np.array([total])))
    place = np.arange(len(before))
    enough = (np.minimum(before, after) >= FEWEST_RESTARTS) & (place >= FEWEST_BATCHES)
    enough &= place <= len(before) - FEWEST_BATCHES
    if not enough.any():
        return np.zeros(len(before))
    ratio = np.where(enough, ratio, 0.0)
    best = int(np.argmax(ratio))
    return np.asarray(ratio / _unlikeness(counts, best))


def _unlikeness(counts: _Counts, place: int) -> float:
    """How many times as much batches differ as independent restarts would, at least once, around the means of both
    sides."""
    share = np.where(
        np.arange(len(counts.all)) < place, *(_share(counts, side) for side in (slice(place), slice(place, None)))
    )
    expected = float((counts.all * share * (1 - share)).sum())
    if expected <= 0:
        return 1.0
    return max(1.0, float(((counts.longer - counts.all * share) ** 2).sum()) / expected)


def _share(counts: _Counts, side: slice) -> float:
    total = float(counts.all[side].sum())
    return float(counts.longer[side].sum()) / total if total else 0.0


def _log_likelihood(longer: Floats, total: Floats) -> Floats:
    shorter = total - longer
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.where(total > 0, longer / np.where(total > 0, total, 1.0), 0.0)
    return np.asarray(xlogy(longer, share) + xlogy(np.maximum(shorter, 0.0), 1 - share))


def _from(history: Absences, place: float, days: float) -> Absences:
    assert history.batch is not None
    kept = ~(history.batch < place)
    return replace(
        history,
        silence_s=history.silence_s[kept],
        returned=history.returned[kept],
        planned=None if history.planned is None else history.planned[kept],
        times=None if history.times is None else history.times[kept],
        batch=history.batch[kept],
        observed_days=days,
    )
