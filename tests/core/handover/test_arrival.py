"""When a replacement that has not taken over has failed, and when it is not to blame."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

import pytest

from slackwater.core.decision.reasons import Reason
from slackwater.core.handover import arrival
from slackwater.core.handover.arrival import find_arrival_failure, fits_no_node, has_no_room
from slackwater.core.world.handover import Handover, TakenOver, Undone
from slackwater.core.world.observation import Unobserved
from slackwater.core.world.pods import Pod
from slackwater.core.world.sighting import MemberSighting
from tests.core.factories import LONG_AGO, NAME, NOW, group
from tests.core.handover.stories import HELD, NEW, OLD, A, begun_with, both, looked_at

LIMIT_S: Final = 60.0
LATE: Final = NOW - LIMIT_S - 1
BEGUN_LATE: Final = begun_with(started_at=LATE)
OVERDUE: Final = replace(NEW, created_at=LATE, started_at=LATE, ready_changed_at=LATE)
STUCK: Final = replace(NEW, ready=False, started_at=None, waiting="ErrImageNeverPull", waiting_message="no such image")
STUCK_WORDS, LATE_WORDS = (
    "pod payments-alt-0 is stuck in ErrImageNeverPull: no such image",
    "pod payments-alt-0 has not taken over after 60 s (rejoinTimeout)",
)


def failure(
    new: Pod | None = OVERDUE,
    then: Handover | None = BEGUN_LATE,
    old: Pod = OLD,
    retried_at: float | None = None,
    **seen: Any,
) -> str | None:
    spec = group(rollout={"strategy": "WarmHandover", "rejoinTimeout": f"{LIMIT_S:g}s"})
    looked = looked_at(A, MemberSighting(A, LONG_AGO, None), group=spec)
    kafka = seen.pop("kafka", looked.kafka)
    looked = replace(looked, kafka=kafka, history=replace(looked.history, **seen))
    made = both(looked, then, (old,) if new is None else (old, new), retried_at=retried_at)
    assert made.beside is not None
    found = find_arrival_failure(made, made.beside)
    return found.message if found is not None else None


AWAY: Final = Unobserved(Reason.KAFKA_UNREACHABLE, "no broker answers", NOW)
CASES: Final[dict[str, tuple[dict[str, Any], str | None]]] = {
    "it has not taken over for longer than rejoinTimeout": ({}, LATE_WORDS),
    "the handover began since": ({"then": begun_with(started_at=NOW - LIMIT_S)}, None),
    "its pod was made since": ({"new": replace(OVERDUE, created_at=NOW - LIMIT_S)}, None),
    "its container was started since": ({"new": replace(OVERDUE, started_at=NOW - LIMIT_S)}, None),
    "a node has had it only since": ({"new": replace(OVERDUE, ready_changed_at=NOW - LIMIT_S)}, None),
    "no node has had it yet": ({"new": replace(OVERDUE, ready_changed_at=None)}, None),
    "Kafka was out of sight until then": ({"watched_since": NOW - LIMIT_S}, None),
    "Kafka is not watched": ({"watched_since": None}, None),
    "Kafka cannot be asked": ({"kafka": AWAY}, None),
    "it is stuck": ({"new": STUCK}, STUCK_WORDS),
    "it is stuck, and the old pod was restarted: they may fence each other": (
        {"new": STUCK, "old": replace(OLD, restarts=1)},
        None,
    ),
    "it waits like a stuck one, and is Ready": ({"new": replace(STUCK, ready=True)}, None),
    "no node can take it": ({"new": replace(OVERDUE, started_at=None, waiting="Unschedulable")}, None),
    "it is not made": ({"new": None}, None),
    "it is being deleted": ({"new": replace(OVERDUE, terminating=True)}, None),
    "retry was given since it was made": ({"retried_at": LATE + 2}, None),
    "retry was given before it was made": ({"retried_at": LATE - 2}, LATE_WORDS),
    "nothing is handed over": ({"then": None}, None),
    "it has taken over": ({"then": replace(BEGUN_LATE, state=TakenOver(HELD))}, None),
    "it is being removed, and does not end": ({"then": replace(BEGUN_LATE, state=Undone(HELD))}, LATE_WORDS),
    "it is of the version before": ({"then": replace(BEGUN_LATE, to=NAME)}, None),
    "another ordinal is handed over": ({"then": replace(BEGUN_LATE, ordinal=1)}, None),
}


@pytest.mark.parametrize(("given", "expected"), CASES.values(), ids=CASES.keys())
def test_a_replacement_has_failed(given: dict[str, Any], expected: str | None) -> None:
    assert failure(**given) == expected


@pytest.mark.parametrize(
    ("new", "expected"),
    [
        (None, True),
        (replace(NEW, started_at=None, waiting="Unschedulable"), True),
        (replace(NEW, waiting="Unschedulable"), False),
        (replace(NEW, started_at=None, waiting="ContainerCreating"), False),
    ],
    ids=["it is not made", "no node can take it", "it runs", "a node has it"],
)
def test_there_is_no_room(new: Pod | None, expected: bool) -> None:
    assert has_no_room(new) is expected


TAINT: Final = "1 node(s) had untolerated taint"
SELECTOR: Final = "1 node(s) didn't match Pod's node affinity/selector"


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (f"0/1 nodes are available: {SELECTOR}.", True),
        (
            f"0/1 nodes are available: {SELECTOR}. no new claims to deallocate, preemption: x",
            True,
        ),
        (f"0/2 nodes are available: {SELECTOR}, {TAINT} {{team: data}}. preemption: x", True),
        (f"0/2 nodes are available: {SELECTOR}, 1 Insufficient cpu. preemption: x", False),
        (f"0/2 nodes are available: {SELECTOR}, 1 node(s) were unschedulable.", False),
        (f"0/1 nodes are available: {TAINT} {{node.kubernetes.io/unreachable: }}.", False),
        ("0/1 nodes are available: 1 node(s) didn't match pod anti-affinity rules. preemption: x", False),
        ("no nodes available to schedule pods", False),
        ("", False),
    ],
)
def test_no_node_is_as_it_asks(said: str, expected: bool) -> None:
    """Whether a pod less would change nothing."""
    waits = replace(NEW, started_at=None, waiting="Unschedulable", waiting_message=said)
    assert fits_no_node(waits) is expected
    assert not fits_no_node(replace(waits, started_at=NOW))


@pytest.mark.parametrize(("otherwise", "late_s", "fails"), [(True, 1, True), (False, 1, False), (True, -1, False)])
def test_a_version_that_asks_for_a_node_that_there_is_not_has_failed(
    monkeypatch: pytest.MonkeyPatch, otherwise: bool, late_s: float, fails: bool
) -> None:
    """As it does in place; where the last good one asks for the same, the nodes have changed."""
    monkeypatch.setattr(arrival, "needs_otherwise", lambda world: otherwise)
    said = f"0/1 nodes are available: {SELECTOR}."
    new = replace(OVERDUE, started_at=None, ready=False, waiting="Unschedulable", waiting_message=said)
    found = failure(new=replace(new, created_at=NOW - LIMIT_S - late_s))
    assert (found is not None) is fails
    assert found is None or found.startswith("no node is as pod payments-alt-0 asks, after")
