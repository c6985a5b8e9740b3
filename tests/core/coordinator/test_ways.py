"""Ways that an exploration of hours found to lead nowhere, followed once more; what comes after is explored."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from tests.core.coordinator.canonical import key
from tests.core.coordinator.events import natural
from tests.core.coordinator.exploring import as_asked_or_taken_back, explore, stuck, with_another_version
from tests.core.coordinator.fleet import Fleet
from tests.core.coordinator.test_strategies import EXITS

pytestmark = pytest.mark.slow

HANDED_OVER = [
    step
    for n in (0, 1)
    for step in (
        "the operator looks",
        "the operator: WriteWorkload",
        "the StatefulSet controller",
        f"payments-alt-{n} starts",
        f"payments-alt-{n} joins",
        "the operator looks",
        "the operator: WriteWorkload",
        "the StatefulSet controller",
        f"payments-{n} ends",
        "the operator looks",
    )
]
FENCED_EACH_OTHER = [
    "the operator looks",
    "the operator: WriteWorkload",
    "the StatefulSet controller",
    "payments-alt-2 starts",
    "payments-alt-2 joins",
    "payments-2 is fenced and exits",
    "payments-2 starts",
    "payments-2 joins",
    "payments-alt-2 is fenced and exits",
    "the operator looks",
    "payments-alt-2 starts",
    "payments-alt-2 joins",
    "payments-2 is fenced and exits",
    "the operator looks",
    "the operator: WriteWorkload",
    "payments-2 starts",
    "payments-2 joins",
    "the StatefulSet controller",
    "payments-2 ends",
]
ALONE_AT_LAST = {
    "seen alone before it was fenced": [
        "the operator looks",
        "payments-alt-2 is fenced and exits",
        "payments-alt-2 starts",
        "payments-alt-2 joins",
        "the operator looks",
    ],
    "seen alone while it starts": [
        "payments-alt-2 is fenced and exits",
        "payments-alt-2 starts",
        "the operator looks",
        "payments-alt-2 joins",
        "the operator looks",
    ],
    "seen alone when it has joined": [
        "payments-alt-2 is fenced and exits",
        "payments-alt-2 starts",
        "payments-alt-2 joins",
        "the operator looks",
        "the operator looks",
    ],
}
OPENED = ["the operator looks", "the operator: WriteWorkload", "the StatefulSet controller"]


@pytest.mark.parametrize("way", ALONE_AT_LAST)
def test_one_crash_more_after_the_last_handover_is_not_a_version_s_failure(way: str) -> None:
    """The exits of pods that fenced each other are no crashes of theirs, and what is known as good is not given up."""
    fleets = [with_another_version(EXITS, 3, 1)]
    for step in (*OPENED, *HANDED_OVER, *FENCED_EACH_OTHER, *ALONE_AT_LAST[way]):
        fleets = followed(fleets, step)
    assert fleets
    for fleet in fleets:
        assert fleet.memory.last_good_hash == fleet.memory.target_hash
        assert stuck(explore(fleet, as_asked_or_taken_back)) == []


TAKEN_OVER = [
    "the operator looks",
    "the operator: WriteWorkload",
    "the StatefulSet controller",
    "payments-alt-2 starts",
    "the operator looks",
    "payments-alt-2 joins",
    "the operator looks",
    "the operator: WriteWorkload",
]
CAME_BACK = ["payments-2 is fenced and exits", "payments-2 starts", "payments-2 joins", "the StatefulSet controller"]
ENDED_BY = {
    "its node": [
        "payments-alt-2 is fenced and exits",
        "payments-2 ends",
        "the operator looks",
        "payments-alt-2 starts",
    ],
    "the operator": ["payments-2 ends", "the operator looks"],
}


@pytest.mark.parametrize("who", ENDED_BY)
def test_a_replaced_process_that_comes_back_just_before_its_end_is_counted_once(who: str) -> None:
    """Whether its replacement has ended by itself on being fenced, or is deleted."""
    fleets = [with_another_version(EXITS, 3, 1)]
    for step in (*OPENED, *HANDED_OVER, *TAKEN_OVER, *CAME_BACK, *ENDED_BY[who], "the operator looks"):
        fleets = followed(fleets, step)
    assert fleets
    for fleet in fleets:
        assert [_fenced(fleet), *map(_fenced, _looked_again(fleet))] == [1, 1]


def _looked_again(fleet: Fleet) -> list[Fleet]:
    rejoined = followed([fleet], "payments-alt-2 joins") or [fleet]
    return followed(rejoined, "the operator looks") or rejoined


def _fenced(fleet: Fleet) -> int:
    assert fleet.memory.handover is not None
    return fleet.memory.handover.fenced


def followed(fleets: Sequence[Fleet], step: str) -> list[Fleet]:
    """What that step may lead to; a step of one name may come about in more than one way."""
    after = {repr(key(after)): after for fleet in fleets for event, after in natural(fleet) if event == step}
    return list(after.values())
