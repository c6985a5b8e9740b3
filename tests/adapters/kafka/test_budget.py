"""How much is kept of all groups of one namespace together."""

from __future__ import annotations

from typing import Any, NoReturn

import pytest

from slackwater.adapters.kafka import budget as module
from slackwater.adapters.kafka.budget import AGAIN_S, BACK_WITHIN_S, Budget, budget_of
from slackwater.adapters.kafka.sizes import USUAL


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def budget(clock: Clock) -> Budget:
    """Of a hundred, twenty of which are for groups that grow."""
    return Budget("shop", 100, clock)


def seen(budget: Budget, key: str, partitions: int, members: int = 0) -> str | None:
    """What a whole look comes to."""
    return budget.take_partitions(key, partitions) or budget.take_members(key, members)


def test_who_comes_when_it_is_full_has_no_place_and_the_others_keep_theirs(budget: Budget) -> None:
    assert [seen(budget, key, 30, 10) for key in ("a", "b")] == [None, None]
    told = seen(budget, "c", 1)
    assert told is not None
    assert "the groups of namespace shop have 81 partitions and members together" in told
    assert "slackwater looks at 80 at most: at 2 groups, which came first" in told
    assert "observation.mostPerNamespace" in told
    assert budget.used == 80
    assert [seen(budget, key, 30, 10) for key in ("a", "b")] == [None, None]


def test_it_says_how_many_there_are_with_all_that_have_no_place(budget: Budget) -> None:
    seen(budget, "a", 80)
    assert seen(budget, "b", 50) is not None
    assert "have 160 partitions" in str(seen(budget, "c", 30))
    assert "have 160 partitions" in str(seen(budget, "b", 50)), "nobody is counted twice"


def test_one_whose_members_do_not_fit_has_no_place(budget: Budget) -> None:
    assert seen(budget, "a", 30, 51) is not None
    assert budget.used == 0
    assert seen(budget, "a", 30, 50) is None


def test_who_has_a_place_may_grow_by_what_is_left_for_that(budget: Budget) -> None:
    seen(budget, "a", 40, 20)
    seen(budget, "b", 20)
    assert seen(budget, "a", 40, 40) is None, "as in a warm handover"
    assert budget.used == 100
    assert seen(budget, "c", 1) is not None


def test_who_grows_beyond_it_is_not_looked_at_and_keeps_the_place(budget: Budget) -> None:
    seen(budget, "a", 40, 20)
    told = seen(budget, "a", 90, 20)
    assert told is not None
    assert "110 partitions and members together, of which slackwater looks at 100" in told
    assert budget.used == 60
    assert seen(budget, "a", 90, 20) == told, "nor is it counted twice"
    assert seen(budget, "b", 30) is not None, "it is nobody else's"
    assert seen(budget, "a", 50, 20) is None


def test_what_goes_is_free_at_once(budget: Budget) -> None:
    seen(budget, "a", 50)
    seen(budget, "b", 30)
    assert seen(budget, "c", 40) is not None
    assert budget.why_not_now("c") is not None
    budget.release("a")
    assert budget.why_not_now("c") is None
    assert seen(budget, "c", 40) is None
    assert "have 81 partitions" in str(seen(budget, "d", 11)), "it is not counted among those without a place"
    budget.release("nobody")
    assert budget.used == 70


def test_what_gets_smaller_is_free_at_once(budget: Budget) -> None:
    seen(budget, "a", 70)
    assert seen(budget, "b", 40) is not None
    seen(budget, "a", 30)
    assert budget.why_not_now("b") is None
    assert seen(budget, "b", 40) is None


def test_partitions_that_are_out_of_sight_for_a_look_keep_their_place(budget: Budget) -> None:
    seen(budget, "a", 70)
    assert budget.take_partitions("a", 0, are_all=False) is None
    assert seen(budget, "b", 40) is not None
    assert budget.partitions_of("a") == 70


def test_members_that_leave_have_their_place_when_they_come_back(budget: Budget, clock: Clock) -> None:
    seen(budget, "a", 30, 30)
    seen(budget, "a", 30, 0)
    clock.now += BACK_WITHIN_S - 1
    seen(budget, "a", 30, 0)
    assert budget.used == 60
    seen(budget, "a", 30, 30)
    clock.now += BACK_WITHIN_S - 1
    seen(budget, "a", 30, 5)
    assert budget.used == 60, "they were there meanwhile"
    clock.now += 1
    seen(budget, "a", 30, 5)
    assert budget.used == 35


def test_what_was_too_much_is_asked_about_seldom(budget: Budget, clock: Clock) -> None:
    seen(budget, "a", 70)
    told = seen(budget, "b", 40)
    clock.now += AGAIN_S - 1
    assert budget.why_not_now("b") == told
    assert budget.why_not_now("a") is None
    clock.now += 1
    assert budget.why_not_now("b") is None
    assert seen(budget, "b", 10) is None, "it has become smaller"


def test_one_that_was_released_while_it_was_looked_at_has_no_place(budget: Budget) -> None:
    budget.take_partitions("a", 10)
    budget.release("a")
    assert budget.take_members("a", 5) is None
    assert budget.used == 0


def test_a_namespace_has_one_as_long_as_somebody_uses_it() -> None:
    one, same, other = (budget_of(each, 100) for each in ("shop", "shop", "ops"))
    assert one is same
    assert one is not other
    del one, same
    assert "shop" not in module._BUDGETS


def test_ten_thousand_groups_of_twenty_partitions_with_three_members_each_fit_into_what_is_usual() -> None:
    budget = Budget("fleet", USUAL.per_namespace)
    assert not any(seen(budget, f"g{number}", 20, 3) for number in range(10_000))


def test_so_does_a_group_of_a_thousand_members_beside_many_others() -> None:
    budget = Budget("fleet", USUAL.per_namespace)
    assert not any(seen(budget, f"g{number}", 1_000, 1_000) for number in range(100))


def test_one_that_has_no_place_looks_at_none_of_the_others_that_have_none(budget: Budget) -> None:
    """There may be thousands, all in one turn of the event loop."""

    class Unwalked(dict[str, Any]):
        def _walk(self) -> NoReturn:
            raise AssertionError("somebody walks over all of them")

        __iter__ = items = values = keys = _walk

    seen(budget, "a", 80)
    budget._refused = Unwalked()
    assert "have 1,079 partitions" in [str(seen(budget, f"g{number}", 1)) for number in range(999)][-1]
    budget.release("g0")
    assert "have 1,080 partitions" in str(seen(budget, "g1", 3))
