"""When a pod is said to do nothing: not in passing, and not for want of partitions."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from slackwater.core.decision.reasons import Reason
from slackwater.core.members.idle import find_idle_pods
from slackwater.core.world.history import interrupted
from slackwater.core.world.observation import GroupState, GroupType, Unobserved
from slackwater.core.world.world import World
from tests.core.factories import NOW, folded, member, members, observation, owned_by, pod, watched, world

MODERN: dict[str, Any] = {"type": GroupType.CONSUMER}
TWO = members(0, 2)
AWAY = observation((*TWO, member(1, epoch=-2)), state=GroupState.RECONCILING, **MODERN)
EMPTY = observation((), state=GroupState.EMPTY)
NOTHING = (*TWO, member(1, assignment=frozenset()))
DEAD = observation(members(0, 1, 2))
TAKEN_OVER = (member(0, assignment=owned_by(0) | owned_by(1)), member(2))
LATELY = (pod(0), pod(1, started_at=NOW - 9, ready_changed_at=NOW - 9), pod(2))
RESTARTED = (pod(0), pod(1, started_at=NOW - 11, ready_changed_at=NOW - 11, ended_at=NOW - 12), pod(2))

SEEN_OFTEN = folded(replace(DEAD, observed_at=NOW - 3600), replace(DEAD, observed_at=NOW - 3590), DEAD)


def scene(kafka: Any, pods: Any = None, calm_s: float = 3600.0) -> World:
    return world(kafka=kafka, history=watched(kafka, calm_s), pods=pods or (pod(0), pod(1), pod(2)))


IDLE: list[tuple[str, World, list[int]]] = [
    ("all work", scene(observation()), []),
    ("its member is away", scene(AWAY), [1]),
    ("since a moment", scene(AWAY, calm_s=9.9), []),
    ("since a moment it is Ready", scene(AWAY, LATELY), []),
    ("it is not Ready", scene(AWAY, (pod(0), pod(1, ready=False), pod(2))), []),
    ("it ends", scene(AWAY, (pod(0), pod(1, terminating=True), pod(2))), []),
    ("it is not in the group", scene(observation(TWO)), [1]),
    ("somebody else does its work", scene(observation(TAKEN_OVER)), []),
    ("it owns nothing", scene(observation(NOTHING)), [1]),
    ("nobody is there", scene(EMPTY), [0, 1, 2]),
    ("its dead predecessor owns its partitions", replace(scene(DEAD, RESTARTED), history=SEEN_OFTEN), [1]),
    ("a classic group rebalances", scene(observation(TWO, state=GroupState.PREPARING_REBALANCE)), []),
    ("out of sight meanwhile", replace(scene(AWAY), history=interrupted(watched(AWAY))), []),
    ("not to be seen", world(kafka=Unobserved(Reason.KAFKA_UNREACHABLE, "", NOW)), []),
]


@pytest.mark.parametrize(("given", "ordinals"), [row[1:] for row in IDLE], ids=[row[0] for row in IDLE])
def test_which_pods_do_nothing(given: World, ordinals: list[int]) -> None:
    assert [each.ordinal for each in find_idle_pods(given)] == ordinals
