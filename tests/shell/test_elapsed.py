"""Nobody waits until a clock that was set back has caught up."""

from __future__ import annotations

import math

import pytest

from slackwater.shell.elapsed import earlier, elapsed_s


@pytest.mark.parametrize(("since", "now", "expected"), [(1.0, 4.0, 3.0), (4.0, 4.0, 0.0), (4.0, 1.0, math.inf)])
def test_how_long_ago(since: float, now: float, expected: float) -> None:
    assert elapsed_s(since, now) == expected


@pytest.mark.parametrize(("since", "now", "expected"), [(None, 4.0, 4.0), (1.0, 4.0, 1.0), (4.0, 1.0, 1.0)])
def test_since_when(since: float | None, now: float, expected: float) -> None:
    assert earlier(since, now) == expected
