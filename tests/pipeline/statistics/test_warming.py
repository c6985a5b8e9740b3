"""How long partitions take to warm up, from what was measured."""

from __future__ import annotations

import numpy as np
import pytest

from slackwater.pipeline.statistics.warming import MOST_SPREAD, NOT_KNOWN, warmed_up
from tests.pipeline.statistics.groups import settings


def test_the_median_counts_and_one_wave_of_traffic_does_not_move_it() -> None:
    found = warmed_up(np.array([50.0, 55.0, 60.0, 65.0, 1_800.0]))
    assert found.seconds == 60.0
    assert 0.05 <= found.spread < 0.2


@pytest.mark.parametrize("measured_s", [[], [60.0, 60.0], [np.nan, 60.0, 60.0], [0.0, 0.0, 0.0]])
def test_too_few_tell_nothing(measured_s: list[float]) -> None:
    assert warmed_up(np.array(measured_s)) == NOT_KNOWN


def test_the_more_were_measured_the_surer_it_is() -> None:
    rng = np.random.default_rng(1)
    few, many = (warmed_up(60 * np.exp(rng.normal(0, 0.4, count))).spread for count in (5, 100))
    assert many < few <= MOST_SPREAD


def test_only_the_part_of_an_eviction_that_is_warming_up_is_unsure() -> None:
    """K = 2·30·3 + 2·5·9 = 180 + 90: a third of it."""
    assert settings(warm_up_s=9.0, warm_up_spread=0.3).costs.eviction_spread == pytest.approx(0.1)
    assert settings(warm_up_s=9.0).costs.eviction_spread == 0.0
