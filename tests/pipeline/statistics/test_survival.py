"""Kaplan-Meier is the same as that of a library that everybody trusts."""

from __future__ import annotations

import numpy as np
import pytest
from lifelines import KaplanMeierFitter

from slackwater.pipeline.statistics.arrays import Bools, Floats
from slackwater.pipeline.statistics.history import Silences, silences_of
from slackwater.pipeline.statistics.survival import kaplan_meier


def random_silences(seed: int) -> tuple[Floats, Bools]:
    """With ties and censoring, of many or few, at the end or not at all."""
    rng = np.random.default_rng(seed)
    silence_s = rng.lognormal(2, 1, rng.integers(1, 200))
    if seed % 2:
        silence_s = np.ceil(silence_s / 4) * 4
    return silence_s, rng.random(len(silence_s)) < rng.choice([0.3, 0.8, 1.0])


@pytest.mark.parametrize("seed", range(24))
def test_equals_lifelines(seed: int) -> None:
    silence_s, returned = random_silences(seed)
    theirs = KaplanMeierFitter().fit(silence_s, returned)
    ours = kaplan_meier(silences_of(silence_s, returned))
    assert theirs.survival_function_at_times(ours.at_s).to_numpy() == pytest.approx(ours.survival, abs=1e-12)
    inside = (ours.survival > 0) & (ours.survival < 1)
    bounds = theirs.confidence_interval_.loc[ours.at_s[inside]].to_numpy()
    assert bounds[:, 0] == pytest.approx(ours.lower[inside], abs=1e-9)
    assert bounds[:, 1] == pytest.approx(ours.upper[inside], abs=1e-9)


def test_a_member_that_is_still_away_counts_while_it_was_seen() -> None:
    """2 of 3 are still silent after 1 s; the one watched for 2 s says nothing about later; so 1 of 1 after 3 s."""
    found = kaplan_meier(silences_of(np.array([1.0, 2.0, 3.0]), np.array([True, False, True])))
    assert found.survival == pytest.approx([2 / 3, 2 / 3, 0.0])


def test_nothing_is_known_of_the_interval_where_nobody_is_left() -> None:
    found = kaplan_meier(silences_of(np.array([1.0, 2.0]), np.array([True, True])))
    assert np.isnan(found.lower[-1])
    assert np.isnan(found.upper[-1])


def test_what_pools_lend_may_be_next_to_nothing() -> None:
    """And says next to nothing: the interval is as wide as one can be. numpy's warning of it would be an error here."""
    found = kaplan_meier(Silences(np.array([1.0, 2.0]), np.array([1e-13, 5.0]), np.zeros(2)))
    assert (found.lower[0], found.upper[0]) == (0.0, pytest.approx(1.0))
