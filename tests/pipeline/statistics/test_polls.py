"""max.poll.interval.ms and max.poll.records, from windows of polls."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from slackwater.api.recommendation import RecommendedSetting
from slackwater.api.timeouts import Objective
from slackwater.pipeline.statistics.history import PollWindows
from slackwater.pipeline.statistics.polls import most_records, poll_times
from slackwater.pipeline.statistics.recommend import recommend_group
from tests.pipeline.statistics.groups import CLASSIC, history, settings


def windows(count: int, slowest_s: float = 1.0, records: float = 100.0, seed: int = 1) -> PollWindows:
    """The longest time of each window is exponential, `slowest_s` on average."""
    rng = np.random.default_rng(seed)
    longest_ms = 1_000 * rng.exponential(slowest_s, count)
    return PollWindows(np.full(count, 60.0), longest_ms, np.full(count, records))


def advice(polls: PollWindows, **changes: int) -> tuple[RecommendedSetting | None, RecommendedSetting | None]:
    what = history(np.full(3, 5.0), days=7.0, polls=polls)
    found = recommend_group(what, settings(**changes), CLASSIC, Objective(), seed=1)
    return found.max_poll_interval_ms, found.max_poll_records


def test_the_monthly_longest_is_found_within_its_interval() -> None:
    """5,000 windows in 7 days are 21,429 a month: an exponential of 1 s exceeds ln(21,429) = 10 s once."""
    found = poll_times(windows(5_000), 7.0, np.random.default_rng(1))
    assert found is not None
    assert found.lower_s <= found.monthly_s <= found.upper_s
    assert 10 < found.monthly_s < 25  # on the safe side: more than half of it is what was never seen


def test_how_quick_the_quick_polls_were_does_not_matter() -> None:
    """The tail of 301 windows is their slower half, and not even the replicates' random numbers depend on the rest."""
    polls = windows(301)
    quicker_ms = np.where(polls.longest_ms < np.quantile(polls.longest_ms, 0.4), 1.0, polls.longest_ms)
    quicker = replace(polls, longest_ms=quicker_ms)
    assert poll_times(polls, 7.0, np.random.default_rng(1)) == poll_times(quicker, 7.0, np.random.default_rng(1))


def test_slow_polls_get_a_longer_interval() -> None:
    interval, _ = advice(windows(1_000, slowest_s=60.0))
    assert interval is not None
    assert interval.target > 500_000
    assert "leaves room" in interval.why


def test_quick_polls_get_a_shorter_one_but_never_below_the_session() -> None:
    interval, _ = advice(windows(1_000, slowest_s=0.05), session_timeout_ms=45_000)
    assert interval is not None
    assert interval.target == 45_000


def test_an_interval_that_fits_is_kept() -> None:
    interval, _ = advice(windows(1_000, slowest_s=3.0))
    assert interval is not None
    assert interval.target == interval.current == 300_000


def test_records_are_cut_to_what_fits_into_half_of_the_interval() -> None:
    """A record takes 60 s / 100 on average, at its slowest several times that."""
    polls = windows(1_000, slowest_s=60.0)
    interval, records = advice(polls, max_poll_records=5_000)
    assert interval is not None
    assert records is not None
    slowest_ms = np.quantile(polls.longest_ms / polls.records, 0.99)
    assert records.target * slowest_ms <= interval.target / 2
    assert records.target < 5_000
    assert "5000 records would not" in records.why


def test_records_that_fit_are_kept() -> None:
    _, records = advice(windows(1_000, slowest_s=0.1), max_poll_records=500)
    assert records is not None
    assert records.target == 500
    assert records.upper > 500


def test_too_few_windows_say_nothing() -> None:
    assert advice(windows(29)) == (None, None)
    assert poll_times(windows(100), float("nan"), np.random.default_rng(1)) is None


def test_windows_without_records_or_with_impossible_times_are_left_out() -> None:
    polls = windows(100)
    unknown = PollWindows(polls.window_s, polls.longest_ms, np.full(100, np.nan))
    assert most_records(unknown, 300_000) is None
    broken = PollWindows(polls.window_s, np.full(100, np.nan), polls.records)
    assert poll_times(broken, 7.0, np.random.default_rng(1)) is None


@pytest.mark.parametrize("count", [30, 298, 3_000])
def test_the_bound_of_a_record_is_above_its_quantile(count: int) -> None:
    """Distribution-free where there are enough windows, else the slowest that was seen."""
    found = most_records(windows(count), 300_000)
    assert found is not None
    slowest_ms = 150_000 / (found[0] + 1)
    per_record_ms = windows(count).longest_ms / 100
    assert slowest_ms <= per_record_ms.max()
    assert slowest_ms >= 0.99 * np.quantile(per_record_ms, 0.99)
