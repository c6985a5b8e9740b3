"""Similar groups lend, less to those that need less, and nothing to those that are different."""

from __future__ import annotations

import numpy as np
import pytest

from slackwater.pipeline.statistics.arrays import Floats
from slackwater.pipeline.statistics.history import Silences, silences_of
from slackwater.pipeline.statistics.pool import BINS, LENT, Pool, pool_of, sketch_of, with_loan
from tests.pipeline.statistics.groups import two_humps


def silences(silence_s: Floats) -> Silences:
    return silences_of(silence_s, np.ones(len(silence_s), dtype=np.bool_))


def pool(groups: int = 8) -> Pool:
    return pool_of(sketch_of(silences(two_humps(300, seed))) for seed in range(10, 10 + groups))


def test_a_sketch_is_of_bounded_size_and_adds_up() -> None:
    whole, parts = two_humps(1_000), np.split(two_humps(1_000), 4)
    added = sum(sketch_of(silences(part)).returned for part in parts)
    assert len(sketch_of(silences(whole)).returned) == BINS
    assert added == pytest.approx(sketch_of(silences(whole)).returned)


def test_the_loan_shrinks_as_own_restarts_add_up() -> None:
    lent = [with_loan(silences(two_humps(count)), pool(), 1_800.0)[1] for count in (10, 30, 300)]
    assert lent == pytest.approx([LENT * LENT / (LENT + count) for count in (10, 30, 300)], rel=0.1)


def test_a_loan_brings_the_hump_that_was_not_seen_yet() -> None:
    """At the borrower's own pace: its pods take twice as long as the lenders'."""
    own = silences(2 * two_humps(12, second=0.0))
    joined, lent = with_loan(own, pool(), 1_800.0)
    hump = (joined.at_s > 60) & (joined.at_s < 400)
    assert own.at_s.max() < 60
    assert joined.returned[hump].sum() / lent == pytest.approx(0.2, abs=0.06)


def test_a_group_that_contradicts_the_pool_borrows_nothing() -> None:
    own = silences(np.random.default_rng(1).gamma(4.0, 1.0, 200))
    assert with_loan(own, pool(), 1_800.0) == (own, 0.0)


def test_no_pool_an_empty_pool_and_too_few_of_ones_own_lend_nothing() -> None:
    own = silences(two_humps(20))
    assert with_loan(own, None, 1_800.0)[1] == 0.0
    assert with_loan(own, pool_of([]), 1_800.0)[1] == 0.0
    assert with_loan(silences(two_humps(4)), pool(), 1_800.0)[1] == 0.0


def test_a_large_group_does_not_drown_the_others() -> None:
    large, small = (sketch_of(silences(two_humps(count))) for count in (100_000, 100))
    assert pool_of([large, small]).returned.sum() == pytest.approx(200.0)
