"""Durations are read and written in whole units."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slackwater.api.durations import format_duration, parse_duration_ms


@pytest.mark.parametrize(
    ("text", "duration_ms"),
    [("45s", 45_000), ("5m", 300_000), ("1h30m", 5_400_000), ("500ms", 500), ("1h0m2s3ms", 3_602_003), ("0s", 0)],
)
def test_a_duration_is_its_milliseconds(text: str, duration_ms: int) -> None:
    assert parse_duration_ms(text) == duration_ms


@pytest.mark.parametrize("text", ["", "45", "s", "1.5s", "-1s", "1s1m", "1 s", "1d", "45S", "1s\n", "1000h"])
def test_what_is_no_duration_is_refused_with_examples(text: str) -> None:
    with pytest.raises(ValueError, match="such as 45s"):
        parse_duration_ms(text)


@given(st.integers(min_value=0, max_value=999 * 3_600_000))
def test_what_is_written_is_read_back(duration_ms: int) -> None:
    assert parse_duration_ms(format_duration(duration_ms)) == duration_ms
