"""Places on axes, and their ticks."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from slackwater.pipeline.report.scales import (
    Durations,
    Linear,
    Scale,
    Share,
    durations_over,
    linear_to,
    moments_between,
    nice_step,
)

positive = st.floats(1e-3, 1e9)


@given(st.lists(positive, min_size=1), positive)
def test_every_value_is_inside_and_larger_ones_are_not_before_smaller(values: list[float], other: float) -> None:
    for scale in (linear_to(values), durations_over(values), moments_between(min(values), max(values))):
        places = [scale.place(value) for value in sorted([*values, other])]
        assert all(0 <= place <= 1 for place in places)
        assert places == sorted(places)


@given(st.lists(positive, min_size=1))
def test_axes_have_a_few_ticks_in_order_and_inside(values: list[float]) -> None:
    scales: tuple[Scale, ...] = (linear_to(values), durations_over(values), moments_between(min(values), max(values)))
    for scale in scales:
        places = [tick.place for tick in scale.ticks()]
        assert len(places) <= 8
        assert all(0 <= place <= 1 for place in places)
        assert all(one < other for one, other in pairwise(places))


def test_a_linear_scale_ends_at_a_round_number() -> None:
    scale = linear_to([3.0, 812.0])
    assert scale == Linear(1_000)
    assert [tick.label for tick in scale.ticks()] == ["0", "500", "1k"]


def test_a_linear_scale_of_nothing_has_a_height_all_the_same() -> None:
    assert linear_to([]) == linear_to([0.0]) == Linear(1)


def test_durations_are_logarithmic() -> None:
    scale = Durations(1, 100)
    assert [scale.place(value) for value in (0, 1, 10, 100, 1_000)] == pytest.approx([0, 0, 0.5, 1, 1])


def test_durations_have_ticks_that_clocks_know() -> None:
    labels = [tick.label.replace("\N{NARROW NO-BREAK SPACE}", " ") for tick in Durations(2, 700).ticks()]
    assert labels == ["3 s", "10 s", "30 s", "1 min", "3 min", "10 min"]


@pytest.mark.parametrize("values", [[], [0.0], [-5.0], [float("inf")]])
def test_durations_without_any_that_is_positive(values: list[float]) -> None:
    assert durations_over(values) == Durations(1, 1_800)


def test_one_duration_has_room_around_it() -> None:
    assert durations_over([10]) == Durations(5, 20)


def test_a_single_moment_has_a_minute_around_it() -> None:
    assert moments_between(100, 100).place(100) == 0.5


def test_days_and_hours() -> None:
    day_s = 86_400
    assert [tick.label[:1] for tick in moments_between(0, 5 * day_s).ticks()] == list("123456")
    assert [tick.label for tick in moments_between(0, day_s // 2).ticks()] == [
        "00:00",
        "03:00",
        "06:00",
        "09:00",
        "12:00",
    ]


@given(st.floats(0, 2e9), st.floats(0, 4e8))
@example(0.0, 86_400.0)
def test_moments_on_one_axis_have_labels_of_their_own(first_s: float, span_s: float) -> None:
    ticks = moments_between(first_s, first_s + span_s).ticks()
    assert len({tick.label for tick in ticks}) == len(ticks)


def test_shares_go_from_nothing_to_everything() -> None:
    assert [tick.place for tick in Share().ticks()] == [0, 0.25, 0.5, 0.75, 1]


@pytest.mark.parametrize(("span", "step"), [(1, 0.5), (7, 2), (10, 5), (1_000, 500), (0.04, 0.01)])
def test_steps_are_round(span: float, step: float) -> None:
    assert nice_step(span, 4) == pytest.approx(step)
