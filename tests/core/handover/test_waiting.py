"""The old pod still holds its ids: what ends the wait, in which order, and how soon it is looked at again."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

import pytest

from slackwater.core.decision.decision import Decision
from slackwater.core.decision.reasons import Reason
from slackwater.core.handover.foresight import LEAD_S
from slackwater.core.handover.overlap import LOOK_AGAIN_S, Overlap
from slackwater.core.handover.waiting import MADE_WITHIN_S, SHORTEST_WAIT_S, wait_or_end_the_wait
from slackwater.core.world.handover import Handover, Undone
from slackwater.core.world.memory import RolloutPhase
from slackwater.core.world.pods import Pod
from slackwater.core.world.sighting import MemberSighting
from tests.core.factories import LONG_AGO, NAME, NOW, group
from tests.core.handover.stories import ALT, HELD, NEW, OLD, A, begun_with, both, looked_at, shown

GIVES_OLD_UP: Final = f"GIVE_UP {NAME} [1, 3)"
TAKES_BACK: Final = f"TAKE_BACK {ALT} [0, 0)"
WAITS: Final = "RestartInHand: waiting for payments-alt-0 to take over from payments-0"
NO_ROOM: Final = (
    "NoRoom: there is no room for one pod more: 0/3 nodes are available. "
    "Make room, or apply a template that a node can take; else set rollout.surgeTimeout to go on without, or"
    " rollout.strategy to InPlace"
)
NOT_MADE: Final = (
    "NoRoom: there is no room for one pod more, or it may not be made: see the StatefulSet's events. "
    "Make room, or apply a template that a node can take; else set rollout.surgeTimeout to go on without, or"
    " rollout.strategy to InPlace"
)
UNSCHEDULABLE: Final = replace(
    NEW, started_at=None, ready=False, waiting="Unschedulable", waiting_message="0/3 nodes are available"
)


PASSED_OVER: Final = (
    "0/3 nodes are available: 2 node(s) didn't match Pod's node affinity/selector, 1 node(s) had untolerated taint"
    " {team: data}. preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling."
)
FITS_NOWHERE: Final = replace(UNSCHEDULABLE, waiting_message=PASSED_OVER)
NO_NODE: Final = f"NoRoom: no node is as pod {NEW.name} asks: {PASSED_OVER}. Apply a template that a node can take, or"


WITHOUT_A_NODE: Final[dict[str, Any]] = {
    "started_at": None,
    "ready": False,
    "waiting": "Unschedulable",
    "waiting_message": "0/3 nodes are available",
}


GONE_DOWN: Final[dict[str, Any]] = {"ready": False, "started_at": NOW - 900, "ready_changed_at": NOW - 120}
COMING_UP: Final[dict[str, Any]] = {"ready": False, "started_at": NOW - 3, "created_at": NOW - 9}


def waited(
    new: Pod | None = NEW,
    then: Handover | None = None,
    old: Pod | None = OLD,
    annotations: dict[str, str] | None = None,
    rollout: dict[str, Any] | None = None,
    other: dict[str, Any] | None = None,
    holds: str | None = A,
    gone_since: float | None = None,
    **memory: Any,
) -> Decision:
    then = begun_with() if then is None else then
    spec = group(annotations, rollout={"strategy": "WarmHandover"} | (rollout or {}))
    if new is not None and "retried_at" in memory:
        new = replace(new, template_hash="a version")
    sighting = MemberSighting(A, LONG_AGO, None) if holds == A else None
    seen = looked_at(holds, sighting, gone_since=gone_since, group=spec)
    world = both(seen, then, tuple(pod for pod in (old, new) if pod is not None), **memory)
    if other is not None:
        changed_pods = tuple(replace(pod, **other) if pod.ordinal == 1 else pod for pod in world.all_pods)
        world = replace(world, all_pods=changed_pods)
    beside, way = world.beside, world.way
    assert beside is not None
    assert way is not None
    return wait_or_end_the_wait(Overlap(world, beside, way, then, old, new))


COLD: Final = begun_with(cold=True)
CASES: Final[dict[str, tuple[dict[str, Any], str]]] = {
    "nothing ends it": ({}, WAITS),
    "the pod before it is gone": (
        {"old": None},
        "RestartInHand: waiting for payments-alt-0 to take over from the pod before it",
    ),
    "the rollout has stopped": ({"phase": RolloutPhase.FAILED}, "RestartInHand: the rollout has stopped"),
    "the rollout has stopped, and a retry does not go on with it by itself": (
        {"phase": RolloutPhase.FAILED, "retried_at": NOW},
        "RestartInHand: the rollout has stopped",
    ),
    "the rollout has stopped, and no pod that works is given up for want of room": (
        {"phase": RolloutPhase.FAILED, "then": COLD},
        "RestartInHand: the rollout has stopped",
    ),
    "retry was given since the replacement was made": ({"retried_at": NOW - 1}, TAKES_BACK),
    "retry was given before the replacement was made": ({"retried_at": NEW.created_at - 1}, WAITS),
    "there was no room before in this rollout": ({"then": COLD, "new": UNSCHEDULABLE}, GIVES_OLD_UP),
    "there was no room before in this rollout, and there is now": ({"then": COLD}, WAITS),
    "the strategy was changed to InPlace": ({"rollout": {"strategy": "InPlace"}}, GIVES_OLD_UP),
    "the strategy was changed to InPlace, and a gate does not hold": (
        {"rollout": {"strategy": "InPlace"}, "annotations": {"slackwater.dev/pause": "true"}},
        "Paused: paused: remove the annotation slackwater.dev/pause to go on",
    ),
    "it is not made, and may be yet": (
        {"new": None, "then": begun_with(started_at=NOW - MADE_WITHIN_S)},
        "RestartInHand: waiting for payments-alt-0 to be made",
    ),
    "it is not made yet, and surgeTimeout is shorter than that takes": (
        {"new": None, "then": begun_with(started_at=NOW - 3), "rollout": {"surgeTimeout": "0s"}},
        "RestartInHand: waiting for payments-alt-0 to be made",
    ),
    "it is not made for too long": ({"new": None}, NOT_MADE),
    "no node can take it, and there is no surgeTimeout": ({"new": UNSCHEDULABLE}, NO_ROOM),
    "no node can take it, and surgeTimeout is not over": (
        {"new": UNSCHEDULABLE, "rollout": {"surgeTimeout": "30s"}},
        NO_ROOM,
    ),
    "no node can take it for longer than surgeTimeout": (
        {"new": UNSCHEDULABLE, "rollout": {"surgeTimeout": "29s"}},
        GIVES_OLD_UP,
    ),
    "no node is as it asks, whatever surgeTimeout is": (
        {"new": FITS_NOWHERE, "rollout": {"surgeTimeout": "29s"}},
        f"{NO_NODE} slackwater abort payments (annotation slackwater.dev/abort)",
    ),
    "no node is as it asks, and it is to go on in place": (
        {"new": FITS_NOWHERE, "rollout": {"strategy": "InPlace"}},
        f"{NO_NODE} slackwater abort payments (annotation slackwater.dev/abort)",
    ),
    "there is no room, and the pod that would go works while another one has no node": (
        {"then": COLD, "new": UNSCHEDULABLE, "other": WITHOUT_A_NODE},
        "PodNotReady: pod payments-1 is not Ready (Unschedulable: 0/3 nodes are available)",
    ),
    "there is no room, and another one has just been started": (
        {"then": COLD, "new": UNSCHEDULABLE, "other": COMING_UP},
        "PodNotReady: pod payments-1 is not Ready",
    ),
    "there is no room, and another one has been coming up for rejoinTimeout": (
        {"then": begun_with(cold=True, started_at=NOW - 301), "new": UNSCHEDULABLE, "other": COMING_UP},
        GIVES_OLD_UP,
    ),
    "there is no room, and another one has gone down since: its node may be back": (
        {"then": begun_with(cold=True, started_at=NOW - 301), "new": UNSCHEDULABLE, "other": GONE_DOWN},
        "PodNotReady: pod payments-1 is not Ready",
    ),
    "there is no room, and another one has been down for rejoinTimeout": (
        {
            "then": begun_with(cold=True, started_at=NOW - 301),
            "new": UNSCHEDULABLE,
            "other": {**GONE_DOWN, "ready_changed_at": NOW - 301},
        },
        GIVES_OLD_UP,
    ),
    "it may not be made, and another one has no node: that one has its place already": (
        {"then": COLD, "new": None, "other": WITHOUT_A_NODE},
        GIVES_OLD_UP,
    ),
    "it is to go on in place, there is no room, and another one has just been started": (
        {"rollout": {"strategy": "InPlace"}, "new": UNSCHEDULABLE, "other": COMING_UP},
        "PodNotReady: pod payments-1 is not Ready",
    ),
    "it is to go on in place, there is no room, and another one has gone down": (
        {"rollout": {"strategy": "InPlace"}, "new": UNSCHEDULABLE, "other": GONE_DOWN},
        "PodNotReady: pod payments-1 is not Ready",
    ),
    "it is to go on in place, and another one has no node": (
        {"rollout": {"strategy": "InPlace"}, "new": UNSCHEDULABLE, "other": WITHOUT_A_NODE},
        GIVES_OLD_UP,
    ),
    "it is to go on in place, and another one is down: a second would be away": (
        {"rollout": {"strategy": "InPlace"}, "other": WITHOUT_A_NODE},
        WAITS,
    ),
    "it is to go on in place, another one is down, and the replacement is late": (
        {"rollout": {"strategy": "InPlace", "rejoinTimeout": "10s"}, "other": WITHOUT_A_NODE},
        GIVES_OLD_UP,
    ),
    "there is no room, and another one crashes": (
        {"then": COLD, "new": UNSCHEDULABLE, "other": {**WITHOUT_A_NODE, "waiting": "CrashLoopBackOff", "restarts": 3}},
        GIVES_OLD_UP,
    ),
    "it had no room once, and runs now": ({"new": replace(NEW, waiting="Unschedulable")}, WAITS),
}


@pytest.mark.parametrize(("given", "expected"), CASES.values(), ids=CASES.keys())
def test_what_ends_the_wait(given: dict[str, Any], expected: str) -> None:
    assert shown(waited(**given)) == expected


LATE: Final[dict[str, Any]] = {"created_at": LONG_AGO, "started_at": LONG_AGO, "ready_changed_at": LONG_AGO}


def test_a_replacement_that_is_late_is_said_to_be_and_looked_at_as_often() -> None:
    hold = waited(replace(NEW, **LATE), begun_with(started_at=LONG_AGO)).hold
    assert hold is not None
    assert hold.reason is Reason.POD_NOT_JOINING
    assert hold.message.startswith(
        "pod payments-alt-0 has not taken over from payments-0 after 5 min (rejoinTimeout). "
    )
    assert (hold.recheck_s, hold.look_s) == (LOOK_AGAIN_S, LOOK_AGAIN_S)


LATE_TOO: Final[dict[str, Any]] = {
    "new": replace(NEW, **LATE),
    "then": begun_with(started_at=LONG_AGO),
    "forced_hash": "a version",  # or its partitions would have to have another owner by now
}
DOWN: Final = replace(OLD, ready=False, ready_changed_at=NOW - 90)
NEITHER: Final[dict[str, tuple[dict[str, Any], str]]] = {
    "the old pod is down, and nobody has its ids": ({**LATE_TOO, "old": DOWN, "holds": None}, GIVES_OLD_UP),
    "its session may not be over": ({**LATE_TOO, "old": DOWN}, "PodNotJoining"),
    "it is Ready, and has left for a moment": ({**LATE_TOO, "holds": None, "gone_since": NOW - 5}, "PodNotJoining"),
    "the old pod is gone": ({**LATE_TOO, "old": None, "holds": None}, "PodNotJoining"),
    "the replacement may yet come": ({**LATE_TOO, "new": NEW, "old": DOWN, "holds": None}, "RestartInHand"),
    "a gate does not hold": (
        {**LATE_TOO, "old": DOWN, "holds": None, "annotations": {"slackwater.dev/pause": ""}},
        "PodNotJoining",
    ),
}


@pytest.mark.parametrize(("given", "begins"), NEITHER.values(), ids=NEITHER.keys())
def test_an_old_pod_that_has_gone_down_since_is_given_up_where_its_replacement_is_late(
    given: dict[str, Any], begins: str
) -> None:
    assert shown(waited(**given)).startswith(begins)


def test_a_replacement_that_is_late_is_tried_again_by_retry() -> None:
    given = waited(replace(NEW, **LATE), begun_with(started_at=LONG_AGO), retried_at=NOW - 1)
    assert shown(given) == TAKES_BACK


def test_a_replacement_that_is_taken_back_leaves_what_the_old_pod_holds() -> None:
    handover = waited(retried_at=NOW - 1).memory.handover
    assert handover == replace(begun_with(), state=Undone(HELD))


def test_a_rollout_that_went_on_without_room_remembers_that() -> None:
    went_on = waited(UNSCHEDULABLE, rollout={"surgeTimeout": "29s"}).memory.handover
    assert went_on == begun_with(cold=True)
    assert waited(UNSCHEDULABLE).memory.handover == begun_with()


# Predictive.

JOINS_IN_S: Final = 4.0


def predicted(since_start_s: float, **changes: Any) -> Decision:
    """The replacement's container has run for so long, and those before it took four seconds to join."""
    then = begun_with()
    replacement = replace(then.replacement, running_since=NOW - since_start_s, joined_after_s=(JOINS_IN_S,))
    timing = {"rollout": {"handover": "Predictive"}} | changes
    return waited(replace(NEW, started_at=NOW - since_start_s), replace(then, replacement=replacement), **timing)


