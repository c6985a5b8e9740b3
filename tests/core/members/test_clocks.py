"""The clock rules, over plain numbers: each constant has a row on either side of it."""

from __future__ import annotations

import pytest

from slackwater.core.members.clocks import (
    backoff_left_s,
    certainly_before,
    latest_join,
    release_again_s,
    restart_again_s,
)


@pytest.mark.parametrize(
    ("earlier", "moment", "certain"),
    [(97.99, 100, True), (98, 100, False), (100, 102, False), (99, 102, True), (0, 102, True), (0, 102.1, False)],
    ids=["beyond the margin", "within it", "at once", "in the future of ours", "as far as it may be", "too far ahead"],
)
def test_what_is_certainly_before(earlier: float, moment: float, certain: bool) -> None:
    """It is 100 by our clock."""
    assert certainly_before(earlier, moment, 100) is certain


@pytest.mark.parametrize(
    ("moment", "reported_at", "certain"),
    [(100, 97, False), (100, 97.1, True), (97, 99, False), (97.1, 200, True), (102.1, 97.1, False)],
    ids=["reported before", "late enough", "reported late", "by a clock that was ahead", "and yet to come"],
)
def test_what_was_reported_has_come(moment: float, reported_at: float, certain: bool) -> None:
    """It is 100 by our clock, and was 95 then."""
    assert certainly_before(95, moment, 100, reported_at) is certain


FREE_AT = 100.0
JOINS: list[tuple[str, float, float | None, float | None, float]] = [
    ("it asked while the id was held", 90, 5, None, 103),
    ("as it would be slow today", 95, 4.5, None, 107),
    ("it would ask as the id comes free", 95, 5, None, 111),
    ("it asks when the id is free", 97, 10, None, 123),
    ("it asks at once", 99, 1, None, 107),
    ("it is known up to a minute", 90, 60, None, 216),
    ("and no further", 90, 60.1, 95, 110),
    ("nothing is known, Ready before", 90, None, 95, 110),
    ("nothing is known, Ready late", 90, None, 108, 118),
    ("nothing is known, not Ready", 90, None, None, 400),
    ("the same, started later", 110, None, None, 410),
]


@pytest.mark.parametrize(("started_at", "takes_s", "ready_at", "by"), [j[1:] for j in JOINS], ids=[j[0] for j in JOINS])
def test_when_a_process_is_back_at_the_latest(
    started_at: float, takes_s: float | None, ready_at: float | None, by: float
) -> None:
    assert latest_join(started_at, FREE_AT, takes_s, ready_at, rejoin_timeout_s=300) == by


def test_a_release_is_repeated_ever_more_seldom() -> None:
    assert [release_again_s(tries) for tries in range(1, 9)] == [2, 4, 8, 16, 32, 64, 64, 64]


def test_a_pod_is_restarted_ever_more_seldom() -> None:
    assert [restart_again_s(times) for times in range(1, 8)] == [30, 60, 120, 240, 480, 600, 600]


def test_how_long_the_kubelet_makes_a_container_wait() -> None:
    waits = {0: 10, 9: 1, 10: 10, 19: 1, 20: 20, 40: 40, 80: 80, 159: 1, 160: 140, 299: 1, 300: 0, 900: 0}
    assert {waited_s: backoff_left_s(waited_s) for waited_s in waits} == waits
