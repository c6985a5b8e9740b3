"""Which ordinals each of two StatefulSets has, and what a write makes of that: `payments-alt` is the younger one."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import pytest

from slackwater.core.decision.acts import Purpose, WriteWorkload
from slackwater.core.decision.decision import Decision
from slackwater.core.handover.ranges import in_both, in_neither, scaled, with_ordinal, without_ordinal
from slackwater.core.world.memory import RolloutMemory
from slackwater.core.world.two_sets import Beside
from slackwater.core.world.workload import UpdateStrategy
from tests.core.factories import NAME, group, world
from tests.core.handover.stories import ALT, IN_USE, NEWCOMER, shown


def beside(newcomer: range, in_use: range) -> Beside:
    return Beside(
        replace(IN_USE, start=in_use.start, replicas=len(in_use)),
        replace(NEWCOMER, start=newcomer.start, replicas=len(newcomer)),
    )


def line(act: WriteWorkload | None) -> str:
    return shown(Decision(RolloutMemory(), act)) if act is not None else "nothing"


@pytest.mark.parametrize(
    ("sets", "both", "neither"),
    [
        (beside(range(1), range(3)), (0,), ()),
        (beside(range(2), range(1, 3)), (1,), ()),
        (beside(range(1), range(1, 3)), (), ()),
        (beside(range(0), range(1, 3)), (), (0,)),
        (beside(range(3), range(3)), (0, 1, 2), ()),
        (beside(range(0), range(2)), (), (2,)),
    ],
    ids=["the first", "the second", "between two", "one was given up", "all of them", "one is new"],
)
def test_ordinals_are_in_one_in_both_or_in_neither(
    sets: Beside, both: tuple[int, ...], neither: tuple[int, ...]
) -> None:
    assert (in_both(sets), in_neither(sets, 3)) == (both, neither)


@pytest.mark.parametrize(
    ("sets", "replicas", "expected"),
    [
        (beside(range(1), range(1, 3)), 3, "nothing"),
        (beside(range(1), range(1, 3)), 5, f"SCALE {NAME} [1, 5)"),
        (beside(range(1), range(1, 3)), 2, f"SCALE {NAME} [1, 2)"),
        (beside(range(2), range(2, 3)), 1, f"SCALE {NAME} [2, 2)"),
        (beside(range(2), range(2, 2)), 1, f"SCALE {ALT} [0, 1)"),
        (beside(range(3), range(3, 3)), 3, "nothing"),
        (beside(range(3), range(3, 3)), 4, f"SCALE {NAME} [3, 4)"),
        (beside(range(1), range(3)), 0, f"SCALE {NAME} [0, 0)"),
    ],
    ids=["as many", "more", "fewer", "the upper one first", "then the lower one", "all are over", "more again", "none"],
)
def test_another_number_of_pods_is_the_upper_ones_first(sets: Beside, replicas: int, expected: str) -> None:
    assert line(scaled(replace(world(), group=group(replicas=replicas)), sets)) == expected


def test_those_that_are_added_below_a_version_that_was_given_up_have_the_good_one() -> None:
    """The upper one holds the good version, and its lowest pods what was given up: it grows above its partition."""
    upper = replace(IN_USE, start=0, replicas=2, partition=1, template_hash="good")
    sets = Beside(upper, replace(NEWCOMER, start=0, replicas=0))
    given = world(memory=RolloutMemory(target_hash="third", last_good_hash="good"))
    act = scaled(given, sets)
    assert act is not None
    assert (act.replicas, act.partition) == (3, 1)
    again = given.remembering(replace(given.memory, target_hash="good", given_up_before="bad"))
    act = scaled(again, sets)
    assert act is not None
    assert (act.replicas, act.partition) == (3, 1)


AS_IT_IS = replace(IN_USE, start=0, replicas=2, partition=1, template_hash="good")
HELD = {
    "nothing was given up": (AS_IT_IS, {"target_hash": "good"}),
    "it moves by hand: without a partition all would be restarted": (
        replace(AS_IT_IS, strategy=UpdateStrategy.ON_DELETE, partition=0),
        {},
    ),
    "somebody has edited it: its newest revision is theirs": (replace(AS_IT_IS, as_written=False), {}),
    "nobody knows which is the good one": (replace(AS_IT_IS, template_hash=""), {"last_good_hash": ""}),
}


@pytest.mark.parametrize("case", HELD)
def test_else_all_are_held_as_they_are(case: str) -> None:
    upper, memory = HELD[case]
    remembered = replace(RolloutMemory(target_hash="third", last_good_hash="good"), **memory)  # type: ignore[arg-type]
    act = scaled(world(memory=remembered), Beside(upper, replace(NEWCOMER, start=0, replicas=0)))
    assert act is not None
    assert (act.replicas, act.partition) == (3, 3)


FORTH: Final = Purpose.HAND_OVER
BETWEEN: Final = beside(range(1), range(1, 3))


@pytest.mark.parametrize(
    ("act", "expected"),
    [
        (with_ordinal(BETWEEN, ALT, 1, FORTH), f"HAND_OVER {ALT} [0, 2)"),
        (with_ordinal(BETWEEN, NAME, 0, FORTH), f"HAND_OVER {NAME} [0, 3)"),
        (with_ordinal(beside(range(3), range(3, 3)), NAME, 2, FORTH), f"HAND_OVER {NAME} [2, 3)"),
        (with_ordinal(beside(range(3), range(0)), NAME, 2, FORTH), f"HAND_OVER {NAME} [2, 3)"),
        (without_ordinal(beside(range(2), range(1, 3)), ALT, 1, FORTH), f"HAND_OVER {ALT} [0, 1)"),
        (without_ordinal(beside(range(2), range(1, 3)), NAME, 1, FORTH), f"HAND_OVER {NAME} [2, 3)"),
    ],
    ids=[
        "the younger one grows at its upper end",
        "the older one grows at its lower end",
        "the older one has none left",
        "the older one has none left, and lost its place",
        "the younger one gives up its highest",
        "the older one gives up its lowest",
    ],
)
def test_ordinals_are_given_and_taken_where_the_two_meet(act: WriteWorkload, expected: str) -> None:
    assert line(act) == expected


def test_a_write_names_its_ordinal_and_keeps_the_template() -> None:
    act = with_ordinal(BETWEEN, ALT, 1, FORTH)
    assert (act.ordinal, act.template, act.resource_version) == (1, NEWCOMER.template, NEWCOMER.resource_version)
