"""Which pods are to be replaced, and which of them are known not to consume."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from slackwater.core.rollout.candidates import (
    MOST_DOWN,
    incomplete,
    known_down,
    out_of_the_group,
    replaceable,
    step_with,
)
from slackwater.core.world.memory import RolloutMemory, RolloutPhase
from slackwater.core.world.step import Step
from slackwater.core.world.world import World
from tests.core.factories import (
    NEW,
    NOW,
    OLD,
    dynamic_member,
    folded,
    fresh_pod,
    group,
    member,
    members,
    observation,
    pod,
    stranger,
    watched,
    workload,
    world,
)

WITHOUT_2: dict[str, Any] = {"kafka": observation(members(0, 1))}
RETRIED: dict[str, Any] = {
    "memory": RolloutMemory(phase=RolloutPhase.PROGRESSING, retried_at=NOW - 5),
}

TWO_EACH: dict[str, Any] = {"group": group(membersPerPod=2)}
"""Of which each pod has had one, for an hour."""
TWO_EACH_LATELY = TWO_EACH | {"history": watched(observation(), 60)}


def with_pod_2(revision: str = NEW, *, elsewhere: dict[str, Any] | None = None, **changes: Any) -> World:
    """The others have the new version."""
    return world(pods=(pod(0, NEW), pod(1, NEW), pod(2, revision, **changes)), **(elsewhere or {}))


TABLE = [
    ("outdated ones, the highest first", world(), (2, 1, 0), set()),
    ("none that has the new version", with_pod_2(), (), set()),
    ("not one above replicas", world(pods=(pod(0), pod(3))), (0,), set()),
    ("down: not Ready", world(pods=(pod(0), pod(1), pod(2, ready=False)), **WITHOUT_2), (2, 1, 0), {2}),
    (
        "not down: it ends by itself",
        world(pods=(pod(0), pod(1), pod(2, ready=False, terminating=True))),
        (2, 1, 0),
        set(),
    ),
    ("a new one that fails is left alone", with_pod_2(ready=False, elsewhere=WITHOUT_2), (), set()),
    ("until somebody asks for another try", with_pod_2(ready=False, elsewhere=WITHOUT_2 | RETRIED), (2,), {2}),
    ("which is none for a pod that works", with_pod_2(elsewhere=RETRIED), (), set()),
    ("nor where one of two members may yet come", with_pod_2(elsewhere=RETRIED | TWO_EACH_LATELY), (), set()),
    ("but where it is missing", with_pod_2(elsewhere=RETRIED | TWO_EACH), (2, 1, 0), {0, 1, 2}),
    ("and somebody has asked for another try", with_pod_2(elsewhere=TWO_EACH), (), set()),
    (
        "nor for one that was made since",
        with_pod_2(ready=False, created_at=NOW - 4, elsewhere=WITHOUT_2 | RETRIED),
        (),
        set(),
    ),
]


@pytest.mark.parametrize(("given", "chosen", "down"), [pytest.param(w, c, d, id=name) for name, w, c, d in TABLE])
def test_candidates(given: World, chosen: tuple[int, ...], down: set[int]) -> None:
    assert tuple(each.ordinal for each in replaceable(given, workload())) == chosen
    assert known_down(given, workload()) == down


@pytest.mark.parametrize(
    ("membership", "started_at", "out"),
    [("Dynamic", NOW - 60, set()), ("Dynamic", None, {2}), ("Static", NOW - 60, {2})],
)
def test_out_of_the_group_is_nobody_whom_somebody_unknown_may_be(
    membership: str, started_at: float | None, out: set[int]
) -> None:
    """Such a pod's probe may ask for a database, and its consumer be at work behind address translation."""
    others = (dynamic_member(0), dynamic_member(1), stranger())
    pods = (pod(0), pod(1), pod(2, ready=False, started_at=started_at))
    now = observation(others)
    given = world(pods=pods, kafka=now, history=folded(now), group=group(membership=membership))
    assert out_of_the_group(given, workload()) == out


STEP = Step(2, NOW - 20)


