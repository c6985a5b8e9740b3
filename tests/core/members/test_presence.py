"""Is a pod's consumer in the group? A table of cases, one of proofs, one of their order; and what counts as down."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from slackwater.core.decision.reasons import Reason
from slackwater.core.members.presence import (
    PROOFS,
    Case,
    Presence,
    Proof,
    a_session_has_passed,
    absent_since,
    another_pod_has_the_id,
    cases_of,
    consumes_unready,
    has_committed_since,
    is_down,
    is_the_member_before_the_step,
    joined_between_two_close_looks,
    member_presence,
    missing_proofs,
    presence,
    runs_as_when_it_held_the_id,
    was_seen_absent_since_the_start,
    was_there_before_the_start,
)
from slackwater.core.world.handover import Begun, Handover, Held, TakenOver
from slackwater.core.world.history import GroupHistory, advance, interrupted
from slackwater.core.world.memory import RolloutMemory, RolloutPhase
from slackwater.core.world.observation import (
    GroupObservation,
    GroupState,
    GroupType,
    Member,
    PartitionOffsets,
    Unobserved,
)
from slackwater.core.world.pods import Pod
from slackwater.core.world.step import Step
from slackwater.core.world.world import World
from tests.core.factories import (
    LONG_AGO,
    NOW,
    changed,
    dynamic_member,
    folded,
    fresh_pod,
    group,
    member,
    members,
    observation,
    owned_by,
    pod,
    stranger,
    workload,
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
WITH_OTHERS = replace(STEP_JUST_NOW, ordinal=5, also=(2,))
GONE, BACK = at(30, members(0, 1)), at(0, NEW_MEMBER)
MOVED = {p: PartitionOffsets(120, 120) for p in observation().partitions}
TWO = tuple(member(2, instance_id=f"payments-2-{t}", member_id=f"id-{t}") for t in range(2))
ONE_IS_NEW = (TWO[0], replace(TWO[1], member_id="id-new"))
ONE_DYNAMIC = (dynamic_member(2),)
DYNAMIC_THEN_NEW = (dynamic_member(2), replace(dynamic_member(2), member_id="consumer-new"))

AHEAD = fresh_pod(2, age_s=8)
WATCHED = replace(AHEAD, told_running_at=NOW - 13.5)
"""It started 14 s ago, on a node whose clock is 6 s ahead."""

TABLE = [
    ("listed, up for long", seen(pod(2), at(0)), YES),
    ("not listed", seen(pod(2), at(0, members(0, 1))), NO),
    ("its container does not run", seen(pod(2, started_at=None), at(0)), NO),
    ("restarted by us, old member id", seen(RESTARTED, at(30), at(0), step=STEP), NO),
    ("restarted by us, new member id", seen(JUST_RESTARTED, at(2), BACK, step=STEP_JUST_NOW), YES),
    ("restarted with others, new member id", seen(JUST_RESTARTED, at(2), BACK, step=WITH_OTHERS), YES),
    ("and the operator saw nothing of it", seen(RESTARTED, at(0, NEW_MEMBER), step=STEP), UNKNOWN),
    ("and there was time for another process in between", seen(RESTARTED, at(30), BACK, step=STEP), UNKNOWN),
    ("and it was there before the pod", seen(JUST_RESTARTED, at(3), at(2, NEW_MEMBER), BACK, step=STEP), NO),
    ("restarted by us, then crashed", seen(replace(RESTARTED, restarts=1), at(0, NEW_MEMBER), step=STEP), UNKNOWN),
    ("the old pod is still there", seen(pod(2), at(0), step=STEP), YES),
    ("restarted by itself, old member id", seen(RESTARTED, at(30), at(0)), NO),
    ("restarted by itself, the change was seen", seen(RESTARTED, at(30), at(10), BACK), YES),
    ("restarted by itself, change between looks", seen(RESTARTED, at(30), BACK), UNKNOWN),
    ("and its partitions move", seen(RESTARTED, at(30), at(10, NEW_MEMBER), at(0, NEW_MEMBER, offsets=MOVED)), YES),
    ("its node's clock is ahead", seen(AHEAD, at(30), at(12, NEW_MEMBER), BACK), NO),
    ("and a watch saw it run before", seen(WATCHED, at(30), at(12, NEW_MEMBER), BACK), UNKNOWN),
    ("and a look after that was without it", seen(WATCHED, at(13), at(12, NEW_MEMBER), BACK), YES),
    ("it was there before the pod", seen(RESTARTED, at(30), at(22, NEW_MEMBER), at(0, NEW_MEMBER)), NO),
    (
        "it came while a look was under way, in which the pod started",
        seen(RESTARTED, at(30), at(22, NEW_MEMBER, answered_at=NOW - 12), at(0, NEW_MEMBER)),
        UNKNOWN,
    ),
    ("first look, just started", seen(RESTARTED, at(0)), UNKNOWN),
    ("first look, just before a session's end", seen(fresh_pod(2, age_s=SESSION_S - 1), at(0)), UNKNOWN),
    ("first look, a session after its start", seen(fresh_pod(2, age_s=SESSION_S), at(0)), YES),
    ("the dead one's session cannot end so late", seen(fresh_pod(2, age_s=SESSION_S), at(90), at(0)), YES),
    ("longer session", seen(fresh_pod(2, age_s=SESSION_S), at(0), timeouts={"session": "60s"}), UNKNOWN),
    ("KIP-848 sessions", seen(fresh_pod(2, age_s=64), at(0, type=GroupType.CONSUMER)), UNKNOWN),
    ("one of two threads", seen(RESTARTED, at(30, TWO), at(5, ONE_IS_NEW), at(0, ONE_IS_NEW), membersPerPod=2), NO),
    (
        "one of two threads, for certain",
        seen(RESTARTED, at(30, TWO), at(10, TWO), at(5, ONE_IS_NEW), at(0, ONE_IS_NEW), membersPerPod=2),
        NO,
    ),
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


def test_a_coordinator_that_comes_again_gives_a_dead_member_a_whole_session_more() -> None:
    """Kafka was out of reach for a minute just after the pod restarted: its dead predecessor may be listed still."""
    history = advance(interrupted(folded(at(110), at(70))), at(10))
    given = world(pods=(fresh_pod(2, age_s=75),), kafka=at(0), history=advance(history, at(0)), memory=RolloutMemory())
    assert presence(given, given.pods[0]) is NO
    long_before = changed(given, pods=(fresh_pod(2, age_s=125),))
    assert presence(long_before, long_before.pods[0]) is YES


def case(of: Pod = RESTARTED, *looks: GroupObservation, **changes: Any) -> Case:
    """Pod 2's member as the last look has it. `changes`: of the world."""
    given = replace(seen(of, *(looks or (at(0),))), **changes)
    (made,) = cases_of(given, of)
    return made


