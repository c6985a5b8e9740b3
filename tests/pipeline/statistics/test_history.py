"""A history is checked and compressed, and says so."""

from __future__ import annotations

import numpy as np
import pytest

from slackwater.pipeline.statistics.history import MOST_POINTS, restarts_of, silences_of
from tests.pipeline.statistics.groups import history


def test_silences_beyond_the_highest_timeout_are_crashes_without_return() -> None:
    """No timeout could have waited for them, whether they came back in the end or not."""
    found = restarts_of(history([5.0, 7.0, 2_000.0, 90_000.0], returned=[True, False, True, False]), 1_800.0)
    assert found.lost == 2
    assert found.silences.at_s.tolist() == [5.0, 7.0]
    assert found.silences.censored.tolist() == [0.0, 1.0]


def test_impossible_silences_are_left_out_and_counted() -> None:
    found = restarts_of(history([-1.0, np.nan, np.inf, -np.inf, 5.0]), 1_800.0)
    assert (found.impossible, found.lost, found.silences.count) == (4, 0, 1.0)


def test_equal_silences_are_one_point() -> None:
    found = silences_of(np.array([5.0, 3.0, 5.0, 5.0]), np.array([True, True, False, True]))
    assert (found.at_s.tolist(), found.returned.tolist()) == ([3.0, 5.0], [1.0, 2.0])
    assert found.censored.tolist() == [0.0, 1.0]


def test_many_silences_are_rounded_up_by_half_a_percent_at_most() -> None:
    silence_s = np.random.default_rng(1).lognormal(2.5, 1.0, 50_000)
    found = silences_of(silence_s, np.ones(len(silence_s), dtype=np.bool_))
    rounded = np.repeat(found.at_s, found.returned.astype(int))
    assert len(found.at_s) <= MOST_POINTS
    assert found.count == len(silence_s)
    ratio = rounded / np.sort(silence_s)
    assert ratio.min() >= 1 - 1e-12
    assert ratio.max() <= 1.0051


def test_rows_that_do_not_belong_together_are_refused() -> None:
    with pytest.raises(ValueError, match="same length"):
        history([1.0, 2.0], returned=[True])


def test_planned_share_is_that_of_counted_restarts() -> None:
    found = restarts_of(history([5.0, 6.0, 9_000.0], planned=np.array([True, False, True])), 1_800.0)
    assert found.planned_share == 0.5


def test_restarts_that_were_counted_before_are_the_same_restarts() -> None:
    one_by_one = restarts_of(history([3.0, 3.0, 5.0, 9_000.0, np.nan]), 1_800.0)
    counted = restarts_of(history([3.0, 5.0, 9_000.0, np.nan], times=np.array([2.0, 1.0, 1.0, 1.0])), 1_800.0)
    assert counted.silences.returned.tolist() == one_by_one.silences.returned.tolist() == [2.0, 1.0]
    assert (counted.lost, counted.impossible) == (one_by_one.lost, one_by_one.impossible) == (1, 1)
