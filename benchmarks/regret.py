"""How much more a recommended timeout really costs than the best one, and how often a proposed change is a bad one."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from typing import Final

import numpy as np

from benchmarks.silences import (
    EVICTION_COSTS,
    HIGHEST_S,
    LOST_A_MONTH,
    LOWEST_S,
    OTHERS,
    PARTITIONS_PER_MEMBER,
    REBALANCE_S,
    RESTARTS_A_MONTH,
    TIMEOUTS_S,
    YARDSTICK,
    Mixture,
)
from slackwater.pipeline.statistics.choice import cheapest, comparison, sureness
from slackwater.pipeline.statistics.constraint import Allowed, Limit
from slackwater.pipeline.statistics.cost import Costs
from slackwater.pipeline.statistics.fleet import Fleet, fleet_of, shape_of
from slackwater.pipeline.statistics.history import DAYS_A_MONTH, Silences, silences_of
from slackwater.pipeline.statistics.model import Watched, group_model

DEFAULT_S: Final = 45.0
TODAY_S: Final = (DEFAULT_S, 10.0, 180.0)
"""Timeouts that a proposal is compared with."""
BAD: Final = 1.02
"""A proposal is a bad one where it really costs more than this times today's."""
ALLOWED: Final = Allowed(Limit(LOWEST_S, "", ""), Limit(HIGHEST_S, "", ""))
FIRST_SEED: Final = 1_000_000
"""Of histories that nobody looked at while the constants of the tail were chosen."""
DONORS: Final = 160
"""Other groups of the fleet, of all kinds, each with a pace of its own and 30 to 1,000 restarts."""


@dataclass(frozen=True, slots=True)
class Regret:
    """Shares, averaged over histories, of one mixture at one K and number of restarts."""

    mixture: str
    restarts: int
    eviction_cost: float
    recommended: float
    """True cost of the recommended timeout above the best one's."""
    followed: float
    """The same of what a group has in the end that began with 45 s: a change is made only where it is shown better."""
    default: float
    """The same of 45 s."""
    proposed: float
    """Histories in which a change from 45 s is proposed."""
    bad: float
    """Histories in which a proposed change really costs over 2 % more; the worst over `TODAY_S`."""


def fleet_without(kind: Mixture | None) -> Fleet:
    """Simulated shapes of the other groups, of all kinds but that one."""
    kinds = YARDSTICK + OTHERS
    rng = np.random.default_rng(FIRST_SEED - 1)
    shapes = []
    for number in range(DONORS):
        mixture = kinds[number % len(kinds)]
        pace, restarts = float(np.exp(rng.normal(0.0, 0.3))), int(np.exp(rng.uniform(np.log(30), np.log(1_000))))
        shape = shape_of(_silences(mixture.scaled(pace), restarts, rng))
        if shape is not None and (kind is None or mixture.name != kind.name):
            shapes.append(shape)
    return fleet_of(shapes)


def regrets(mixture: Mixture, restarts: int, histories: int, fleet: Fleet | None = None) -> tuple[Regret, ...]:
    """One for each of `EVICTION_COSTS`. `fleet`: None: the group stands alone."""
    found = [_one_history(mixture, restarts, seed, fleet) for seed in range(FIRST_SEED, FIRST_SEED + histories)]
    table = np.mean(found, axis=0)
    return tuple(
        Regret(
            mixture=mixture.name,
            restarts=restarts,
            eviction_cost=eviction,
            recommended=float(row[0]),
            followed=float(row[1]),
            default=float(row[2]),
            proposed=float(row[3]),
            bad=float(row[4:].max()),
        )
        for eviction, row in zip(EVICTION_COSTS, table, strict=True)
    )


def _one_history(mixture: Mixture, restarts: int, seed: int, fleet: Fleet | None) -> list[list[float]]:
    rng = np.random.default_rng(seed)
    months = restarts / RESTARTS_A_MONTH
    own = _silences(mixture, restarts, rng)
    lost = int(rng.poisson(LOST_A_MONTH * months))
    costs = Costs(PARTITIONS_PER_MEMBER, REBALANCE_S, 0.0)
    model = group_model(own, Watched(lost, months * DAYS_A_MONTH), costs, np.random.default_rng(seed), fleet)
    rows = []
    for eviction in EVICTION_COSTS:
        costs = Costs(PARTITIONS_PER_MEMBER, REBALANCE_S, eviction)
        priced = replace(model, costs=costs)
        points_s = np.array((cheapest(priced, ALLOWED), *TODAY_S))
        estimated = priced.cost(points_s)
        sure = sureness(own.independent)
        shown = [comparison(estimated[:, 0], before, sure=sure).is_shown_better for before in estimated[:, 1:].T]
        target, *today = mixture.cost(costs, points_s, RESTARTS_A_MONTH, LOST_A_MONTH)
        best = best_cost(mixture, costs)
        followed = target if shown[0] else today[0]
        bad = [float(change and target > BAD * before) for change, before in zip(shown, today, strict=True)]
        rows.append([target / best - 1, followed / best - 1, today[0] / best - 1, float(shown[0]), *bad])
    return rows


@cache
def best_cost(mixture: Mixture, costs: Costs) -> float:
    """True, of the best timeout."""
    return float(mixture.cost(costs, TIMEOUTS_S, RESTARTS_A_MONTH, LOST_A_MONTH).min())


def _silences(mixture: Mixture, restarts: int, rng: np.random.Generator) -> Silences:
    return silences_of(mixture.sample(restarts, rng), np.ones(restarts, dtype=np.bool_))
