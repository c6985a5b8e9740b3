"""Which pod is next, and what is done to it. The gates hold where a row does not say otherwise."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from slackwater.api.annotations import PAUSE
from slackwater.core.decision.acts import Cause, DeletePod, Purpose, WriteWorkload
from slackwater.core.decision.decision import Decision
from slackwater.core.decision.reasons import Reason
from slackwater.core.manifests.template import wanted_template
from slackwater.core.rollout.in_place import next_move
from slackwater.core.world.observation import GroupState
from slackwater.core.world.pods import Pod
from slackwater.core.world.step import Step
from slackwater.core.world.workload import UpdateStrategy
from slackwater.core.world.world import World
from tests.core.factories import NEW, NOW, OLD, folded, group, members, observation, pod, workload, world

CLOSE, OPEN, RESTART = Purpose.CLOSE_OUT_OF_ORDER, Purpose.OPEN_OUT_OF_ORDER, Purpose.RESTART
IS_OPEN: dict[str, Any] = {"strategy": UpdateStrategy.ON_DELETE}
PAUSED: dict[str, Any] = {"annotations": {PAUSE: ""}}
CANARY: dict[str, Any] = {"rollout": {"canary": [{"replicas": 1}]}}


def given(*pods: Pod, wanted: dict[str, Any] | None = None, listed: tuple[int, ...] = (0, 1, 2), **sets: Any) -> World:
    """`listed`: whose members are in the group, and own all partitions that there are."""
    there = members(*listed)
    owned = frozenset(partition for member in there for partition in member.assignment)
    seen = observation(there, partitions=owned)
    return world(pods=pods, group=group(**(wanted or {})), kafka=seen, workload=workload(**sets))


def down(ordinal: int, revision: str = OLD) -> Pod:
    return pod(ordinal, revision, ready=False)


def move(given: World) -> Decision:
    assert given.workload is not None
    return next_move(given, given.workload, wanted_template(given))


def told(decided: Decision) -> tuple[object, ...]:
    """What, to which ordinal; or why not."""
    act = decided.act
    if isinstance(act, DeletePod):
        return ("delete", act.ordinal)
    if isinstance(act, WriteWorkload):
        return (act.purpose, act.partition)
    return (decided.hold.reason,) if decided.hold is not None else ()


ALL = (pod(0), pod(1), pod(2))
ALL_NEW = (pod(0, NEW), pod(1, NEW), pod(2, NEW))
TWO_DOWN = (pod(0), down(1), down(2))
IN_ORDER: dict[str, Any] = {"fixed": {"podManagementPolicy": "OrderedReady"}}

REBALANCING: dict[str, Any] = {"state": GroupState.PREPARING_REBALANCE}


def busy(*pods: Pod, listed: tuple[int, ...], **sets: Any) -> World:
    """The group rebalances, as it may for hours."""
    calm = given(*pods, listed=listed, **sets)
    assert calm.seen is not None
    return replace(calm, kafka=replace(calm.seen, **REBALANCING))


def committing(*pods: Pod, moved_s_ago: float = 20) -> World:
    """The committed offsets of all have moved since."""
    calm = given(*pods, **IS_OPEN)
    assert calm.seen is not None
    moved = dict.fromkeys(calm.seen.partitions, NOW - moved_s_ago)
    return replace(calm, history=replace(calm.history, commit_moved_after=moved))


UNREADY = pod(1, ready=False, ready_changed_at=NOW - 30)
TABLE = [
    (
        "one that is out of the group waits for nothing there",
        busy(*ALL[:2], down(2), listed=(0, 1), **IS_OPEN),
        ("delete", 2),
    ),
    ("it would come back old", busy(*ALL[:2], down(2), listed=(0, 1)), (OPEN, 0)),
    ("one that is in it does", busy(*ALL, listed=(0, 1, 2)), (Reason.GROUP_REBALANCING,)),
    (
        "its new neighbour is to be Ready",
        busy(pod(0), down(1), down(2, NEW), listed=(0,), **IS_OPEN),
        (Reason.POD_NOT_READY,),
    ),
    ("one that works, and is not Ready, goes by hand", committing(pod(0), UNREADY, pod(2)), ("delete", 1)),
    ("its commits are from before", committing(pod(0), UNREADY, pod(2), moved_s_ago=31), ("delete", 1)),
    ("the highest outdated ordinal is restarted", given(*ALL), (RESTART, 2)),
    ("then the next one", given(pod(0), pod(1), pod(2, NEW), partition=2), (RESTART, 1)),
    ("nothing is left to do", given(*ALL_NEW, partition=0), ()),
    ("the controller is waited for", given(*ALL, partition=2), (Reason.RESTART_IN_HAND,)),
    ("a pod that is to be made is waited for", given(pod(0), pod(1), partition=2), (Reason.RESTART_IN_HAND,)),
    (
        "a pod that is to end is waited for",
        given(pod(0), pod(1), pod(2, terminating=True), partition=2),
        (Reason.RESTART_IN_HAND,),
    ),
    ("a gate refuses", given(*ALL, wanted=PAUSED), (Reason.PAUSED,)),
    ("a pod that is down goes first", given(pod(0), down(1), pod(2), listed=(0, 2), **IS_OPEN), ("delete", 1)),
    ("but not before a gate lets it", given(pod(0), down(1), pod(2), wanted=PAUSED, **IS_OPEN), (Reason.PAUSED,)),
    ("nor before it would come back new", given(pod(0), down(1), pod(2), listed=(0, 2)), (OPEN, 0)),
    ("which it does from the partition up", given(pod(0), pod(1), down(2), listed=(0, 1), partition=2), ("delete", 2)),
    ("of two that are down, the highest", given(*TWO_DOWN, listed=(0,), **IS_OPEN), ("delete", 2)),
    ("under OrderedReady, the lowest", given(*TWO_DOWN, listed=(0,), **IS_OPEN, **IN_ORDER), ("delete", 1)),
    ("once none is down it is closed again", given(pod(0), pod(1), pod(2, NEW), **IS_OPEN), (CLOSE, 2)),
    ("although a gate would refuse", given(pod(0), pod(1), pod(2, NEW), wanted=PAUSED, **IS_OPEN), (CLOSE, 2)),
    ("a canary's hold holds", given(pod(0), pod(1), pod(2, NEW), wanted=CANARY, partition=2), (Reason.CANARY_HOLD,)),
    (
        "one that is down as well",
        given(pod(0), down(1), pod(2, NEW), wanted=CANARY, listed=(0, 2), partition=2),
        (Reason.CANARY_HOLD,),
    ),
    (
        "and closes what is open",
        given(pod(0), down(1), pod(2, NEW), wanted=CANARY, listed=(0, 2), **IS_OPEN),
        (CLOSE, 2),
    ),
]


@pytest.mark.parametrize(("given", "expected"), [pytest.param(w, e, id=name) for name, w, e in TABLE])
def test_next_move(given: World, expected: tuple[object, ...]) -> None:
    assert told(move(given)) == expected


@pytest.mark.parametrize(
    ("moved_s_ago", "cause"), [(20, Cause.NOT_READY), (31, Cause.DOWN)], ids=["it works", "it did, before that"]
)
def test_who_works_is_not_said_to_be_down(moved_s_ago: float, cause: Cause) -> None:
    act = move(committing(pod(0), UNREADY, pod(2), moved_s_ago=moved_s_ago)).act
    assert isinstance(act, DeletePod)
    assert act.cause is cause


def test_who_works_and_is_not_ready_waits_for_the_group_as_any_other() -> None:
    calm = committing(pod(0), UNREADY, pod(2))
    assert calm.seen is not None
    assert told(move(replace(calm, kafka=replace(calm.seen, **REBALANCING)))) == (Reason.GROUP_REBALANCING,)


@pytest.mark.parametrize("before", [given(*ALL), given(pod(0), pod(1), down(2), partition=2)], ids=["in turn", "down"])
def test_who_was_there_before_is_remembered_with_the_restart(before: World) -> None:
    down = tuple(pod.ordinal for pod in before.pods if not pod.ready)
    assert move(before).memory.step == Step(
        2, NOW, {"payments-2": "payments-2-a"}, down=down, uid_before=before.pods[2].uid
    )


@pytest.mark.parametrize(("came_s_ago", "expected"), [(5, (Reason.GROUP_STABILIZING,)), (20, (CLOSE, 2))])
def test_it_stays_open_for_a_pod_that_has_just_come_back_and_may_go_again(
    came_s_ago: float, expected: tuple[object, ...]
) -> None:
    back = given(pod(0), pod(1), pod(2, NEW), **IS_OPEN)
    assert back.seen is not None
    away = replace(back.seen, members=members(0, 2), observed_at=NOW - 100)
    before = replace(away, observed_at=NOW - came_s_ago - 1)
    history = folded(away, before, replace(back.seen, observed_at=NOW - came_s_ago), back.seen)
    assert told(move(replace(back, history=history))) == expected
