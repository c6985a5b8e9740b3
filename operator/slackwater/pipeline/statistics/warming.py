"""How long partitions take to warm up with a new owner, from what the operator measured, and how sure that is.

Measured is the time from a rebalance until the lag is back where it was before. Waves of traffic make single ones much
too long, or hide them; so the median counts, and only where there are a few.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from slackwater.pipeline.statistics.arrays import Floats

FEWEST_WARM_UPS: Final = 3
"""Measured ones, below which nothing is taken from them."""
_OF_A_MEDIAN: Final = 1.2533
"""Times a mean's standard error."""
_LEAST_SPREAD: Final = 0.05
MOST_SPREAD: Final = 1.0


@dataclass(frozen=True, slots=True)
class WarmUp:
    seconds: float
    spread: float
    """Relative standard error of `seconds`."""


NOT_KNOWN: Final = WarmUp(0.0, 0.0)


def warmed_up(measured_s: Floats) -> WarmUp:
    """NOT_KNOWN where there are too few. One that did not end while it was watched counts as long as that was."""
    usable = measured_s[np.isfinite(measured_s) & (measured_s >= 0)]
    if len(usable) < FEWEST_WARM_UPS:
        return NOT_KNOWN
    first, median, third = (float(each) for each in np.quantile(usable, (0.25, 0.5, 0.75)))
    return spread_of(first, median, third, len(usable))


def spread_of(first_s: float, median_s: float, third_s: float, count: int) -> WarmUp:
    """From the quartiles of `count` measured ones, which no outlier moves."""
    if count < FEWEST_WARM_UPS or not median_s > 0:
        return NOT_KNOWN
    error = _OF_A_MEDIAN * (third_s - first_s) / 1.349 / np.sqrt(count)
    return WarmUp(median_s, float(min(max(error / median_s, _LEAST_SPREAD), MOST_SPREAD)))
