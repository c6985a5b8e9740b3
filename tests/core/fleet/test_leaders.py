"""Never over the budget, whoever leads: the product's allocator, explored; and what weaker rules let happen.

The weaker rules have to break, or the exploration could not tell.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.core.fleet.leaders import Fleet, Rule

MOST = 2_000_000
LARGE = [Fleet(groups=3, limit=2, leaders=3), Fleet(groups=3, limit=1, leaders=3, pods=2), Fleet(4, limit=1, leaders=3)]


@pytest.mark.parametrize(
    "fleet",
    [
        Fleet(groups=2, limit=1, leaders=2),
        Fleet(groups=2, limit=1, leaders=3),
        Fleet(groups=2, limit=1, leaders=4),
        Fleet(groups=2, limit=1, leaders=3, pods=2),
        pytest.param(Fleet(groups=3, limit=1, leaders=3), marks=pytest.mark.slow),
        pytest.param(Fleet(groups=3, limit=2, leaders=2), marks=pytest.mark.slow),
        *(pytest.param(each, marks=(pytest.mark.slow, pytest.mark.long, pytest.mark.exhaustive)) for each in LARGE),
    ],
    ids=str,
)
def test_no_more_groups_move_than_may(fleet: Fleet, record_property: Callable[[str, object], None]) -> None:
    states, way = fleet.explore(MOST)
    record_property("states", states)
    assert way is None, "\n".join(way)
    assert states < MOST


@pytest.mark.parametrize(("rule", "leaders"), [(Rule.CALLED, 2), (Rule.WRITTEN, 2), (Rule.ADMITTED, 3), (Rule.SOON, 3)])
def test_a_weaker_rule_lets_more_move(rule: Rule, leaders: int) -> None:
    _, way = Fleet(groups=2, limit=1, leaders=leaders, rule=rule).explore(MOST)
    assert way is not None


def test_what_was_found_there_is_enough_for_two_leaders() -> None:
    """The horizon is for three: where a late turn and one whose request is under way are both found."""
    assert Fleet(groups=2, limit=1, leaders=2, rule=Rule.ADMITTED).explore(MOST)[1] is None
