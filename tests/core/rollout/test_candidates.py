"""Which pods are to be replaced, and which of them are known not to consume."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from slackwater.core.rollout.candidates import incomplete, known_down, out_of_the_group, replaceable, step_with
from slackwater.core.world.memory import RolloutMemory, RolloutPhase, Step
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
TAKEN = [observation((member(0, who), *members(1)), at=NOW - ago_s) for ago_s, who in ((20, "a"), (9, "x"), (6, "y"))]
"""Pod 0's id changes hands twice."""


def beside_a_new_pod(
    step: Step = STEP, phase: str = "Progressing", forced: str = "", history: Any = None, back: bool = False, **run: Any
) -> World:
    """Pod 2 got the version 20 s ago, and is not in the group; pod 0 is down."""
    now = observation((*members(0, 1), member(2, "b")) if back else members(0, 1))
    pods = (pod(0, ready=False, started_at=None, **run), pod(1), fresh_pod(2, 15))
    memory = RolloutMemory(phase=RolloutPhase(phase), step=step, forced_hash=forced, target_hash="v2")
    return world(
        pods=pods, kafka=now, history=history or folded(observation(members(0, 1), at=NOW - 10), now), memory=memory
    )


FELL: dict[str, Any] = {"ended_at": NOW - 5, "last_run_started_at": NOW - 900, "restarts": 1}
FELLED = [
    ("since the last one got the version", beside_a_new_pod(**FELL), set()),
    ("before that", beside_a_new_pod(ended_at=NOW - 25, last_run_started_at=NOW - 900, restarts=1), {0}),
    ("again and again, as before", beside_a_new_pod(ended_at=NOW - 5, last_run_started_at=NOW - 15, restarts=9), {0}),
    (
        "again, after its id was taken once more",
        beside_a_new_pod(
            ended_at=NOW - 5,
            last_run_started_at=NOW - 15,
            restarts=2,
            history=folded(*TAKEN, observation(members(0, 1))),
        ),
        set(),
    ),
    ("but the last one is back", beside_a_new_pod(back=True, **FELL), {0}),
    ("but it is the last one itself", beside_a_new_pod(replace(STEP, ordinal=0), **FELL), {0}),
    ("but the new version is forced", beside_a_new_pod(forced="v2", **FELL), {0}),
    ("but the version goes back", beside_a_new_pod(phase="RollingBack", **FELL), {0}),
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
    assert step_with(given, given.pods[2], {"payments-2": "a"}) == Step(2, NOW, {"payments-2": "a"}, halted=halted)


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