HELD = Held({"payments-2": "payments-2-a"}, RESTARTED.run)
ANOTHERS = replace(HELD, run=RESTARTED.run._replace(uid="x"))


def in_handover(held: Held = HELD, **changes: Any) -> RolloutMemory:
    """Ordinal 2 was handed over to a pod, whose member is known."""
    return RolloutMemory(handover=replace(Handover(2, "payments-alt", NOW - 99, TakenOver(held)), **changes))


def to_another(before: float, after: float) -> tuple[GroupObservation, ...]:
    """The group went to another coordinator between these two looks."""
    seen_by = ((90, 1), (before, 1), (after, 2), (0, 2))
    return tuple(at(ago_s, coordinator=number) for ago_s, number in seen_by)


CRASHED = replace(RESTARTED, restarts=1)
MODERN = at(0, type=GroupType.CONSUMER)
OTHER = pod(2, uid="uid-2-other", name="payments-alt-2", workload="payments-alt", created_at=NOW - 1)
"""Pod 2 of the other StatefulSet."""
TAKEN_OVER, OLD_ONE = replace(RESTARTED, workload="payments-alt"), pod(2, uid="uid-2-old")


def two_sets(*pods: Pod, newcomers: int = 3) -> dict[str, Any]:
    """The StatefulSets of a warm rollout, with these pods; the younger one has so many."""
    younger = workload(name="payments-alt", uid="alt-uid", created_at=NOW - 99, replicas=newcomers)
    return {"sets": (workload(created_at=LONG_AGO), younger), "all_pods": pods}


