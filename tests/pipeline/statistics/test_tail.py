"""The tail is a survival curve, and so is what it is joined to."""

from __future__ import annotations

import numpy as np
import pytest

from slackwater.pipeline.statistics.curve import Curve, fitted_curve
from slackwater.pipeline.statistics.history import silences_of
from slackwater.pipeline.statistics.tail import fitted_weights, tail_family
from tests.pipeline.statistics.groups import two_humps


def curve_of(silence_s: list[float] | np.ndarray[tuple[int], np.dtype[np.float64]], *, away: int = 0) -> Curve:
    """The last `away` of them have not returned."""
    silences = np.asarray(silence_s, dtype=np.float64)
    returned = np.arange(len(silences)) < len(silences) - away
    return fitted_curve(silences_of(silences, returned), np.random.default_rng(0), replicates=20)


def test_each_tail_begins_at_one_and_falls() -> None:
    family = tail_family(8.0, 120.0)
    survival = family.survival(np.geomspace(8.0, 2_000.0, 300))
    assert survival[0] == pytest.approx(np.ones(family.size))
    assert (np.diff(survival, axis=0) <= 1e-15).all()


@pytest.mark.parametrize(("threshold_s", "longest_s"), [(8.0, 120.0), (0.05, 0.06), (3.0, 1_700.0)])
def test_area_is_the_integral_of_survival(threshold_s: float, longest_s: float) -> None:
    family = tail_family(threshold_s, longest_s)
    until_s = threshold_s + (longest_s - threshold_s) * np.array([0.0, 0.3, 2.0])
    for row, end_s in zip(family.area(until_s), until_s, strict=True):
        points_s = threshold_s + np.concatenate(([0.0], np.geomspace(1e-4 * threshold_s, 1.0 + end_s, 2_000)))
        points_s = np.append(points_s[points_s < end_s], end_s)
        middle = family.survival((points_s[1:] + points_s[:-1]) / 2)
        assert row == pytest.approx(np.diff(points_s) @ middle, rel=1e-3, abs=1e-9)


def test_weights_follow_the_likelihood_and_sum_to_one() -> None:
    likelihood = np.array([[0.9, 0.1], [0.8, 0.2]])
    weights = fitted_weights(likelihood, np.array([[30.0, 30.0], [0.0, 0.0]]), np.full((2, 2), 0.5))
    assert weights.sum(axis=1) == pytest.approx([1.0, 1.0])
    assert weights[0, 0] > 0.9
    assert weights[1] == pytest.approx([0.5, 0.5])


def test_beyond_the_longest_silence_something_is_left_and_it_shrinks_as_restarts_add_up() -> None:
    few, many = (curve_of(two_humps(count)) for count in (30, 3_000))
    beyond_s = np.array([400.0])
    assert 0 < many.survival(beyond_s)[0, 0] < few.survival(beyond_s)[0, 0] < 0.01


def test_second_hump_is_seen() -> None:
    """Between the humps S is flat at the share of the second; one generalised Pareto tail would slope through."""
    curve = curve_of(two_humps(300))
    assert curve.survival(np.array([20.0, 40.0]))[0] == pytest.approx([0.2, 0.2], abs=0.03)


@pytest.mark.parametrize("silence_s", [[5.0] * 12, [0.0] * 12, [0.0, *[3.0] * 11], [1e-9, 1_799.0], [7.0]])
def test_odd_histories_still_give_a_curve(silence_s: list[float]) -> None:
    curve = curve_of(silence_s)
    at_s = np.geomspace(0.01, 1_800.0, 200)
    survival, wait_s = curve.survival(at_s), curve.mean_wait_s(at_s)
    assert np.isfinite(survival).all()
    assert (survival >= 0).all()
    assert (survival <= 1 + 1e-12).all()
    assert (np.diff(survival, axis=1) <= 1e-12).all()
    assert (np.diff(wait_s, axis=1) >= -1e-9).all()


def test_members_still_away_raise_the_tail() -> None:
    silence_s = np.sort(two_humps(60))
    at_s = np.array([150.0])
    assert curve_of(silence_s, away=5).survival(at_s)[0, 0] > 1.5 * curve_of(silence_s).survival(at_s)[0, 0]
