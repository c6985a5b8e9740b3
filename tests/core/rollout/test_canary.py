"""Canary holds: where a rollout stops, for how long, and whom they do not stop."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from slackwater.core.decision.reasons import Reason
from slackwater.core.rollout.canary import canary_ahead, canary_hold
from slackwater.core.world.memory import Canary, RolloutMemory, RolloutPhase
from slackwater.core.world.world import World
from tests.core.factories import NEW, NOW, OLD, group, pod, workload, world

ONE_THEN_TWO = [{"replicas": 1, "hold": "60s"}, {"replicas": 2}]
SHARES = [{"percent": 1, "hold": "60s"}, {"percent": 99}]


def at(updated: int, canary: Canary | None = None, phase: str = "Progressing", steps: Any = ONE_THEN_TWO) -> World:
    pods = tuple(pod(o, NEW if o >= 3 - updated else OLD) for o in range(3))
    memory = RolloutMemory(phase=RolloutPhase(phase), canary=canary)
    return world(pods=pods, memory=memory, group=group(rollout={"canary": steps}))


def none_works(given: World) -> World:
    down = tuple(replace(each, ready=False, started_at=None) for each in given.all_pods)
    return replace(given, all_pods=down)


TABLE = [
    ("none is updated", at(0), None, None),
    ("the first is reached", at(1), Canary(0, NOW, replicas=1), Reason.CANARY_HOLD),
    ("a share of the pods", at(1, steps=SHARES), Canary(0, NOW, replicas=1), Reason.CANARY_HOLD),
    ("a share, rounded down", at(2, steps=SHARES), Canary(1, NOW, replicas=2), Reason.CANARY_HOLD),
    ("it is held", at(1, Canary(0, NOW - 59)), Canary(0, NOW - 59), Reason.CANARY_HOLD),
    ("it was held long enough", at(1, Canary(0, NOW - 60)), Canary(0, NOW - 60, passed=True), None),
    ("it was promoted", at(1, Canary(0, NOW - 5, passed=True)), Canary(0, NOW - 5, passed=True), None),
    (
        "the second is reached",
        at(2, Canary(0, NOW - 99, passed=True)),
        Canary(1, NOW, replicas=2, behind=1),
        Reason.CANARY_HOLD,
    ),
    ("two are updated at once", at(2), Canary(1, NOW, replicas=2), Reason.CANARY_HOLD),
    ("the second waits for a person", at(2, Canary(1, NOW - 10**6)), Canary(1, NOW - 10**6), Reason.CANARY_HOLD),
    (
        "its step was taken out, so that the one before counts, which has passed",
        at(2, Canary(1, NOW - 5, replicas=2, behind=1), steps=[{"replicas": 1, "hold": "60s"}]),
        Canary(1, NOW - 5, passed=True, replicas=2, behind=1),
        None,
    ),
    (
        "its step was made smaller, and is held on",
        at(2, Canary(0, NOW - 5, replicas=2), steps=[{"replicas": 1}]),
        Canary(0, NOW - 5, replicas=1),
        Reason.CANARY_HOLD,
    ),
    (
        "the next one knows what has passed before it",
        at(2, Canary(0, NOW - 99, passed=True, replicas=1)),
        Canary(1, NOW, replicas=2, behind=1),
        Reason.CANARY_HOLD,
    ),
    (
        "so as an older slackwater wrote it",
        at(2, Canary(1, NOW - 5), steps=[{"replicas": 1}]),
        Canary(0, NOW, replicas=1),
        Reason.CANARY_HOLD,
    ),
    (
        "the step before its own was taken out",
        at(2, Canary(1, NOW - 5, replicas=2), steps=[{"replicas": 2}]),
        Canary(1, NOW - 5, replicas=2),
        Reason.CANARY_HOLD,
    ),
    (
        "its step became a larger one, which is not reached",
        at(2, Canary(1, NOW - 5, replicas=2, behind=1), steps=[{"replicas": 1}, {"replicas": 3}]),
        Canary(1, NOW - 5, passed=True, replicas=2, behind=1),
        None,
    ),
    (
        "and then is",
        at(3, Canary(1, NOW - 5, passed=True, replicas=2), steps=[{"replicas": 1}, {"replicas": 3}]),
        Canary(1, NOW, replicas=3, behind=2),
        Reason.CANARY_HOLD,
    ),
    (
        "one of its two pods was scaled away",
        at(1, Canary(1, NOW - 5, replicas=2)),
        Canary(1, NOW - 5, replicas=2),
        Reason.CANARY_HOLD,
    ),
    ("its pods were scaled away, and others try it", at(0, Canary(1, NOW - 5, replicas=2)), None, None),
    ("so where its time has passed since", at(0, Canary(0, NOW - 99, replicas=1)), None, None),
    (
        "so, but those that are left would all be of the canary",
        at(0, Canary(0, NOW - 99, replicas=3), steps=[{"replicas": 3, "hold": "60s"}]),
        Canary(0, NOW - 99, replicas=3, lost=True),
        Reason.CANARY_HOLD,
    ),
    (
        "they were, and others have come since",
        at(1, Canary(0, NOW - 99, replicas=1, lost=True)),
        Canary(0, NOW, replicas=1),
        Reason.CANARY_HOLD,
    ),
    (
        "they were, and it was promoted then",
        at(1, Canary(0, NOW - 9, replicas=1, passed=True, lost=True)),
        Canary(0, NOW - 9, replicas=1, passed=True, lost=True),
        None,
    ),
    (
        "so, but none of those that are left works",
        none_works(at(0, Canary(0, NOW - 99, replicas=3), steps=[{"replicas": 3, "hold": "60s"}])),
        None,
        None,
    ),
    (
        "its pods were scaled away when it had passed",
        at(0, Canary(0, NOW - 99, passed=True, replicas=1)),
        Canary(0, NOW - 99, passed=True, replicas=1),
        None,
    ),
    ("both are passed", at(2, Canary(1, NOW, passed=True)), Canary(1, NOW, passed=True), None),
    ("a rollback stops nowhere", at(1, phase="RollingBack"), None, None),
    ("no canaries are wanted", at(1, steps=[]), None, None),
    ("more pods are wanted than there are", at(3, steps=[{"replicas": 9}]), None, None),
]


@pytest.mark.parametrize(("given", "canary", "reason"), [pytest.param(w, c, r, id=name) for name, w, c, r in TABLE])
def test_canary(given: World, canary: Canary | None, reason: Reason | None) -> None:
    decided = canary_hold(given, workload())
    found = decided.memory.canary
    assert (found and replace(found, of=None)) == canary
    assert found is None or found is given.memory.canary or found.of in (None, given.replicas)
    assert (decided.hold.reason if decided.hold is not None else None) == reason


AHEAD = [
    ("nothing is held yet", at(0), True),
    ("the first is passed", at(1, Canary(0, NOW, passed=True)), True),
    ("the last is held", at(2, Canary(1, NOW)), True),
    ("the last is passed", at(2, Canary(1, NOW, passed=True)), False),
    ("there are none", at(1, steps=[]), False),
    ("the rollout is over", at(3, phase="Complete"), False),
]


@pytest.mark.parametrize(("given", "expected"), [pytest.param(w, e, id=name) for name, w, e in AHEAD])
def test_canary_ahead(given: World, expected: bool) -> None:
    assert canary_ahead(given) is expected