TWO_SETS = two_sets(RESTARTED, OTHER)
LEAVING = two_sets(RESTARTED, OTHER, newcomers=2)
ANOTHER_ORDINAL = two_sets(RESTARTED, pod(1), replace(OTHER, ordinal=1))
KNOWN = RolloutMemory(step=STEP)
KNOWN_NOW = RolloutMemory(step=STEP_JUST_NOW)
ALONE_FOR_5_S = in_handover(replace(HELD, down=True), alone_since=NOW - 5)
ALONE_JUST_NOW = Handover(2, "payments-alt", NOW - 99, Begun(Held(down=True)), alone_since=NOW - 0.5)
UNKNOWN_BEFORE = RolloutMemory(step=Step(2, NOW - 3, {}))
ONE_LOOK_AWAY = (at(2), at(0, NEW_MEMBER))
IDLE = (*members(0, 1), member(2, assignment=frozenset()))
COMMITTED = (at(30), at(10), at(0, offsets=MOVED))

PROOF_BY_PROOF: list[tuple[Proof, str, Case, Presence | None]] = [
    (runs_as_when_it_held_the_id, "no handover", case(), None),
    (runs_as_when_it_held_the_id, "it took over", case(memory=in_handover()), YES),
    (runs_as_when_it_held_the_id, "of another ordinal", case(memory=in_handover(ordinal=1)), None),
    (
        runs_as_when_it_held_the_id,
        "another pod did",
        case(memory=in_handover(ANOTHERS)),
        None,
    ),
    (runs_as_when_it_held_the_id, "it crashed since", case(CRASHED, memory=in_handover()), None),
    (runs_as_when_it_held_the_id, "it was down", case(memory=in_handover(replace(HELD, down=True))), None),
    (runs_as_when_it_held_the_id, "another member", case(RESTARTED, BACK, memory=in_handover()), None),
    (
        runs_as_when_it_held_the_id,
        "it has not been replaced yet",
        case(memory=in_handover(state=Begun(HELD))),
        YES,
    ),
    (another_pod_has_the_id, "it is alone", case(), None),
    (another_pod_has_the_id, "its replacement is there", case(**TWO_SETS), UNKNOWN),
    (another_pod_has_the_id, "the replaced one is still there", case(**LEAVING), UNKNOWN),
    (another_pod_has_the_id, "a replacement of another ordinal", case(**ANOTHER_ORDINAL), None),
    (is_the_member_before_the_step, "the same", case(memory=KNOWN), NO),
    (is_the_member_before_the_step, "another", case(RESTARTED, BACK, memory=KNOWN), None),
    (is_the_member_before_the_step, "nobody was written down", case(memory=UNKNOWN_BEFORE), None),
    (
        is_the_member_before_the_step,
        "the step is another pod's",
        case(memory=RolloutMemory(step=replace(STEP, ordinal=1))),
        None,
    ),
    (is_the_member_before_the_step, "the pod is older than the step", case(pod(2), memory=KNOWN), None),
    (joined_between_two_close_looks, "it did", case(JUST_RESTARTED, *ONE_LOOK_AWAY, memory=KNOWN_NOW), YES),
    (joined_between_two_close_looks, "3 s apart", case(JUST_RESTARTED, at(3), BACK, memory=KNOWN_NOW), YES),
    (joined_between_two_close_looks, "more than that", case(JUST_RESTARTED, at(3.1), BACK, memory=KNOWN_NOW), None),
    (joined_between_two_close_looks, "its age is unknown", case(JUST_RESTARTED, BACK, memory=KNOWN_NOW), None),
    (
        joined_between_two_close_looks,
        "before it is unknown",
        case(JUST_RESTARTED, *ONE_LOOK_AWAY, memory=UNKNOWN_BEFORE),
        None,
    ),
    (
        joined_between_two_close_looks,
        "it crashed since",
        case(replace(JUST_RESTARTED, restarts=1), *ONE_LOOK_AWAY, memory=KNOWN_NOW),
        None,
    ),
    (
        joined_between_two_close_looks,
        "before the pod started",
        case(JUST_RESTARTED, at(3), at(2, NEW_MEMBER), BACK, memory=KNOWN_NOW),
        None,
    ),
    (
        joined_between_two_close_looks,
        "while the other pod ran",
        case(JUST_RESTARTED, at(2), at(1, NEW_MEMBER), BACK, memory=replace(KNOWN_NOW, handover=ALONE_JUST_NOW)),
        None,
    ),
    (was_seen_absent_since_the_start, "in the first look after it", case(RESTARTED, at(30), at(20), BACK), YES),
    (was_seen_absent_since_the_start, "only before it", case(RESTARTED, at(30), at(20.1), BACK), None),
    (was_seen_absent_since_the_start, "never", case(RESTARTED, BACK), None),
    (
        was_seen_absent_since_the_start,
        "while the other pod ran",
        case(RESTARTED, at(30), at(6), BACK, memory=ALONE_FOR_5_S),
        None,
    ),
    (
        was_seen_absent_since_the_start,
        "since it is alone",
        case(RESTARTED, at(30), at(5), BACK, memory=ALONE_FOR_5_S),
        YES,
    ),
    (was_there_before_the_start, "it was", case(RESTARTED, at(30), at(0)), NO),
    (was_there_before_the_start, "it came with the start", case(RESTARTED, at(20), at(0)), None),
    (was_there_before_the_start, "a session ago", case(fresh_pod(2, SESSION_S), at(90), at(0)), None),
    (was_there_before_the_start, "almost a session ago", case(fresh_pod(2, SESSION_S - 0.1), at(90), at(0)), NO),
    (has_committed_since, "it has", case(RESTARTED, *COMMITTED), YES),
    (has_committed_since, "by the first look after the start", case(RESTARTED, at(30), at(20), COMMITTED[2]), YES),
    (has_committed_since, "perhaps before the start", case(RESTARTED, at(30), at(20.1), COMMITTED[2]), None),
    (
        has_committed_since,
        "while the other pod ran",
        case(RESTARTED, at(30), at(5.1), COMMITTED[2], memory=ALONE_FOR_5_S),
        None,
    ),
    (has_committed_since, "since it is alone", case(RESTARTED, at(30), at(5), COMMITTED[2], memory=ALONE_FOR_5_S), YES),
    (has_committed_since, "it owns nothing", case(RESTARTED, at(10, IDLE), at(0, IDLE, offsets=MOVED)), None),
    (has_committed_since, "it has not", case(RESTARTED, at(30), at(10), at(0)), None),
    (a_session_has_passed, "it has", case(fresh_pod(2, SESSION_S)), YES),
    (a_session_has_passed, "not quite", case(fresh_pod(2, SESSION_S - 0.1)), None),
    (a_session_has_passed, "a longer one", case(fresh_pod(2, 64), at(0, type=GroupType.CONSUMER)), None),
    (a_session_has_passed, "nobody knows the brokers' bounds", case(fresh_pod(2, 64), MODERN, broker=None), None),
    (a_session_has_passed, "as long as by default", case(fresh_pod(2, 65), MODERN, broker=None), YES),
    (a_session_has_passed, "before the coordinator changed", case(fresh_pod(2, 60), *to_another(10, 9)), YES),
    (a_session_has_passed, "not quite before that", case(fresh_pod(2, 60), *to_another(10.1, 10)), None),
    (a_session_has_passed, "long after the coordinator changed", case(fresh_pod(2, 20), *to_another(85, 80)), None),
    (a_session_has_passed, "since the coordinator changed", case(fresh_pod(2, 85), *to_another(60, 50)), YES),
    (a_session_has_passed, "not quite since that", case(fresh_pod(2, 85), *to_another(60, 49.9)), None),
]


