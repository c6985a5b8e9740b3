"""How often the published 95 % bounds hold what they promise, over simulated fleets.

A fleet has one group of each of the yardstick's mixtures and one of another, each with its own pace, number of restarts
(30 to 1,000 are expected), loss and K. Counts of restarts are random, as they are in life, so that the rates have to be
estimated as well.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from statistics import fmean
from typing import Final

import numpy as np

from benchmarks.regret import ALLOWED, DEFAULT_S, FIRST_SEED
from benchmarks.silences import (
    EVICTION_COSTS,
    LOST_A_MONTH,
    OTHERS,
    PARTITIONS_PER_MEMBER,
    REBALANCE_S,
    RESTARTS_A_MONTH,
    YARDSTICK,
    Mixture,
)
from slackwater.pipeline.statistics.choice import choose
from slackwater.pipeline.statistics.cost import REBALANCES_AN_EVICTION, Costs
from slackwater.pipeline.statistics.history import DAYS_A_MONTH, silences_of
from slackwater.pipeline.statistics.model import GroupModel, Watched, group_model

_FEWEST_EXPECTED: Final = 30.0
_MOST_EXPECTED: Final = 1_000.0
_PACE_SIGMA: Final = 0.3
_FEWEST: Final = 10


@dataclass(frozen=True, slots=True)
class Held:
    """Whether one group's bounds hold the truth."""

    mixture: str
    saving: bool
    """The two-sided interval of the saving against 45 s."""
    survival_today: bool
    """The pointwise interval of the survival curve at 45 s."""
    survival_recommended: bool
    """The same at the recommended timeout, a point that the data chose."""
    needless: bool
    """The one-sided upper bound of needless rebalances a month at the recommended timeout."""


def held_in(fleet: int) -> list[Held]:
    """The groups of one simulated fleet."""
    rng = np.random.default_rng(FIRST_SEED + fleet)
    mixtures = (*YARDSTICK, OTHERS[fleet % len(OTHERS)])
    return [_held(mixture.scaled(float(np.exp(rng.normal(0, _PACE_SIGMA)))), rng) for mixture in mixtures]


def _held(mixture: Mixture, rng: np.random.Generator) -> Held:
    expected = np.exp(rng.uniform(np.log(_FEWEST_EXPECTED), np.log(_MOST_EXPECTED)))
    months = expected / RESTARTS_A_MONTH
    restarts, lost = max(_FEWEST, int(rng.poisson(expected))), int(rng.poisson(LOST_A_MONTH * months))
    silences = silences_of(mixture.sample(restarts, rng), np.ones(restarts, dtype=np.bool_))
    costs = Costs(PARTITIONS_PER_MEMBER, REBALANCE_S, float(rng.choice(EVICTION_COSTS)))
    model = group_model(silences, Watched(lost, months * DAYS_A_MONTH), costs, rng)
    return _judged(mixture, model)


def _judged(mixture: Mixture, model: GroupModel) -> Held:
    choice = choose(model, ALLOWED, DEFAULT_S)
    saving = choice.against_today.saving
    points_s = np.array([choice.target_s, DEFAULT_S])
    target, today = mixture.cost(model.costs, points_s, RESTARTS_A_MONTH, LOST_A_MONTH)
    survival = mixture.survival(points_s)
    _, lower, upper = model.survival_interval(points_s)
    inside = (lower <= survival) & (survival <= upper)
    needless = REBALANCES_AN_EVICTION * RESTARTS_A_MONTH * survival[0]
    return Held(
        mixture=mixture.name,
        saving=bool(saving.lower <= today - target <= saving.upper),
        survival_today=bool(inside[1]),
        survival_recommended=bool(inside[0]),
        needless=bool(needless <= model.needless_upper(points_s)[0]),
    )


def coverage(fleets: int) -> dict[str, dict[str, float]]:
    """The share of bounds that hold: by kind of bound, over all groups and for each mixture."""
    by_mixture: dict[str, list[Held]] = defaultdict(list)
    for fleet in range(fleets):
        for held in held_in(fleet):
            by_mixture[held.mixture].append(held)
    everything = {"all": [held for group in by_mixture.values() for held in group], **by_mixture}
    kinds = ("saving", "survival_today", "survival_recommended", "needless")
    return {
        kind: {name: round(fmean(getattr(held, kind) for held in group), 4) for name, group in everything.items()}
        for kind in kinds
    }
