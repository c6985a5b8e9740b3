"""The minimiser is exact: nothing else is cheaper, looked at one by one."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.brute_force import counted_minimum_is_exact, equal_histories, modelled_minimum_is_exact, random_history
from slackwater.pipeline.statistics.arrays import Floats
from slackwater.pipeline.statistics.minimum import minimiser


@pytest.mark.parametrize("seed", range(8))
def test_equals_brute_force(seed: int) -> None:
    history = random_history(np.random.default_rng(seed))
    assert counted_minimum_is_exact(history)
    assert modelled_minimum_is_exact(history, seed)


@pytest.mark.slow
@pytest.mark.long
def test_equals_brute_force_in_a_thousand_histories() -> None:
    assert equal_histories(1_000) == 1_000


def test_the_shortest_of_equals_is_taken() -> None:
    assert minimiser(np.zeros_like, np.array([7.0, 9.0]), 20.0, 6.0, 30.0) == 6.0


def test_bounds_hold_even_where_they_meet() -> None:
    assert minimiser(lambda at_s: -at_s, np.array([7.0]), 5.0, 12.0, 12.0) == 12.0


def test_the_deeper_of_two_valleys_is_found() -> None:
    def cost(at_s: Floats) -> Floats:
        return np.minimum((at_s - 10) ** 2, (at_s - 200) ** 2 / 400 - 1)

    assert minimiser(cost, np.empty(0), 6.0, 6.0, 1_800.0) == pytest.approx(200.0, rel=1e-3)
