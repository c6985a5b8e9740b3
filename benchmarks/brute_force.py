"""Is the minimiser exact? Random histories, and J computed a second time, the slow and simple way, on a fine grid."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from slackwater.pipeline.statistics.arrays import Bools, Floats
from slackwater.pipeline.statistics.cost import Costs
from slackwater.pipeline.statistics.curve import Curve, fitted_curve
from slackwater.pipeline.statistics.fleet import BlendedCurve
from slackwater.pipeline.statistics.history import silences_of
from slackwater.pipeline.statistics.minimum import minimiser
from slackwater.pipeline.statistics.model import Watched, group_model
from slackwater.pipeline.statistics.tail import TailFamily

_GRID_POINTS: Final = 1_000
_TOLERANCE: Final = 1e-9
"""Relative: two ways to add up the same numbers round differently."""


@dataclass(frozen=True, slots=True)
class RandomHistory:
    silence_s: Floats
    returned: Bools
    low_s: float
    high_s: float
    costs: Costs
    restarts: float
    lost: float


def random_history(rng: np.random.Generator) -> RandomHistory:
    """Short and long ones, with and without ties and censoring, under bounds that may lie anywhere."""
    count = int(rng.integers(2, 120))
    silence_s = np.exp(rng.normal(rng.uniform(0.5, 4), rng.uniform(0.1, 1.5), count)) + rng.choice([0, 60.0], count)
    if rng.random() < 0.5:
        silence_s = np.ceil(silence_s)
    returned = rng.random(count) < rng.uniform(0.5, 1.0)
    returned[rng.integers(count)] = True
    low_s = float(np.round(rng.uniform(1, 30)))
    costs = Costs(rng.uniform(1, 20), rng.uniform(0, 10), float(np.exp(rng.uniform(0, 8))))
    high_s = low_s + float(np.round(rng.uniform(1, 600)))
    return RandomHistory(silence_s, returned, low_s, high_s, costs, rng.uniform(1, 60), rng.uniform(0.01, 2))


def counted_minimum_is_exact(history: RandomHistory) -> bool:
    """By counting alone, without a tail: nothing on a fine grid, nor at any silence, is cheaper."""
    curve = _counted(history)

    def cost(timeout_s: Floats) -> Floats:
        return np.array([_slow_cost(history, float(each)) for each in timeout_s])

    def quick_cost(timeout_s: Floats) -> Floats:
        waits_s = curve.mean_wait_s(timeout_s + history.costs.rebalance_s)[0]
        idle = history.costs.partitions_per_member * waits_s
        losing = history.costs.partitions_per_member * (timeout_s + history.costs.rebalance_s)
        return np.asarray(
            history.restarts * (idle + history.costs.eviction * curve.survival(timeout_s)[0]) + history.lost * losing
        )

    best_s = minimiser(quick_cost, curve.at_s, np.inf, history.low_s, history.high_s)
    grid_s = np.linspace(history.low_s, history.high_s, _GRID_POINTS // 10)
    inside = (curve.at_s >= history.low_s) & (curve.at_s <= history.high_s)
    least = cost(np.concatenate((grid_s, curve.at_s[inside]))).min()
    return bool(cost(np.array([best_s]))[0] <= least * (1 + _TOLERANCE))


def modelled_minimum_is_exact(history: RandomHistory, seed: int) -> bool:
    """With the tail: nothing on a fine grid is cheaper, and the areas are those of the drawn curve."""
    silences = silences_of(history.silence_s, history.returned)
    watched = Watched(0, 30 * silences.count / history.restarts)
    model = group_model(silences, watched, history.costs, np.random.default_rng(seed), replicates=1)
    best_s = minimiser(model.estimated_cost, model.curve.at_s, model.curve.threshold_s, history.low_s, history.high_s)
    grid_s = np.linspace(history.low_s, history.high_s, _GRID_POINTS)
    least = model.estimated_cost(grid_s).min()
    found = model.estimated_cost(np.array([best_s]))[0]
    return bool(found <= least * (1 + _TOLERANCE)) and _areas_agree(model.estimate, history.high_s)


def _areas_agree(curve: Curve | BlendedCurve, until_s: float) -> bool:
    """E[min(D, x)] is the area below S: by adding up S on a fine grid."""
    points_s = np.linspace(0.0, until_s, _GRID_POINTS)
    survival = curve.survival((points_s[1:] + points_s[:-1]) / 2)[0]
    area_s = survival.sum() * (points_s[1] - points_s[0])
    return bool(abs(area_s - curve.mean_wait_s(np.array([until_s]))[0, 0]) <= 1e-3 * until_s)


def _counted(history: RandomHistory) -> Curve:
    """Kaplan-Meier without a tail: the threshold is beyond everything."""
    curve = fitted_curve(silences_of(history.silence_s, history.returned), np.random.default_rng(0), replicates=1)
    nothing = TailFamily(np.inf, *(np.empty(0) for _ in range(4)))
    none = np.empty((len(curve.body), 0))
    return Curve(curve.at_s, curve.total, curve.body, nothing, np.zeros(len(curve.body)), none)


def _slow_cost(history: RandomHistory, timeout_s: float) -> float:
    """J as one would write it down: one silence after the other."""
    until_s = timeout_s + history.costs.rebalance_s
    survival, at_timeout, area_s, last_s = 1.0, 1.0, 0.0, 0.0
    for at_s in np.unique(history.silence_s):
        if at_s <= until_s:
            area_s += survival * (at_s - last_s)
            last_s = at_s
        at_risk = (history.silence_s >= at_s).sum()
        back = (history.returned & (history.silence_s == at_s)).sum()
        if at_s <= until_s:
            survival *= 1 - back / at_risk
        if at_s <= timeout_s:
            at_timeout *= 1 - back / at_risk
    area_s += survival * (until_s - last_s)
    members_s = history.costs.partitions_per_member * until_s
    restarting = history.costs.partitions_per_member * area_s + history.costs.eviction * at_timeout
    return float(history.restarts * restarting + history.lost * members_s)


def equal_histories(count: int) -> int:
    """How many of `count` random histories pass both comparisons."""
    equal = 0
    for seed in range(count):
        history = random_history(np.random.default_rng(seed))
        equal += counted_minimum_is_exact(history) and modelled_minimum_is_exact(history, seed)
    return equal