@pytest.mark.parametrize(
    ("proof", "given", "says"), [pytest.param(p, c, e, id=f"{p.__name__}: {name}") for p, name, c, e in PROOF_BY_PROOF]
)
def test_a_proof_says_this_and_nothing_else(proof: Proof, given: Case, says: Presence | None) -> None:
    assert proof(given) is says


def test_every_proof_is_in_the_table() -> None:
    assert {row[0] for row in PROOF_BY_PROOF} == set(PROOFS)


ORDER: list[tuple[str, Case, Presence]] = [
    (
        "the handover knows it, though the other pod has not ended",
        case(TAKEN_OVER, memory=in_handover(Held(HELD.ids, TAKEN_OVER.run)), **two_sets(OLD_ONE, TAKEN_OVER)),
        YES,
    ),
    (
        "the handover knows it, though it is the member of before the step",
        case(memory=replace(in_handover(), step=STEP)),
        YES,
    ),
    ("with another pod about, the member before the step proves nothing", case(memory=KNOWN, **TWO_SETS), UNKNOWN),
    ("with another pod about, commits prove nothing", case(RESTARTED, *COMMITTED, **TWO_SETS), UNKNOWN),
    ("the member before the step stays out, whatever its partitions do", case(RESTARTED, *COMMITTED, memory=KNOWN), NO),
    (
        "and for however long",
        case(fresh_pod(2, 500), memory=RolloutMemory(step=replace(STEP, started_at=NOW - 501))),
        NO,
    ),
    ("one that was there before the start stays out, too", case(RESTARTED, *COMMITTED), NO),
    (
        "the member before the step stays out, though it was seen to come back",
        case(JUST_RESTARTED, at(30), at(0.6, members(0, 1)), at(0), memory=RolloutMemory(step=STEP_JUST_NOW)),
        NO,
    ),
    ("nothing is known", case(), UNKNOWN),
]


