"""Polls as counts: exact until there are many, then on the grid of `statistics.history`, as Spark counts them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

import numpy as np

from slackwater.pipeline.statistics.arrays import Floats
from slackwater.pipeline.statistics.history import MOST_POINTS, lengths_of, steps_of


@dataclass(slots=True)
class Tally:
    """One quantity of one group. `grid_from`: where its grid begins."""

    grid_from: float
    exact: Counter[float] = field(default_factory=Counter)
    steps: Counter[float] = field(default_factory=Counter)
    seen: int = 0

    def add(self, value: float) -> None:
        self.seen += 1
        if self.seen <= MOST_POINTS:
            self.exact[value] += 1
            return
        if self.exact:
            self.steps = self._gridded(self.exact)
            self.exact = Counter()
        self.steps[self._step(value)] += 1

    def counts(self) -> tuple[Floats, Floats]:
        """Values, ascending, and how often there was each."""
        of = self.steps or self.exact
        keys = sorted(of)
        found = np.array(keys, dtype=np.float64)
        times = np.array([of[key] for key in keys], dtype=np.float64)
        return (lengths_of(found, self.grid_from) if self.steps else found), times

    def _gridded(self, exact: Counter[float]) -> Counter[float]:
        found: Counter[float] = Counter()
        for value, times in exact.items():
            found[self._step(value)] += times
        return found

    def _step(self, value: float) -> float:
        return float(steps_of(np.array([value]), self.grid_from)[0])
