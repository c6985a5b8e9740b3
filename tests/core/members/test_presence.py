"""Is a pod's consumer in the group? A table; and what counts as down."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from slackwater.core.decision.reasons import Reason
from slackwater.core.members.presence import Presence, absent_since, is_down, presence
from slackwater.core.world.history import GroupHistory, advance, interrupted
from slackwater.core.world.memory import RolloutMemory, RolloutPhase, Step
from slackwater.core.world.observation import GroupObservation, GroupType, Member, PartitionOffsets, Unobserved
from slackwater.core.world.pods import Pod
from slackwater.core.world.world import World
from tests.core.factories import (
    NOW,
    changed,
    dynamic_member,
    folded,
    fresh_pod,
    group,
    member,
    members,
    observation,
    pod,
    world,
)

YES, NO, UNKNOWN = Presence.YES, Presence.NO, Presence.UNKNOWN
NEW_MEMBER = (*members(0, 1), member(2, "b"))
SESSION_S = 45 + 5
"""The default session and the margin."""


def seen(pod: Pod, *looks: GroupObservation, step: Step | None = None, **spec: Any) -> World:
    memory = RolloutMemory(step=step)
    return world(pods=(pod,), kafka=looks[-1], history=folded(*looks), memory=memory, group=group(**spec))


def at(seconds_ago: float, who: tuple[Member, ...] = members(0, 1, 2), **changes: Any) -> GroupObservation:
    return observation(who, at=NOW - seconds_ago, **changes)


RESTARTED = fresh_pod(2, age_s=20)
STEP = Step(2, NOW - 21, {"payments-2": "payments-2-a"})
JUST_RESTARTED = fresh_pod(2, age_s=1)
STEP_JUST_NOW = Step(2, NOW - 3, {"payments-2": "payments-2-a"})
GONE, BACK = at(30, members(0, 1)), at(0, NEW_MEMBER)
MOVED = {p: PartitionOffsets(120, 120) for p in observation().partitions}
TWO = tuple(member(2, instance_id=f"payments-2-{t}", member_id=f"id-{t}") for t in range(2))
ONE_IS_NEW = (TWO[0], replace(TWO[1], member_id="id-new"))
ONE_DYNAMIC = (dynamic_member(2),)
DYNAMIC_THEN_NEW = (dynamic_member(2), replace(dynamic_member(2), member_id="consumer-new"))

TABLE = [
    ("listed, up for long", seen(pod(2), at(0)), YES),
    ("not listed", seen(pod(2), at(0, members(0, 1))), NO),
    ("its container does not run", seen(pod(2, started_at=None), at(0)), NO),
    ("restarted by us, old member id", seen(RESTARTED, at(30), at(0), step=STEP), NO),
    ("restarted by us, new member id", seen(JUST_RESTARTED, at(2), BACK, step=STEP_JUST_NOW), YES),
    ("and the operator saw nothing of it", seen(RESTARTED, at(0, NEW_MEMBER), step=STEP), UNKNOWN),
    ("and there was time for another process in between", seen(RESTARTED, at(30), BACK, step=STEP), UNKNOWN),
    ("and it was there before the pod", seen(JUST_RESTARTED, at(3), at(2, NEW_MEMBER), BACK, step=STEP), NO),
    ("restarted by us, then crashed", seen(replace(RESTARTED, restarts=1), at(0, NEW_MEMBER), step=STEP), UNKNOWN),
    ("the old pod is still there", seen(pod(2), at(0), step=STEP), YES),
    ("restarted by itself, old member id", seen(RESTARTED, at(30), at(0)), NO),
    ("restarted by itself, the change was seen", seen(RESTARTED, at(30), at(10), BACK), YES),
    ("restarted by itself, change between looks", seen(RESTARTED, at(30), BACK), UNKNOWN),
    ("and its partitions move", seen(RESTARTED, at(30), at(10, NEW_MEMBER), at(0, NEW_MEMBER, offsets=MOVED)), YES),
    ("first look, just started", seen(RESTARTED, at(0)), UNKNOWN),
    ("first look, just before a session's end", seen(fresh_pod(2, age_s=SESSION_S - 1), at(0)), UNKNOWN),
    ("first look, a session after its start", seen(fresh_pod(2, age_s=SESSION_S), at(0)), YES),
    ("the dead one's session cannot end so late", seen(fresh_pod(2, age_s=SESSION_S), at(90), at(0)), YES),
    ("longer session", seen(fresh_pod(2, age_s=SESSION_S), at(0), timeouts={"session": "60s"}), UNKNOWN),
    ("KIP-848 sessions", seen(fresh_pod(2, age_s=64), at(0, type=GroupType.CONSUMER)), UNKNOWN),
    ("one of two threads", seen(RESTARTED, at(30, TWO), at(5, ONE_IS_NEW), at(0, ONE_IS_NEW), membersPerPod=2), NO),
    ("both threads", seen(pod(2), at(0, TWO), membersPerPod=2), YES),
    ("dynamic", seen(pod(2), at(0, ONE_DYNAMIC), membership="Dynamic"), YES),
    (
        "dynamic, the crashed one is still listed",
        seen(pod(2, started_at=NOW - 5), at(30, ONE_DYNAMIC), at(0, ONE_DYNAMIC), membership="Dynamic"),
        NO,
    ),
    (
        "dynamic, the crashed one and its successor",
        seen(
            pod(2, started_at=NOW - 5),
            at(30, ONE_DYNAMIC),
            at(3, ONE_DYNAMIC),
            at(0, DYNAMIC_THEN_NEW),
            membership="Dynamic",
        ),
        YES,
    ),
]


@pytest.mark.parametrize(("given", "expected"), [pytest.param(w, e, id=name) for name, w, e in TABLE])
def test_presence(given: World, expected: Presence) -> None:
    assert presence(given, given.pods[0]) is expected


def test_nothing_is_known_while_kafka_is_not() -> None:
    unobserved = Unobserved(Reason.KAFKA_UNREACHABLE, "", NOW)
    assert presence(world(kafka=unobserved), pod(2)) is UNKNOWN
    assert presence(world(kafka=unobserved), pod(2, started_at=None)) is NO


def test_a_coordinator_that_comes_anew_gives_a_dead_member_a_whole_session_more() -> None:
    """Kafka was out of reach for a minute just after the pod restarted: its dead predecessor may be listed still."""
    history = advance(interrupted(folded(at(110), at(70))), at(10))
    given = world(pods=(fresh_pod(2, age_s=75),), kafka=at(0), history=advance(history, at(0)), memory=RolloutMemory())
    assert presence(given, given.pods[0]) is NO
    long_before = changed(given, pods=(fresh_pod(2, age_s=125),))
    assert presence(long_before, long_before.pods[0]) is YES


ABSENT = at(0, members(0, 1))
BACKWARDS = RolloutMemory(phase=RolloutPhase.ROLLING_BACK)
DOWN = [
    ("Ready and there", seen(pod(2), at(0)), False),
    ("not Ready", seen(pod(2, ready=False), at(0)), True),
    ("absent, for how long is not known", seen(pod(2), ABSENT), False),
    ("absent for less than rejoinTimeout", seen(pod(2), at(299, members(0, 1)), ABSENT), False),
    ("absent for more than rejoinTimeout", seen(pod(2), at(301, members(0, 1)), ABSENT), True),
    ("it left not long ago", seen(pod(2), at(301), at(299, members(0, 1)), ABSENT), False),
    ("absent, and its version was given up", replace(seen(pod(2), ABSENT), memory=BACKWARDS), True),
    ("there, and its version was given up", replace(seen(pod(2), at(0)), memory=BACKWARDS), False),
    (
        "out of sight meanwhile",
        replace(seen(pod(2), ABSENT), history=advance(interrupted(folded(at(301, members(0, 1)))), ABSENT)),
        False,
    ),
]


@pytest.mark.parametrize(("given", "expected"), [pytest.param(w, e, id=name) for name, w, e in DOWN])
def test_down(given: World, expected: bool) -> None:
    assert is_down(given, given.pods[0]) is expected


def test_absence_counts_from_the_last_thing_that_happened() -> None:
    unseen = world(history=GroupHistory())
    assert absent_since(unseen, pod(2)) == NOW
    given = seen(pod(2), at(50, members(0, 1)), ABSENT)
    assert absent_since(given, pod(2)) == NOW - 50
    assert absent_since(given, pod(2, created_at=NOW - 20, started_at=NOW - 19)) == NOW - 19
    assert absent_since(given, pod(2, ready=False, ready_changed_at=NOW - 3)) == NOW - 3
