"""The cheapest session timeout between two bounds: exact, because J's shape is known piece by piece.

Below the tail's threshold S is a step function: between two silences J only grows, so that only the lower bound and
the silences themselves can be the minimum. Above it J is smooth: a grid finds its valleys, and each is narrowed down.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np

from slackwater.pipeline.statistics.arrays import Floats

_GRID_POINTS: Final = 160
_NARROWING_ROUNDS: Final = 4
_NARROWING_POINTS: Final = 17

Cost = Callable[[Floats], Floats]
"""J of each of an array of timeouts in seconds."""


def minimiser(
    cost: Cost,
    silences_s: Floats,
    threshold_s: float,
    lowest_s: float,
    highest_s: float,
    smooth_from_s: float | None = None,
) -> float:
    """The timeout in [lowest, highest] whose cost is least, in seconds; the shortest of equals.

    `silences_s` are the steps of S up to `threshold_s`, ascending; beyond it, and `highest_s`, they do not matter. From
    `smooth_from_s` on valleys are looked for as well: where S has both; None: from the threshold.
    """
    steps = silences_s[(silences_s > lowest_s) & (silences_s <= min(threshold_s, highest_s))]
    candidates = np.concatenate(([lowest_s], steps, [highest_s]))
    from_s = max(lowest_s, threshold_s if smooth_from_s is None else smooth_from_s)
    if from_s < highest_s:
        candidates = np.concatenate((candidates, _valleys(cost, from_s, highest_s)))
    candidates.sort()
    return float(candidates[np.argmin(cost(candidates))])


def _valleys(cost: Cost, from_s: float, to_s: float) -> Floats:
    """A point near the bottom of each valley of a smooth cost between the two."""
    grid_s = np.geomspace(from_s, to_s, _GRID_POINTS)
    grid_s[0], grid_s[-1] = from_s, to_s
    found = cost(grid_s)
    padded = np.concatenate(([np.inf], found, [np.inf]))
    lowest = np.flatnonzero((found <= padded[:-2]) & (found <= padded[2:]))
    left, right = grid_s[np.maximum(lowest - 1, 0)], grid_s[np.minimum(lowest + 1, _GRID_POINTS - 1)]
    for _ in range(_NARROWING_ROUNDS):
        inside_s = np.linspace(left, right, _NARROWING_POINTS, axis=1)
        best = cost(inside_s.ravel()).reshape(inside_s.shape).argmin(axis=1)
        rows = np.arange(len(inside_s))
        left = inside_s[rows, np.maximum(best - 1, 0)]
        right = inside_s[rows, np.minimum(best + 1, _NARROWING_POINTS - 1)]
    return np.asarray((left + right) / 2)
