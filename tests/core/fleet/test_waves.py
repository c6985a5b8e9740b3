"""Which group is in which wave."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from slackwater.api.fleet_campaign_status import Skip
from slackwater.api.fleet_waves import Wave
from slackwater.core.fleet.participants import Obstacle, Participant, Progress
from slackwater.core.fleet.waves import REST, by_wave, in_order, plan_of, the_wave, wave_in_words


def wave(name: str, **fields: Any) -> Wave:
    return Wave.model_validate({"name": name, **fields}, context={"wire": True})


def groups(number: int, **known: Any) -> list[Participant]:
    return [Participant(f"team/g{n}", uid=f"u{n}", **known) for n in range(number)]


def sizes(plan: list[Wave], found: list[Participant], current: int = 0) -> list[int]:
    return [len(each) for each in by_wave(plan_of(plan, ()), current, found)]


TENTH = [wave("tenth", size="10%"), wave("rest")]


def test_a_share_is_rounded_down_and_one_at_least() -> None:
    assert [sizes(TENTH, groups(number)) for number in (0, 1, 19, 20)] == [[0, 0], [1, 0], [1, 18], [2, 18]]


def test_a_number_takes_no_more_than_there_are() -> None:
    assert sizes([wave("three", size=3), wave("rest")], groups(2)) == [2, 0]


def test_whom_a_wave_selects_is_in_none_before_it() -> None:
    canaries = [replace(each, labels={"canary": "true"}) for each in groups(3)]
    others = [Participant(f"team/o{n}", uid=f"o{n}") for n in range(7)]
    plan = [wave("canary", selector={"matchLabels": {"canary": "true"}}), wave("two", size=2), wave("rest")]
    assert sizes(plan, [*canaries, *others]) == [3, 2, 5]


def test_a_size_may_be_of_those_selected() -> None:
    plan = [wave("one", selector={"matchLabels": {"canary": "true"}}, size=1), wave("rest")]
    assert sizes(plan, groups(3, labels={"canary": "true"})) == [1, 2]


def test_groups_of_no_wave_come_last() -> None:
    assert [each.name for each in plan_of([wave("one", size=1)], ())] == ["one", REST]
    assert [each.name for each in plan_of((), ())] == [REST]
    assert [each.name for each in plan_of((), TENTH)] == ["tenth", "rest"]


def test_the_order_is_that_of_no_name_and_the_same_each_time() -> None:
    found = groups(50)
    assert in_order(found) == in_order(reversed(found))
    assert [each.key for each in in_order(found)] != sorted(each.key for each in found)


def test_who_has_begun_in_a_wave_stays_in_it() -> None:
    """A group that comes, or another share, moves no other out of it."""
    found = groups(10)
    [first] = by_wave(plan_of(TENTH, ()), 0, found)[0]
    begun = replace(first, progress=Progress.MOVES, begun_in="tenth")
    others = [each for each in found if each.key != first.key]
    for number in range(40):
        new = Participant(f"team/n{number}", uid=f"n{number}")
        assert begun in by_wave(plan_of(TENTH, ()), 0, [*others, begun, new])[0]


def test_who_has_begun_takes_its_place_before_others() -> None:
    plan, found = plan_of([wave("two", size=2), wave("rest")], ()), in_order(groups(10))
    begun = [replace(each, progress=Progress.DONE, begun_in="two") for each in found[-2:]]
    first, _ = by_wave(plan, 0, [*found[:-2], *begun])
    assert {each.key for each in first} == {each.key for each in begun}


def test_who_is_left_as_it_is_takes_no_place() -> None:
    """A canary wave of groups that are skipped would try nothing."""
    found = [replace(each, obstacle=Obstacle(Skip.OWN_VALUE)) for each in groups(8)]
    movable = [Participant(f"team/m{n}", uid=f"m{n}") for n in range(4)]
    waves = by_wave(plan_of([wave("two", size=2), wave("rest")], ()), 0, [*found, *movable])
    assert [sum(not each.is_left_alone for each in each_wave) for each_wave in waves] == [2, 2]


def test_who_passes_waves_comes_with_the_one_under_way() -> None:
    plan = [wave("one", size=1), wave("two", size=1), wave("rest")]
    urgent = Participant("team/urgent", uid="u", passes_waves=True)
    for current in range(3):
        found = by_wave(plan, current, [*groups(4), urgent])
        assert [urgent in each for each in found] == [number == current for number in range(3)]
    over = replace(urgent, progress=Progress.DONE)
    assert sum(over in each for each in by_wave(plan, 1, [*groups(4), over])) == 1


def test_whose_wave_is_over_comes_with_the_last_one() -> None:
    plan = plan_of([wave("canary", selector={"matchLabels": {"c": "1"}}), wave("two", size=2), wave("rest")], ())
    late = Participant("team/late", labels={"c": "1"})
    assert late in by_wave(plan, 1, [late, *groups(5)])[2]
    assert replace(late, progress=Progress.DONE) in by_wave(plan, 1, [replace(late, progress=Progress.DONE)])[0]


@given(st.integers(0, 40), st.integers(1, 10), st.integers(0, 2))
def test_everybody_is_in_one_wave(number: int, size: int, current: int) -> None:
    plan = plan_of([wave("some", size=size), wave("tier", selector={"matchLabels": {"tier": "0"}})], ())
    found = [replace(each, labels={"tier": str(n % 3)}) for n, each in enumerate(groups(number))]
    placed = [each.key for each_wave in by_wave(plan, current, found) for each in each_wave]
    assert sorted(placed) == sorted(each.key for each in found)


def test_the_wave_of_those_in_no_other_has_one_name_for_people() -> None:
    assert [plan_of([wave("canary", size=1)], ())[-1].name, wave_in_words(REST), the_wave(REST)] == [
        REST,
        "the rest",
        "the rest",
    ]
    assert [wave_in_words("rest"), the_wave("canary")] == ["rest", "wave canary"]