@pytest.mark.parametrize(
    ("since_start_s", "expected"),
    [
        (JOINS_IN_S - LEAD_S - 0.05, WAITS),
        (JOINS_IN_S - LEAD_S, f"LET_GO_EARLY {NAME} [1, 3)"),
        (JOINS_IN_S, f"LET_GO_EARLY {NAME} [1, 3)"),
        (JOINS_IN_S + 0.1, WAITS),
    ],
    ids=["not yet", "just before the join", "just at the join", "it is late"],
)
def test_the_old_pod_is_let_go_just_before_the_join(since_start_s: float, expected: str) -> None:
    assert shown(predicted(since_start_s)) == expected


def test_nothing_is_let_go_early_while_a_gate_does_not_hold() -> None:
    assert shown(predicted(JOINS_IN_S - LEAD_S, annotations={"slackwater.dev/pause": "true"})) == WAITS


@pytest.mark.parametrize(
    ("since_start_s", "recheck_s"),
    [(1.0, LOOK_AGAIN_S), (JOINS_IN_S - LEAD_S - 0.05, 0.05), (JOINS_IN_S - LEAD_S - 0.001, SHORTEST_WAIT_S)],
    ids=["the moment is far", "the moment is near", "the moment is nearer than a pass can be"],
)
def test_the_next_pass_comes_at_the_moment(since_start_s: float, recheck_s: float) -> None:
    hold = predicted(since_start_s).hold
    assert hold is not None
    assert hold.recheck_s == pytest.approx(recheck_s)


def test_the_start_is_written_down_as_soon_as_it_is_seen() -> None:
    handover = waited(replace(NEW, started_at=NOW - 1, told_running_at=NOW - 0.7)).memory.handover
    assert handover is not None
    assert handover.replacement.running_since == NOW - 0.7


@pytest.mark.parametrize(
    ("new", "look_s"),
    [(NEW, LOOK_AGAIN_S), (replace(NEW, started_at=None), None)],
    ids=["it runs", "it does not run yet"],
)
def test_the_group_is_looked_at_often_once_the_replacement_runs(new: Pod, look_s: float | None) -> None:
    hold = waited(new).hold
    assert hold is not None
    assert hold.look_s == look_s
