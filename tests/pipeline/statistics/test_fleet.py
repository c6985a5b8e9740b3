"""What a fleet lends to a group that has restarted seldom: the shapes of others, at the group's own pace."""

from __future__ import annotations

import numpy as np
import pytest

from slackwater.pipeline.statistics.arrays import Floats
from slackwater.pipeline.statistics.fleet import (
    EDGES_S,
    FEWEST_SHAPES,
    Fleet,
    GridCurve,
    fleet_of,
    loan_of,
    shape_of,
)
from slackwater.pipeline.statistics.history import Silences, silences_of
from tests.pipeline.statistics.groups import two_humps


def silences(silence_s: Floats) -> Silences:
    return silences_of(silence_s, np.ones(len(silence_s), dtype=np.bool_))


def fleet(groups: int = 8, pace: float = 1.0) -> Fleet:
    shapes = (
        shape_of(silences(pace * (1 + number / 4) * two_humps(300, seed=number + 50))) for number in range(groups)
    )
    return fleet_of(shape for shape in shapes if shape is not None)


def lent(own: Silences, among: Fleet | None) -> float:
    loan = loan_of(own, among, 1.0, 20, np.random.default_rng(1))
    return 0.0 if loan is None else loan.share


def test_a_shape_is_relative_to_the_groups_own_median() -> None:
    """A group that is ten times as slow has the same shape, to a step of the grid."""
    quick, slow = shape_of(silences(two_humps(300))), shape_of(silences(10 * two_humps(300)))
    assert quick is not None
    assert slow is not None
    assert np.abs(quick.survival - slow.survival).max() < 0.1
    assert quick.restarts == slow.restarts == 300


def test_too_few_restarts_have_no_shape() -> None:
    assert shape_of(silences(two_humps(19))) is None


def test_a_group_like_the_others_believes_the_fleet_whatever_its_pace() -> None:
    own = silences(5 * two_humps(25, seed=3))
    assert lent(own, fleet()) > 0.6
    loan = loan_of(own, fleet(), 1.0, 20, np.random.default_rng(1))
    assert loan is not None
    seventh_minute = loan.curve.survival(np.array([300.0]))[0, 0]
    assert 0.1 < seventh_minute < 0.3  # the second hump, which is a fifth, at five times 90 s


def test_a_group_unlike_all_others_falls_back_to_its_own() -> None:
    own = silences(np.random.default_rng(4).gamma(60.0, 0.2, 60))
    assert lent(own, fleet()) < 0.3


@pytest.mark.parametrize("restarts", [4, 1_200])
def test_nothing_is_lent_where_the_pace_is_a_guess_or_the_group_knows_better(restarts: int) -> None:
    assert loan_of(silences(two_humps(restarts)), fleet(), 1.0, 20, np.random.default_rng(1)) is None


def test_a_fleet_of_a_few_groups_is_no_fleet() -> None:
    own = silences(two_humps(25))
    assert loan_of(own, fleet(FEWEST_SHAPES - 1), 1.0, 20, np.random.default_rng(1)) is None
    assert loan_of(own, None, 1.0, 20, np.random.default_rng(1)) is None


def test_the_area_of_a_grid_curve_is_the_integral_of_its_survival() -> None:
    curve = GridCurve(np.exp(-EDGES_S / 20.0)[None])
    at_s = np.array([1.0, 7.3, 45.0, 300.0])
    assert curve.survival(at_s)[0] == pytest.approx(np.exp(-at_s / 20), rel=2e-3, abs=1e-7)
    assert curve.mean_wait_s(at_s)[0] == pytest.approx(20 * (1 - np.exp(-at_s / 20)), rel=3e-3)
