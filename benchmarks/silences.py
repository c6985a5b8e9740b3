"""Distributions of silences whose truth is known, and what a timeout really costs under them.

The first three are those of the project's own yardstick: fast, heavy-tailed and bimodal. The others are there so that
the method is not judged by the family of tails that it is made of.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np
from scipy import stats

from slackwater.pipeline.statistics.arrays import Floats
from slackwater.pipeline.statistics.cost import Costs, Rates, monthly_cost

RESTARTS_A_MONTH: Final = 20.0
LOST_A_MONTH: Final = 0.2
PARTITIONS_PER_MEMBER: Final = 5.0
REBALANCE_S: Final = 3.0
EVICTION_COSTS: Final = (30.0, 60.0, 120.0, 240.0, 600.0, 1200.0)
LOWEST_S: Final = 6.0
HIGHEST_S: Final = 1800.0
_FINE_S: Final = np.unique(np.concatenate((np.arange(0, 60, 0.05), np.geomspace(60, 2 * HIGHEST_S, 6000))))
TIMEOUTS_S: Final = np.unique(np.concatenate((np.arange(6, 60, 0.1), np.geomspace(60, HIGHEST_S, 1500))))
"""Where the best timeout is looked for."""


@dataclass(frozen=True)
class Mixture:
    """A share for each of some frozen scipy distributions, in seconds."""

    name: str
    parts: tuple[tuple[float, Any], ...]
    scale: float = 1.0

    def scaled(self, factor: float) -> Mixture:
        return Mixture(self.name, self.parts, self.scale * factor)

    def survival(self, at_s: Floats) -> Floats:
        return np.asarray(sum(share * part.sf(at_s / self.scale) for share, part in self.parts))

    def sample(self, count: int, rng: np.random.Generator) -> Floats:
        which = rng.choice(len(self.parts), count, p=[share for share, _ in self.parts])
        drawn = [part.rvs(count, random_state=rng) for _, part in self.parts]
        return np.asarray(self.scale * np.choose(which, drawn))

    def mean_wait_s(self, until_s: Floats) -> Floats:
        return np.interp(until_s, _FINE_S, self._area)

    def cost(self, costs: Costs, timeout_s: Floats, restarts: float, lost: float) -> Floats:
        """The true J, in partition-seconds a month."""
        waits_s = self.mean_wait_s(timeout_s + costs.rebalance_s)
        rates = Rates(np.asarray(restarts), np.asarray(lost))
        return monthly_cost(costs, timeout_s, self.survival(timeout_s), waits_s, rates)

    @cached_property
    def _area(self) -> Floats:
        survival = self.survival(_FINE_S)
        steps = np.diff(_FINE_S) * (survival[1:] + survival[:-1]) / 2
        return np.concatenate(([0.0], np.cumsum(steps)))


def _log_normal(median_s: float, sigma: float) -> Any:
    return stats.lognorm(sigma, scale=median_s)


def _two_humps(second: float) -> tuple[tuple[float, Any], ...]:
    return ((1 - second, _log_normal(8.0, 0.3)), (second, _log_normal(90.0, 0.3)))


FAST: Final = Mixture("fast", ((1.0, stats.gamma(4.0, scale=1.0)),))
HEAVY: Final = Mixture("heavy", ((1.0, _log_normal(12.0, 1.0)),))
BIMODAL: Final = Mixture("bimodal", _two_humps(0.2))
YARDSTICK: Final = (FAST, HEAVY, BIMODAL)
OTHERS: Final = (
    Mixture("bimodal, 10 %", _two_humps(0.1)),
    Mixture("bimodal, 5 %", _two_humps(0.05)),
    Mixture("Weibull 0.7", ((1.0, stats.weibull_min(0.7, scale=12.0)),)),
    Mixture("Lomax 2.5", ((1.0, stats.lomax(2.5, scale=20.0)),)),
    Mixture(
        "three humps", ((0.6, _log_normal(5.0, 0.2)), (0.3, _log_normal(30.0, 0.4)), (0.1, stats.uniform(150, 150)))
    ),
)
"""The last one was added when the method was finished."""
