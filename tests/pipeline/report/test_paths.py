"""Paths of SVG."""

from __future__ import annotations

from slackwater.pipeline.report.paths import band_path, line_path, step_path


def test_a_line() -> None:
    assert line_path([(0, 10), (500, 5.25), (1000, 0)]) == "M0 10L500 5.2L1000 0"


def test_a_gap_starts_a_new_line_and_a_lone_point_is_a_dot() -> None:
    assert line_path([(0, 1), (1, 1), None, None, (5, 2)]) == "M0 1L1 1M5 2h0"


def test_steps_are_level_until_the_next_point() -> None:
    assert step_path([(0, 0), (10, 5), (20, 9)]) == "M0 0L10 0L10 5L20 5L20 9"


def test_a_band_is_closed() -> None:
    assert band_path([(0, 9), (10, 9)], [(0, 1), (10, 1)]) == "M0 1L10 1L10 9L0 9Z"


def test_nothing_is_drawn_of_nothing() -> None:
    assert (line_path([]), line_path([None]), step_path([]), band_path([], [])) == ("", "", "", "")
