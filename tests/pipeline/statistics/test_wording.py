"""Quantities as a sentence has them."""

from __future__ import annotations

import pytest

from slackwater.pipeline.statistics.wording import amount, stretch

STRETCHES = {
    30.0: "30 days",
    1.0: "1 day",
    0.5: "12 hours",
    1 / 24: "1 hour",
    0.00212: "3.05 minutes",
    0.0: "0 minutes",
}
AMOUNTS = {4.549: "4.55", 78.0: "78", 2_259.7: "2,260", 0.0: "0"}


@pytest.mark.parametrize("days", STRETCHES)
def test_a_stretch_of_time_is_told_in_the_unit_that_suits_it(days: float) -> None:
    assert stretch(days) == STRETCHES[days]


@pytest.mark.parametrize("value", AMOUNTS)
def test_an_amount_has_three_digits(value: float) -> None:
    assert amount(value) == AMOUNTS[value]
