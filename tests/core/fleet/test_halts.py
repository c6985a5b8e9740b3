"""When too much has gone wrong, and when it is over."""

from __future__ import annotations

from math import inf

import pytest

from slackwater.api.consumer_fleet import Halt
from slackwater.core.fleet.claim import Standing
from slackwater.core.fleet.facts import GroupFacts
from slackwater.core.fleet.halts import CALM_FOR_S, Halts
from slackwater.core.fleet.tally import Tally

NOW = 10_000.0


def group(number: int, **facts: object) -> GroupFacts:
    given = {"cluster": "k", "coordinator": 1, "begun_at": 9_000.0, **facts}
    return GroupFacts("a", f"g{number:02}", **given)  # type: ignore[arg-type]


def tally(*groups: GroupFacts) -> Tally:
    found = Tally()
    for each in groups:
        found.put(each)
    return found


def failed(number: int, at: float = 9_500.0) -> GroupFacts:
    return group(number, failed_at=at, is_well=False)


def halts(*groups: GroupFacts, failures: int | str = 1, now: float = NOW) -> Halts:
    found = Halts()
    found.judge(Halt(failures=failures), tally(*groups), now)
    return found


@pytest.mark.parametrize(
    ("groups", "failures", "halted"),
    [
        ([failed(1)], 1, False),
        ([failed(1), failed(2)], 1, True),
        ([failed(1), failed(2, at=inf)], 1, True),
        ([failed(1), failed(2, at=NOW - 3_601)], 1, False),
        ([failed(1), failed(2, at=-inf)], 1, False),
        ([failed(1)], 0, True),
        ([failed(n) for n in range(10)], "100%", False),
        ([failed(1), failed(2), *(group(n) for n in range(3, 11))], "10%", True),
        ([failed(1), *(group(n) for n in range(3, 11))], "10%", False),
    ],
    ids=[
        "as many as may",
        "more",
        "one goes back",
        "long ago",
        "before a fleet",
        "none may",
        "never",
        "share",
        "no more",
    ],
)
def test_more_than_so_many_failures_halt(groups: list[GroupFacts], failures: int | str, halted: bool) -> None:
    assert (halts(*groups, failures=failures).by_failures is not None) is halted


def test_it_stays_until_those_are_well_though_their_fix_is_under_way_and_others_fail_meanwhile() -> None:
    found, halt = Halts(), Halt(failures=0)
    found.judge(halt, tally(failed(1)), NOW)
    assert found.failed == {"a/g01"}
    found.judge(halt, tally(group(1, is_well=False, standing=Standing.ASKS), failed(2, NOW + 5)), NOW + 9_000)
    assert found.failed == {"a/g01", "a/g02"}, "however long ago it failed"
    found.judge(halt, tally(group(1), failed(2, NOW + 5)), NOW + 9_000)
    assert found.failed == {"a/g02"}
    found.judge(halt, tally(group(1)), NOW + 9_000)
    assert found.by_failures is None, "the other one was deleted"


def test_after_a_command_only_what_begins_later_is_counted() -> None:
    found, halt = Halts(), Halt(failures=0)
    found.judge(halt, tally(failed(1)), NOW)
    found.resume(NOW)
    found.judge(halt, tally(failed(1)), NOW)
    assert found.by_failures is None
    found.judge(halt, tally(failed(1), group(2, failed_at=NOW + 60, begun_at=NOW + 30, is_well=False)), NOW + 60)
    assert found.failed == {"a/g02"}


@pytest.mark.parametrize(("disturbed", "of", "shut"), [(3, 4, False), (4, 20, False), (4, 19, True), (20, 20, True)])
def test_a_share_and_more_than_three_shut_a_coordinator(disturbed: int, of: int, shut: bool) -> None:
    found = halts(*(group(n, disturbed=n < disturbed) for n in range(of)))
    assert found.shut_places == ({"k/1"} if shut else set())
    assert found.by_disturbance == (("k/1",) if shut else ())


def test_who_was_not_looked_at_shuts_it_and_is_no_halt() -> None:
    found = halts(*(group(n, disturbed=None) for n in range(9)))
    assert found.shut_places == {"k/1"}
    assert found.by_disturbance == ()


def test_whoever_moves_by_a_turn_is_not_counted() -> None:
    found = halts(*(group(n, disturbed=True, standing=Standing.HAS) for n in range(9)))
    assert found.shut_places == set()


def test_it_opens_when_it_has_been_calm_for_a_while() -> None:
    found, halt = Halts(), Halt()
    sick, well = ([group(n, disturbed=is_sick) for n in range(9)] for is_sick in (True, False))
    found.judge(halt, tally(*sick), NOW)
    found.judge(halt, tally(*well), NOW + 10)
    assert found.lifts_at == NOW + 10 + CALM_FOR_S
    found.judge(halt, tally(*sick), NOW + 100)
    assert found.lifts_at is None
    found.judge(halt, tally(*well), NOW + 110)
    found.judge(halt, tally(*well), NOW + 109 + CALM_FOR_S)
    assert found.shut_places == {"k/1"}
    found.judge(halt, tally(*well), NOW + 110 + CALM_FOR_S)
    assert found.shut_places == set()


def test_a_clock_that_was_set_back_holds_nobody_up() -> None:
    sick = [group(n, disturbed=True) for n in range(5)]
    calm = [group(n) for n in range(5)]
    found = halts(*sick)
    found.judge(Halt(), tally(*calm), NOW)
    found.judge(Halt(), tally(*calm), NOW - 3600)
    assert found.shut_places
    found.judge(Halt(), tally(*calm), NOW - 3600 + CALM_FOR_S)
    assert not found.shut_places
