"""A history is cut where its restarts became others, and only there."""

from __future__ import annotations

import numpy as np
import pytest

from slackwater.pipeline.statistics.arrays import Floats
from slackwater.pipeline.statistics.breaks import since_last_break
from slackwater.pipeline.statistics.history import Absences
from tests.pipeline.statistics.groups import two_humps

YEAR = 360.0


def told(silence_s: Floats, day: Floats, days: float = YEAR) -> Absences:
    return Absences(silence_s, np.ones(len(silence_s), dtype=np.bool_), days, batch=day)


def days(count: int, first: float, last: float) -> Floats:
    return np.round(np.linspace(first, last, count))


def test_a_slow_kind_that_has_disappeared_is_forgotten() -> None:
    before, after = two_humps(200), two_humps(60, second=0.0)
    whole = told(np.concatenate((before, after)), np.concatenate((days(200, -359, -80), days(60, -79, 0))))
    found = since_last_break(whole)
    assert found.days is not None
    assert found.days == pytest.approx(80, abs=12)
    assert found.history.observed_days == found.days
    assert found.history.silence_s.max() < 60
    assert found.history.batch is not None
    assert found.history.batch.min() >= -found.days


def test_what_does_not_change_is_hardly_ever_cut() -> None:
    """Of forty histories of a year, by chance, one or two."""
    found = [since_last_break(told(two_humps(240, seed), days(240, -359, 0))).days for seed in range(40)]
    assert sum(each is not None for each in found) <= 3


@pytest.mark.parametrize("seed", range(10))
def test_rollouts_that_differ_from_one_another_are_no_break(seed: int) -> None:
    """Each of 24 rollouts has a pace of its own, the last ones as well."""
    paces = np.exp(np.random.default_rng(seed).normal(0, 0.6, 24))
    silence_s = two_humps(240, seed) * np.repeat(paces, 10)
    assert since_last_break(told(silence_s, np.repeat(days(24, -359, 0), 10))).days is None


def test_a_few_restarts_after_a_change_are_too_few_to_tell() -> None:
    silence_s = np.concatenate((two_humps(200), np.full(3, 300.0)))
    assert since_last_break(told(silence_s, np.concatenate((days(200, -359, -10), days(3, -9, 0))))).days is None


def test_restarts_that_nobody_can_place_in_time_are_all_kept() -> None:
    silence_s = np.concatenate((two_humps(200), two_humps(60, second=0.0)))
    day = np.concatenate((days(200, -359, -80), days(60, -79, 0)))
    day[3] = np.nan
    assert since_last_break(told(silence_s, day)).days is None
    assert since_last_break(Absences(silence_s, np.ones(260, dtype=np.bool_), YEAR)).days is None