@pytest.mark.parametrize(("given", "says"), [pytest.param(c, e, id=name) for name, c, e in ORDER])
def test_the_first_proof_that_says_something_decides(given: Case, says: Presence) -> None:
    assert member_presence(given) is says


ANOTHER_ID = "a member id other than payments-2-a"
LONGER = "30 s more in the group: a dead member's session ends before that"
MISSING: list[tuple[str, Case, tuple[str, ...]]] = [
    ("it is back", case(pod(2)), ()),
    ("nothing is known", case(), (ANOTHER_ID, "a commit on orders-4, orders-5", LONGER)),
    ("it owns nothing", case(RESTARTED, at(0, IDLE)), (ANOTHER_ID, LONGER)),
    ("it was there before the start", case(RESTARTED, at(30), at(0)), (ANOTHER_ID, LONGER)),
    ("it is the member before the step", case(memory=KNOWN), (ANOTHER_ID,)),
    (
        "another pod has the id",
        case(**TWO_SETS),
        ("the end of pod payments-alt-2, which has the same instance id",),
    ),
]


@pytest.mark.parametrize(("given", "words"), [pytest.param(c, e, id=name) for name, c, e in MISSING])
def test_which_proof_is_missing(given: Case, words: tuple[str, ...]) -> None:
    assert missing_proofs(given.run.world, given.run.pod) == words