def beside_a_new_pod(step: Step = STEP, phase: str = "Progressing", forced: str = "", *, back: bool = False) -> World:
    """Pod 2 got the version 20 s ago, and is not in the group; pod 0 is down."""
    now = observation((*members(0, 1), member(2, "b")) if back else members(0, 1))
    pods = (pod(0, ready=False, started_at=None), pod(1), fresh_pod(2, 15))
    memory = RolloutMemory(phase=RolloutPhase(phase), step=step, forced_hash=forced, target_hash="v2")
    return world(pods=pods, kafka=now, history=folded(observation(members(0, 1), at=NOW - 10), now), memory=memory)


WAS_DOWN = replace(STEP, down=(1, 0))
FELLED = [
    ("since the last one got the version", beside_a_new_pod(), set()),
    ("it was down before", beside_a_new_pod(WAS_DOWN), {0}),
    ("but the last one is back", beside_a_new_pod(back=True), {0}),
    ("but it is the last one itself", beside_a_new_pod(replace(STEP, ordinal=0)), {0}),
    ("but the new version is forced", beside_a_new_pod(forced="v2"), {0}),
    ("but the version goes back", beside_a_new_pod(phase="RollingBack"), {0}),
]


@pytest.mark.parametrize(("given", "out"), [pytest.param(w, out, id=name) for name, w, out in FELLED])
def test_who_fell_beside_a_new_pod_that_is_not_back_does_not_go_first(given: World, out: set[int]) -> None:
    """It may have been felled by that one, and what felled it is no remedy."""
    assert out_of_the_group(given, workload()) & {0} == out


HALTED = Step(2, NOW - 400, halted=("orders-3",))


@pytest.mark.parametrize(
    ("step", "memory", "halted"),
    [
        (HALTED, {"retried_at": NOW - 5}, ("orders-3",)),
        (HALTED, {}, ()),
        (replace(HALTED, halted=()), {"retried_at": NOW - 5}, ()),
        (replace(HALTED, ordinal=1), {"retried_at": NOW - 5}, ()),
        (None, {"retried_at": NOW - 5}, ()),
    ],
)
def test_a_second_try_of_a_pod_knows_why_the_first_failed(
    step: Step | None, memory: dict[str, Any], halted: tuple[str, ...]
) -> None:
    given = world(memory=RolloutMemory(phase=RolloutPhase.PROGRESSING, step=step, **memory))
    expected = Step(2, NOW, {"payments-2": "a"}, halted=halted, uid_before=given.pods[2].uid)
    assert step_with(given, given.pods[2], {"payments-2": "a"}) == expected


@pytest.mark.parametrize(
    ("in_part", "first"),
    [({1}, {1}), ({2}, set()), ({1, 2}, set()), (set(), set())],
    ids=["another", "the next", "both", "none"],
)
def test_on_the_way_back_the_next_in_order_goes_as_always_though_it_works_in_part(
    in_part: set[int], first: set[int]
) -> None:
    ids = [(o, t) for o in range(3) for t in range(2) if not (o in in_part and t == 1)]
    who = [member(o, instance_id=f"payments-{o}-{t}", member_id=f"id-{o}-{t}") for o, t in ids]
    given = world(
        group=group(membersPerPod=2),
        kafka=observation(who),
        pods=tuple(pod(o, NEW) for o in range(3)),
        workload=workload(update_revision=OLD, current_revision=NEW),
        memory=RolloutMemory(phase=RolloutPhase.ROLLING_BACK),
    )
    assert incomplete(given, tuple(reversed(given.pods))) == first


def test_who_was_down_when_a_step_began_is_remembered() -> None:
    given = world(pods=(pod(0, ready=False, started_at=None), pod(1), pod(2)), kafka=observation(members(1, 2)))
    assert step_with(given, given.pods[2], {}).down == (0,)


def test_of_many_that_are_down_those_are_remembered_that_go_next() -> None:
    many = tuple(pod(ordinal, ready=False, started_at=None) for ordinal in range(MOST_DOWN + 3))
    given = world(pods=many, kafka=observation(()), group=group(replicas=len(many)))
    assert step_with(given, many[-1], {}).down == tuple(range(MOST_DOWN + 2, 2, -1))
