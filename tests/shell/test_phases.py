"""Groups at rest have their turns apart from each other, each in its own period."""

from __future__ import annotations

from collections import Counter

from slackwater.core.pace import AT_REST_AGAIN_S
from slackwater.shell.phases import spread_s
from slackwater.shell.store import Key

KEYS = [Key("default", f"group-{number}") for number in range(6_000)]


def test_at_rest_each_comes_once_a_period_at_its_own_moment() -> None:
    for now in (0.0, 1_000_000.0, 1_764_000_000.3):
        first = spread_s(KEYS[0], AT_REST_AGAIN_S, now)
        assert 0 < first <= AT_REST_AGAIN_S
        assert abs(spread_s(KEYS[0], AT_REST_AGAIN_S, now + first + 0.01) - (AT_REST_AGAIN_S - 0.01)) < 0.001


def test_no_second_has_many_more_than_its_share() -> None:
    turns = Counter(int(spread_s(key, AT_REST_AGAIN_S, 1_000_000.0)) for key in KEYS)
    assert len(turns) == AT_REST_AGAIN_S
    assert max(turns.values()) < 2 * len(KEYS) / AT_REST_AGAIN_S


def test_what_is_waited_for_is_not_moved() -> None:
    assert [spread_s(KEYS[0], again_s, 1_000_000.0) for again_s in (0.0, 1.0, 30.0, 600.0)] == [0.0, 1.0, 30.0, 600.0]
