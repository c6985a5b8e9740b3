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
from slackwater.pipeline.statistics.curve import fitted_curve, threshold_of
from slackwater.pipeline.statistics.history import DAYS_A_MONTH, PollCounts, PollWindows, Silences, silences_of
from slackwater.pipeline.statistics.survival import survival_of

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


def poll_times(polls: PollWindows | PollCounts, observed_days: float, rng: np.random.Generator) -> PollTimes | None:
    """None where there are too few windows to say."""
    counts = poll_counts(polls)
    longest_s, windows = _usable(counts.longest_ms / 1000, counts.windows)
    seen = float(windows.sum())
    if seen < FEWEST_WINDOWS or not observed_days > 0:
        return None
    times = silences_of(longest_s, np.ones(len(longest_s), dtype=np.bool_), windows)
    curve = fitted_curve(_from_threshold(times), rng, _REPLICATES)
    # A history shorter than a month is not made to speak for windows that it never had more surely than it can.
    a_month = seen * max(1.0, DAYS_A_MONTH / observed_days)
    points_s = np.geomspace(curve.threshold_s, max(_LONGEST_S, 2 * longest_s.max()), _SEARCH_POINTS)
    reached = np.argmax(curve.survival(points_s) <= 1 / a_month, axis=1)
    times_s = points_s[reached]
    lower_s, upper_s = np.quantile(times_s[1:], (0.025, 0.975))
    estimate_s = float(times_s[0])
    return PollTimes(int(seen), estimate_s, min(float(lower_s), estimate_s), max(float(upper_s), estimate_s))


def most_records(polls: PollWindows | PollCounts, interval_ms: float) -> tuple[int, int] | None:
    """The largest batch that stays within `BATCH_SHARE` of the interval, and how many windows say so; None where too
    few windows tell their records. The time of a record is the distribution-free 95 % bound of its 99 % quantile, or
    the longest seen where the windows are too few for one."""
    counts = poll_counts(polls)
    record_ms, windows = _usable(counts.record_ms, counts.record_windows)
    seen = int(windows.sum())
    if seen < FEWEST_WINDOWS:
        return None
    order = np.argsort(record_ms)
    up_to = np.cumsum(windows[order])
    slowest_ms = record_ms[order][np.searchsorted(up_to, _upper_rank(seen, _RECORD_QUANTILE), side="right")]
    return max(1, int(BATCH_SHARE * interval_ms / slowest_ms)), seen


def poll_counts(polls: PollWindows | PollCounts) -> PollCounts:
    """Windows, each counted once; what is counted already as it is."""
    if isinstance(polls, PollCounts):
        return polls
    some = polls.records >= 1 if len(polls.records) == len(polls.longest_ms) else np.zeros(0, dtype=np.bool_)
    record_ms = polls.longest_ms[some] / polls.records[some] if len(some) else np.empty(0)
    return PollCounts(polls.longest_ms, np.ones(len(polls.longest_ms)), record_ms, np.ones(len(record_ms)))


def _from_threshold(times: Silences) -> Silences:
    """The same with all that is not in the tail in one place: nobody asks what is below it, and the weight of many
    windows together is a Gamma variable as well."""
    threshold_s = threshold_of(times, survival_of(times.returned, times.censored))
    below = int(np.searchsorted(times.at_s, threshold_s, side="right"))
    first = max(below - 1, 0)
    returned, censored = (
        np.append(each[: first + 1].sum(), each[first + 1 :]) for each in (times.returned, times.censored)
    )
    return Silences(times.at_s[first:], returned, censored)


def _upper_rank(count: int, quantile: float) -> int:
    """Index of the order statistic that lies above the quantile with 95 %; the last where none does."""
    return int(min(np.ceil(bdtrik(0.95, count, quantile)), count - 1))


def _usable(values: Floats, times: Floats) -> tuple[Floats, Floats]:
    usable = np.isfinite(values) & (values > 0)
    return values[usable], times[usable]
