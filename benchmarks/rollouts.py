"""How often the saving's interval holds the truth where restarts come in rollouts, whose members are slow together.

Each rollout has a pace of its own: log-normal, with the spread that a row of `RHYTHMS` says. The truth is what the
group does over all rollouts that it could have had.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import fmean
from typing import Final

import numpy as np

from benchmarks.regret import ALLOWED, DEFAULT_S, FIRST_SEED
from benchmarks.silences import (
    EVICTION_COSTS,
    LOST_A_MONTH,
    PARTITIONS_PER_MEMBER,
    REBALANCE_S,
    RESTARTS_A_MONTH,
    YARDSTICK,
    Mixture,
)
from slackwater.pipeline.statistics.arrays import Floats
from slackwater.pipeline.statistics.choice import choose
from slackwater.pipeline.statistics.cost import Costs, Rates, monthly_cost
from slackwater.pipeline.statistics.history import DAYS_A_MONTH, silences_of
from slackwater.pipeline.statistics.model import Watched, group_model

RESTARTS: Final = 90
_PACES: Final = 200
"""Of rollouts, that the truth is the mean over."""


@dataclass(frozen=True, slots=True)
class Rhythm:
    members: int
    """Restarted by one rollout."""
    sigma: float
    """Of the logarithm of a rollout's pace."""

    def __str__(self) -> str:
        return f"{self.members} members, {self.sigma:g}"


RHYTHMS: Final = (Rhythm(1, 0.0), Rhythm(15, 0.5), Rhythm(30, 0.5), Rhythm(30, 0.8))


def coverage_in_rollouts(histories: int, *, batched: bool = True) -> dict[str, float]:
    """The share of intervals that hold the truth, by rhythm. `batched`: whether it is known which restarts came
    together."""
    return {
        str(rhythm): round(fmean(_held(rhythm, seed, batched=batched) for seed in range(histories)), 4)
        for rhythm in RHYTHMS
    }


def _held(rhythm: Rhythm, seed: int, *, batched: bool) -> bool:
    rng = np.random.default_rng((FIRST_SEED, seed))
    mixture = YARDSTICK[seed % len(YARDSTICK)].scaled(float(np.exp(rng.normal(0, 0.3))))
    costs = Costs(PARTITIONS_PER_MEMBER, REBALANCE_S, float(rng.choice(EVICTION_COSTS)))
    rollouts = RESTARTS // rhythm.members
    paces = np.repeat(np.exp(rng.normal(0, rhythm.sigma, rollouts)), rhythm.members)
    silence_s = mixture.sample(len(paces), rng) * paces
    batch = np.repeat(np.arange(rollouts, dtype=np.float64), rhythm.members) if batched else None
    own = silences_of(silence_s, np.ones(len(paces), dtype=np.bool_), batch=batch)
    months = RESTARTS / RESTARTS_A_MONTH
    model = group_model(own, Watched(int(rng.poisson(LOST_A_MONTH * months)), months * DAYS_A_MONTH), costs, rng)
    choice = choose(model, ALLOWED, DEFAULT_S)
    target, today = _true_cost(mixture, rhythm, costs, np.array([choice.target_s, DEFAULT_S]))
    saving = choice.against_today.saving
    return bool(saving.lower <= today - target <= saving.upper)


def _true_cost(mixture: Mixture, rhythm: Rhythm, costs: Costs, points_s: Floats) -> Floats:
    paces = np.exp(np.random.default_rng(FIRST_SEED).normal(0, rhythm.sigma, _PACES if rhythm.sigma else 1))
    survival = np.mean([mixture.survival(points_s / pace) for pace in paces], axis=0)
    until_s = points_s + costs.rebalance_s
    waits_s = np.mean([pace * mixture.mean_wait_s(until_s / pace) for pace in paces], axis=0)
    return monthly_cost(
        costs, points_s, survival, waits_s, Rates(np.asarray(RESTARTS_A_MONTH), np.asarray(LOST_A_MONTH))
    )
