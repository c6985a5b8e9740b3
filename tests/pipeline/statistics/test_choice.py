"""When a timeout is called better than today's, and how it is written."""

from __future__ import annotations

import numpy as np
import pytest

from slackwater.pipeline.statistics.choice import Comparison, Estimate, comparison, in_whole_seconds


@pytest.mark.parametrize(
    ("saving", "confidence", "better"),
    [(2.0, 0.95, True), (1.9, 1.0, False), (50.0, 0.94, False), (-1.0, 1.0, False)],
)
def test_a_change_has_to_be_sure_and_worth_it(saving: float, confidence: float, better: bool) -> None:
    """At least 2 % of today's cost, in at least 95 % of the replicates: else it would come and go with the noise."""
    found = Comparison(Estimate(saving - 5, saving, saving + 5), today_cost=100.0, confidence=confidence)
    assert found.is_shown_better is better


def test_only_replicates_tell_how_sure_it_is_and_a_tie_is_no_win() -> None:
    target, today = np.array([0.0, 9.0, 10.0, 11.0, 9.0]), np.full(5, 10.0)
    found = comparison(target, today)
    assert (found.saving.value, found.today_cost, found.confidence) == (10.0, 10.0, 0.5)


@pytest.mark.parametrize(
    ("exact_s", "written_s"), [(20.2, 21.0), (21.0, 21.0), (20.9999999999, 21.0), (21.5, 21.5), (5.2, 5.2)]
)
def test_a_timeout_is_rounded_up_to_whole_seconds_where_that_is_allowed(exact_s: float, written_s: float) -> None:
    """Rounded down, the silence that it was chosen for would be an eviction. Allowed is 10 s to 21.5 s here."""
    assert in_whole_seconds(exact_s, 10.0, 21.5) == written_s
