"""When a timeout is called better than today's, and how it is written."""

from __future__ import annotations

import numpy as np
import pytest

from slackwater.pipeline.statistics.choice import (
    Comparison,
    Estimate,
    _undecided,
    comparison,
    in_whole_seconds,
    sureness,
)


@pytest.mark.parametrize(
    ("saving", "harmless", "change_cost", "better"),
    [
        (0.5, 0.8, 0.0, True),
        (0.4, 1.0, 0.0, False),
        (50.0, 0.79, 0.0, False),
        (-1.0, 1.0, 0.0, False),
        (3.0, 1.0, 2.0, True),
        (3.0, 1.0, 2.6, False),
    ],
)
def test_a_change_has_to_pay_and_to_do_no_harm(
    saving: float, harmless: float, change_cost: float, better: bool
) -> None:
    """More than what it costs itself, and no harm in at least 80 % of the replicates."""
    found = Comparison(Estimate(saving - 5, saving, saving + 5), 100.0, harmless, change_cost)
    assert found.is_shown_better is better


def test_only_replicates_tell_how_sure_it_is_and_a_tie_does_no_harm() -> None:
    target, today = np.array([0.0, 9.0, 10.0, 11.0, 10.3]), np.full(5, 10.0)
    found = comparison(target, today)
    assert (found.saving.value, found.today_cost, found.harmless) == (10.0, 10.0, 0.5)


def test_while_little_is_known_a_change_has_to_be_surer() -> None:
    """A group that is looked at every week has many chances to be wrong."""
    assert (sureness(59.9), sureness(60.0)) == (0.95, 0.8)
    sure, unsure = (Comparison(Estimate(1, 9, 20), 100.0, 0.9, 0.0, sureness(count)) for count in (300, 30))
    assert (sure.is_shown_better, unsure.is_shown_better) == (True, False)


@pytest.mark.parametrize(
    ("exact_s", "written_s"), [(20.2, 21.0), (21.0, 21.0), (20.9999999999, 21.0), (21.5, 21.5), (5.2, 5.2)]
)
def test_a_timeout_is_rounded_up_to_whole_seconds_where_that_is_allowed(exact_s: float, written_s: float) -> None:
    """Rounded down, the silence that it was chosen for would be an eviction. Allowed is 10 s to 21.5 s here."""
    assert in_whole_seconds(exact_s, 10.0, 21.5) == written_s


def test_the_stretch_around_the_target_ends_where_another_is_shown_to_be_worse() -> None:
    """60 s is no part of it, though nothing is shown of 60 s: it lies beyond 50 s, which is worse."""
    costlier_in = {10.0: 20, 20.0: 18, 30.0: 0, 40.0: 10, 50.0: 19, 60.0: 4}
    cost = np.stack([np.arange(20) < count for count in costlier_in.values()], axis=1).astype(np.float64)
    assert _undecided(np.array(list(costlier_in)), cost, np.zeros(20), 30.0) == (20.0, 40.0)
