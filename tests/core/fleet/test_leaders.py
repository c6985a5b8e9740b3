"""Never over the budget, whoever leads: the product's allocator, explored; and what weaker rules let happen.

The weaker rules have to break, or the exploration could not tell.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import pytest

from tests.core.fleet.leaders import Fleet, Rule, folded

MOST = 2_000_000
LARGE = [
    Fleet(groups=4, limit=1, leaders=4, pods=2),
    Fleet(groups=4, limit=2, leaders=3, pods=2),
    Fleet(groups=4, limit=3, leaders=3),
]


@pytest.mark.parametrize(
    "fleet",
    [
        Fleet(groups=2, limit=1, leaders=2),
        Fleet(groups=2, limit=1, leaders=4),
        Fleet(groups=2, limit=1, leaders=3, pods=2),
        Fleet(groups=3, limit=1, leaders=3),
        Fleet(groups=4, limit=1, leaders=3),
        Fleet(groups=3, limit=2, leaders=2),
        Fleet(groups=3, limit=2, leaders=3),
        Fleet(groups=3, limit=2, leaders=3, pods=2),
        *(pytest.param(each, marks=pytest.mark.slow) for each in LARGE),
    ],
    ids=str,
)
def test_no_more_groups_move_than_may(fleet: Fleet, record_property: Callable[[str, object], None]) -> None:
    states, way = fleet.explore(MOST)
    record_property("states", states)
    assert way is None, "\n".join(way)
    assert states < MOST


@pytest.mark.slow
def test_three_leaders_of_five_groups_to_the_end(record_property: Callable[[str, object], None]) -> None:
    states, way = Fleet(groups=5, limit=2, leaders=3).explore(MOST)
    record_property("states", states)
    assert way is None, "\n".join(way)
    assert 400_000 <= states < MOST


@pytest.mark.parametrize(
    ("rule", "leaders", "limit"),
    [
        (rule, leaders, limit)
        for (rule, leaders), limit in product(
            [(Rule.CALLED, 2), (Rule.WRITTEN, 2), (Rule.ADMITTED, 3), (Rule.SOON, 3)], [1, 2]
        )
    ],
)
def test_a_weaker_rule_lets_more_move(rule: Rule, leaders: int, limit: int) -> None:
    _, way = Fleet(groups=limit + 1, limit=limit, leaders=leaders, rule=rule).explore(MOST)
    assert way is not None


def test_what_was_found_there_is_enough_for_two_leaders() -> None:
    """The horizon is for three: where a late turn and one whose request is under way are both found."""
    assert Fleet(groups=2, limit=1, leaders=2, rule=Rule.ADMITTED).explore(MOST)[1] is None


@pytest.mark.parametrize("fleet", [Fleet(groups=2, limit=1, leaders=3), Fleet(groups=3, limit=2, leaders=2)], ids=str)
def test_states_that_are_one_lead_to_the_same(fleet: Fleet) -> None:
    """With groups that keep their numbers while nobody leads, the same states are met, and no others."""
    apart = Fleet(fleet.groups, fleet.limit, fleet.leaders, folds=False)
    met = {apart.with_leader(folded(state)) for state in apart.states(MOST)}
    assert met == {fleet.with_leader(state) for state in fleet.states(MOST)}
