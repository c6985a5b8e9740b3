"""Numbers, durations and moments as people read them."""

from __future__ import annotations

import math

import pytest

from slackwater.pipeline.report.quantities import (
    compact_text,
    counted,
    duration_text,
    milliseconds_text,
    moment_text,
    number_text,
    share_text,
)


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (0, "0"),
        (0.0004, "< 0.001"),
        (-0.0004, "> −0.001"),  # noqa: RUF001 - a minus sign is meant
        (0.01234, "0.0123"),
        (1.5, "1.5"),
        (12.345, "12.3"),
        (99.949, "99.9"),
        (99.99, "100"),
        (812.6, "813"),
        (1_234_567.8, "1,234,568"),
        (-42, "−42"),  # noqa: RUF001
        (None, "–"),  # noqa: RUF001
        (math.inf, "–"),  # noqa: RUF001
        (math.nan, "–"),  # noqa: RUF001
    ],
)
def test_numbers(value: float | None, words: str) -> None:
    assert number_text(value) == words


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0, "0 s"),
        (0.25, "250 ms"),
        (1, "1 s"),
        (12.34, "12.3 s"),
        (59.94, "59.9 s"),
        (59.96, "1 min"),
        (60, "1 min"),
        (90, "1 min 30 s"),
        (3_599.7, "1 h"),
        (5_400, "1 h 30 min"),
        (86_400 * 2 + 3_600, "2 d 1 h"),
        (86_400 * 1_200, "1,200 d"),
        (-90, "−1 min 30 s"),  # noqa: RUF001
        (None, "–"),  # noqa: RUF001
    ],
)
def test_durations(seconds: float | None, words: str) -> None:
    assert duration_text(seconds).replace("\N{NARROW NO-BREAK SPACE}", " ") == words


def test_milliseconds_are_durations() -> None:
    assert milliseconds_text(45_000) == duration_text(45)
    assert milliseconds_text(None) == "\N{EN DASH}"


@pytest.mark.parametrize(("share", "words"), [(0, "0 %"), (0.25, "25 %"), (0.12345, "12.3 %"), (1, "100 %")])
def test_shares(share: float, words: str) -> None:
    assert share_text(share).replace("\N{NARROW NO-BREAK SPACE}", " ") == words


def test_moments_are_in_utc() -> None:
    assert moment_text(1_793_600_000).replace("\N{NARROW NO-BREAK SPACE}", " ") == "2 Nov 2026 06:13:20 UTC"


@pytest.mark.parametrize(("value", "words"), [(0, "0"), (950, "950"), (1_200, "1.2k"), (2e6, "2M"), (3.5e13, "35T")])
def test_axes_have_short_numbers(value: float, words: str) -> None:
    assert compact_text(value) == words


def test_one_is_not_many() -> None:
    assert counted(1, "restart").split("\N{NARROW NO-BREAK SPACE}") == ["1", "restart"]
    assert counted(1_200, "restart").split("\N{NARROW NO-BREAK SPACE}") == ["1,200", "restarts"]