def test_no_proof_is_awaited_of_a_pod_without_a_member() -> None:
    absent = seen(RESTARTED, at(0, members(0, 1)))
    assert missing_proofs(absent, RESTARTED) == ()


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
    ("nobody is in the group, for a while", seen(pod(2), at(10, ()), at(0, ())), True),
    ("since a moment", seen(pod(2), at(9, ()), at(0, ())), False),
    (
        "out of sight meanwhile",
        replace(seen(pod(2), ABSENT), history=advance(interrupted(folded(at(301, members(0, 1)))), ABSENT)),
        False,
    ),
]


UNREADY_S, MOVED_S = 100.0, 50.0


def unready(moved_s: float = MOVED_S, *, rejoin: str = "5m", listed: bool = True) -> World:
    """Not Ready for 100 s; a commit of its partitions moved so many seconds ago."""
    look = at(0) if listed else ABSENT
    given = seen(pod(2, ready=False, ready_changed_at=NOW - UNREADY_S), at(0), look)
    moved = dict.fromkeys(owned_by(2), NOW - moved_s)
    history = replace(given.history, commit_moved_after=moved)
    return replace(given, history=history, group=group(rollout={"rejoinTimeout": rejoin}))


UNREADY_AT_WORK = [
    ("it has committed since", unready(), True),
    ("it committed before that", unready(101), False),
    ("it is not in the group", unready(listed=False), False),
    ("it has committed nothing for rejoinTimeout", unready(rejoin="40s"), False),
    ("it is Ready", seen(pod(2), at(0)), False),
]


@pytest.mark.parametrize(("given", "works"), [pytest.param(w, e, id=name) for name, w, e in UNREADY_AT_WORK])
def test_a_pod_that_is_not_ready_may_be_at_work(given: World, works: bool) -> None:
    assert consumes_unready(given, given.pods[0]) is works
    assert is_down(given, given.pods[0]) is (not works and not given.pods[0].ready)


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


def unrecognized(
    *, was_there_s: float | None = None, membership: str = "Dynamic", age_s: float = 400, **pod_has: Any
) -> World:
    """Pod 2 has been without a member since it was made; somebody is in the group of whom nobody knows where he runs.

    `was_there_s`: so long before the pod's process started he was seen; None: the operator has watched for less long.
    """
    others = (dynamic_member(0), dynamic_member(1), stranger())
    begun = NOW - age_s + 1 if was_there_s is None else NOW - age_s - was_there_s
    looks = [observation(others, at=moment) for moment in (begun, NOW - age_s + 2, NOW)]
    given = fresh_pod(2, age_s, **pod_has)
    return world(
        pods=(pod(0), pod(1), given), kafka=looks[-1], history=folded(*looks), group=group(membership=membership)
    )


MAY_BE_ITS = [
    ("nobody knows how long he has been there", unrecognized(), UNKNOWN),
    ("he came just before the process, as it seems", unrecognized(was_there_s=9), UNKNOWN),
    ("he was there long before the process", unrecognized(was_there_s=11), NO),
    ("the pod should have an instance id", unrecognized(membership="Static"), NO),
    ("its container does not run", unrecognized(started_at=None), NO),
]


@pytest.mark.parametrize(("given", "says"), [pytest.param(w, e, id=name) for name, w, e in MAY_BE_ITS])
def test_whose_member_nobody_knows_may_be_a_dynamic_pod_s(given: World, says: Presence) -> None:
    """Behind address translation a pod that works looks like one without a member, beside somebody else's."""
    assert presence(given, given.pods[2]) is says
    assert is_down(given, given.pods[2]) is (says is NO)


@pytest.mark.parametrize(("age_s", "down"), [(9.0, False), (11.0, True)])
def test_in_a_group_that_is_long_empty_a_pod_has_a_moment_to_join(age_s: float, down: bool) -> None:
    empty = at(0, (), state=GroupState.EMPTY)
    given = world(pods=(fresh_pod(2, age_s),), kafka=empty, history=folded(at(90, (), state=GroupState.EMPTY), empty))
    assert is_down(given, given.pods[0]) is down
