"""Two StatefulSets over one range of ordinals: who holds each, who arrives, who leaves, and which way it goes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

import pytest

from slackwater.core.world.handover import Begun, Handover, Held, TakenOver
from slackwater.core.world.memory import RolloutMemory, RolloutPhase
from slackwater.core.world.pods import Pod
from slackwater.core.world.two_sets import Beside, arranged, arrives_in, direction_of, names_of, other_name
from slackwater.core.world.workload import Workload
from tests.core.factories import LONG_AGO, NAME, NOW, pod, workload, world

ALT: Final = f"{NAME}-alt"
IN_USE: Final = workload(template_hash="old", start=1, replicas=2, created_at=LONG_AGO)
NEWCOMER: Final = workload(name=ALT, uid="alt", template_hash="new", replicas=1, created_at=NOW - 60)
TOWARDS: Final = RolloutMemory(phase=RolloutPhase.PROGRESSING, target_hash="new")


def old(ordinal: int, **changes: Any) -> Pod:
    return pod(ordinal, **changes)


def new(ordinal: int, **changes: Any) -> Pod:
    return replace(
        pod(ordinal), name=f"{ALT}-{ordinal}", workload=ALT, uid=f"new-{ordinal}", created_at=NOW - 9, **changes
    )


def handover(ordinal: int, to: str = ALT, after: str = "") -> RolloutMemory:
    """`after`: the member with which it has taken over."""
    state = TakenOver(Held({f"payments-{ordinal}": after})) if after else Begun(Held())
    return replace(TOWARDS, handover=Handover(ordinal, to, NOW - 9, state))


def placed(memory: RolloutMemory, *pods: Pod, newcomer: Workload = NEWCOMER) -> dict[str, list[str]]:
    found = arranged((newcomer, IN_USE), pods, memory, NAME)
    assert found is not None
    parts = {"holding": found.holding, "arriving": found.arriving, "leaving": found.leaving}
    return {part: [each.name for each in there] for part, there in parts.items() if there}


BOTH_HAVE_1: Final = replace(NEWCOMER, replicas=2)
PLACES = [
    (
        "each has its own",
        TOWARDS,
        [new(0), old(1), old(2)],
        NEWCOMER,
        {"holding": [f"{ALT}-0", "payments-1", "payments-2"]},
    ),
    ("given up, not ended", TOWARDS, [old(0), new(0)], NEWCOMER, {"holding": [f"{ALT}-0"], "leaving": ["payments-0"]}),
    (
        "the replacement arrives",
        handover(1),
        [new(1), old(1)],
        BOTH_HAVE_1,
        {"holding": ["payments-1"], "arriving": [f"{ALT}-1"]},
    ),
    (
        "the replacement has taken over",
        handover(1, after="b"),
        [old(1), new(1)],
        BOTH_HAVE_1,
        {"holding": [f"{ALT}-1"], "arriving": ["payments-1"]},
    ),
    (
        "on the way back the old one arrives",
        handover(1, to=NAME),
        [old(1), new(1)],
        BOTH_HAVE_1,
        {"holding": [f"{ALT}-1"], "arriving": ["payments-1"]},
    ),
    (
        "nothing is remembered: the older pod holds",
        TOWARDS,
        [old(1, created_at=NOW), new(1)],
        BOTH_HAVE_1,
        {"holding": [f"{ALT}-1"], "arriving": ["payments-1"]},
    ),
    ("nobody else has it", handover(1), [old(1)], BOTH_HAVE_1, {"holding": ["payments-1"]}),
]


@pytest.mark.parametrize(
    ("memory", "pods", "newcomer", "expected"), [p[1:] for p in PLACES], ids=[p[0] for p in PLACES]
)
def test_who_is_where(
    memory: RolloutMemory, pods: list[Pod], newcomer: Workload, expected: dict[str, list[str]]
) -> None:
    assert placed(memory, *pods, newcomer=newcomer) == expected


def test_pods_stand_by_ordinal_which_is_a_number() -> None:
    wide = replace(NEWCOMER, replicas=11)
    assert placed(TOWARDS, *(new(o) for o in (10, 2, 0)), newcomer=wide) == {
        "holding": [f"{ALT}-{o}" for o in (0, 2, 10)]
    }


def test_the_younger_one_is_the_newcomer_whatever_it_is_called() -> None:
    found = arranged((IN_USE, replace(NEWCOMER, created_at=LONG_AGO - 1)), (), TOWARDS, NAME)
    assert found is not None
    assert (found.in_use.name, found.newcomer.name) == (ALT, NAME)
    same_age = arranged((replace(NEWCOMER, created_at=LONG_AGO), IN_USE), (), TOWARDS, NAME)
    assert same_age is not None
    assert same_age.in_use.name == NAME


@pytest.mark.parametrize("sets", [(), (IN_USE,)])
def test_one_alone_is_beside_nothing(sets: tuple[Workload, ...]) -> None:
    assert arranged(sets, (old(1),), TOWARDS, NAME) is None


def test_an_ordinal_that_no_pod_has_is_the_younger_one_s_to_bring() -> None:
    assert arrives_in(TOWARDS, (IN_USE, NEWCOMER), ()) == ALT


@pytest.mark.parametrize(
    ("wanted", "forward", "following"),
    [("new", True, 1), ("old", False, 0), ("a third one", False, 0), ("", False, 0)],
)
def test_the_way_leads_to_the_wanted_template_and_else_back(wanted: str, forward: bool, following: int) -> None:
    way = direction_of(Beside(IN_USE, NEWCOMER), wanted, RolloutMemory(last_good_hash=IN_USE.template_hash))
    assert (way.forward, way.following) == (forward, following)
    assert way.to is (NEWCOMER if forward else IN_USE)
    assert way.off is (IN_USE if forward else NEWCOMER)


@pytest.mark.parametrize(
    ("memory", "left", "forward"),
    [
        (RolloutMemory(), 2, False),
        (RolloutMemory(onwards_hash="a third one"), 2, True),
        (RolloutMemory(onwards_hash="another one"), 2, False),
        (RolloutMemory(), 0, True),
        (RolloutMemory(last_good_hash="old", onwards_hash="a third one"), 2, True),
        (RolloutMemory(last_good_hash="old", onwards_hash="another one"), 2, False),
        (RolloutMemory(last_good_hash="old"), 0, False),
        (RolloutMemory(phase=RolloutPhase.ROLLING_BACK, onwards_hash="a third one"), 2, False),
    ],
)
def test_before_a_third_it_leads_on_where_that_was_decided_or_back_is_no_good(
    memory: RolloutMemory, left: int, forward: bool
) -> None:
    assert direction_of(Beside(replace(IN_USE, replicas=left), NEWCOMER), "a third one", memory).forward == forward


def test_nothing_follows_where_nothing_is_left() -> None:
    assert direction_of(Beside(replace(IN_USE, replicas=0), NEWCOMER), "new", RolloutMemory()).following is None


def test_another_memory_turns_the_way_and_moves_the_pods_without_joining_again() -> None:
    given = world(sets=(IN_USE, BOTH_HAVE_1), pods=(old(1), old(2), new(0), new(1)), memory=handover(1))
    assert given.workload == BOTH_HAVE_1
    assert [each.name for each in given.to_hand_over] == ["payments-1", "payments-2"]
    over = given.remembering(handover(1, after="b"))
    assert [each.name for each in over.to_hand_over] == ["payments-2"]
    back = given.remembering(replace(given.memory, phase=RolloutPhase.ROLLING_BACK))
    assert back.workload == IN_USE
    assert [each.name for each in back.to_hand_over] == [f"{ALT}-0"]


def test_names_take_turns() -> None:
    assert names_of(NAME) == (NAME, ALT)
    assert [other_name(NAME, each) for each in (NAME, ALT)] == [ALT, NAME]
    beside = Beside(IN_USE, NEWCOMER)
    assert (beside.named(ALT), beside.other(ALT), beside.sets) == (NEWCOMER, IN_USE, (IN_USE, NEWCOMER))
