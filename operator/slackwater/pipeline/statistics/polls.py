"""`max.poll.interval.ms` and `max.poll.records` from what the members' clients said about their polls.

A window tells the average and the longest time between two polls in it. The interval has to outlast the longest times,
so only those are used: the time that windows exceed once a month in the whole group, with its 95 % upper bound, and
room beside it. A batch's time is told by windows as well: the longest time over the records of an average poll is the
slowest that a record was, as far as one can know.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from scipy.special import bdtrik

from slackwater.pipeline.statistics.arrays import Floats
from slackwater.pipeline.statistics.curve import fitted_curve
from slackwater.pipeline.statistics.history import DAYS_A_MONTH, PollWindows, silences_of

FEWEST_WINDOWS: Final = 30
MARGIN: Final = 1.5
"""Room above the bound: the machine of a bad day is not among the windows."""
BATCH_SHARE: Final = 0.5
"""Of the interval that a batch may take."""
_RECORD_QUANTILE: Final = 0.99
_SEARCH_POINTS: Final = 160
_REPLICATES: Final = 100
_LONGEST_S: Final = 86_400.0


@dataclass(frozen=True, slots=True)
class PollTimes:
    windows: int
    monthly_s: float
    """The longest time between two polls that the group reaches once a month: the estimate."""
    lower_s: float
    upper_s: float
    """Its 95 % interval."""


def poll_times(polls: PollWindows, observed_days: float, rng: np.random.Generator) -> PollTimes | None:
    """None where there are too few windows to say."""
    longest_s = _usable(polls.longest_ms) / 1000
    if len(longest_s) < FEWEST_WINDOWS or not observed_days > 0:
        return None
    curve = fitted_curve(silences_of(longest_s, np.ones(len(longest_s), dtype=np.bool_)), rng, _REPLICATES)
    # A history shorter than a month is not made to speak for windows that it never had more surely than it can.
    a_month = len(longest_s) * max(1.0, DAYS_A_MONTH / observed_days)
    points_s = np.geomspace(curve.threshold_s, max(_LONGEST_S, 2 * longest_s.max()), _SEARCH_POINTS)
    reached = np.argmax(curve.survival(points_s) <= 1 / a_month, axis=1)
    times_s = points_s[reached]
    lower_s, upper_s = np.quantile(times_s[1:], (0.025, 0.975))
    estimate_s = float(times_s[0])
    return PollTimes(len(longest_s), estimate_s, min(float(lower_s), estimate_s), max(float(upper_s), estimate_s))


def most_records(polls: PollWindows, interval_ms: float) -> tuple[int, int] | None:
    """The largest batch that stays within `BATCH_SHARE` of the interval, and how many windows say so; None where too
    few windows tell their records. The time of a record is the distribution-free 95 % bound of its 99 % quantile, or
    the longest seen where the windows are too few for one."""
    if len(polls.records) != len(polls.longest_ms):
        return None
    with np.errstate(divide="ignore", invalid="ignore"):
        per_record_ms = polls.longest_ms / polls.records
    per_record_ms = np.sort(_usable(per_record_ms[polls.records >= 1]))
    if len(per_record_ms) < FEWEST_WINDOWS:
        return None
    slowest_ms = per_record_ms[_upper_rank(len(per_record_ms), _RECORD_QUANTILE)]
    return max(1, int(BATCH_SHARE * interval_ms / slowest_ms)), len(per_record_ms)


def _upper_rank(count: int, quantile: float) -> int:
    """Index of the order statistic that lies above the quantile with 95 %; the last where none does."""
    return int(min(np.ceil(bdtrik(0.95, count, quantile)), count - 1))


def _usable(values: Floats) -> Floats:
    return values[np.isfinite(values) & (values > 0)]
