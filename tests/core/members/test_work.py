"""Which pods do not work: one that is back and owns nothing or commits nothing, and those that idle for a while."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from slackwater.core.decision.decision import Decision
from slackwater.core.decision.reasons import Reason
from slackwater.core.members.work import (
    find_idle_pods,
    find_stall,
    is_stalled,
    left_unread,
    nobody_consumes,
    nobody_gets_on,
)
from slackwater.core.status.compose import compose_status
from slackwater.core.world.history import advance, interrupted
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
from slackwater.core.world.world import World
from tests.core.factories import (
    NEW,
    NOW,
    folded,
    fresh_pod,
    group,
    member,
    members,
    observation,
    owned_by,
    pod,
    tp,
    watched,
    world,
)
from tests.core.members.returns import BEFORE_IT, look, never_commits, returned

MODERN: dict[str, Any] = {"type": GroupType.CONSUMER}
TWO = members(0, 2)
AWAY = observation((*TWO, member(1, epoch=-2)), state=GroupState.RECONCILING, **MODERN)
EMPTY = observation((), state=GroupState.EMPTY)
NOTHING = (*TWO, member(1, assignment=frozenset()))
REFUNDS = frozenset({tp(0, "refunds")})
UNKNOWN = (*TWO, member(1, assignment=REFUNDS))
ELSEWHERE = (*TWO, member(1, assignment=REFUNDS, subscribed=frozenset({"refunds"})))
ALL_ELSEWHERE = (member(0), ELSEWHERE[-1], member(2, assignment=frozenset({tp(1, "refunds")})))
DEAD = observation(members(0, 1, 2))


def asking(ordinal: int, *topics: str, **changes: Any) -> Member:
    """A static member that came back, with what it had before; for these topics."""
    return member(ordinal, subscribed=frozenset(topics), **changes)


ASKING = (*TWO, asking(1, "refunds"))
FOR_BOTH = (*TWO, asking(1, "refunds", "orders", assignment=REFUNDS))
TAKEN_OVER = (member(0, assignment=owned_by(0) | owned_by(1)), member(2))
LATELY = (pod(0), pod(1, started_at=NOW - 9, ready_changed_at=NOW - 9), pod(2))
RESTARTED = (pod(0), pod(1, started_at=NOW - 11, ready_changed_at=NOW - 11, ended_at=NOW - 12), pod(2))

NEW_PODS = tuple(pod(ordinal, NEW) for ordinal in range(3))
SEEN_OFTEN = folded(replace(DEAD, observed_at=NOW - 3600), replace(DEAD, observed_at=NOW - 3590), DEAD)


def scene(kafka: Any, pods: Any = None, calm_s: float = 3600.0) -> World:
    return world(kafka=kafka, history=watched(kafka, calm_s), pods=pods or (pod(0), pod(1), pod(2)))


IDLE: list[tuple[str, World, list[int]]] = [
    ("all work", scene(observation()), []),
    ("its member is away", scene(AWAY), [1]),
    ("since a moment", scene(AWAY, calm_s=9.9), []),
    ("no longer only for a moment", scene(AWAY, calm_s=10.0), [1]),
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


FORGETFUL = observation([asking(o, "orders") for o in range(3)], partitions=frozenset({tp(0), tp(0, "refunds")}))
SPEC_OF_BOTH = group(topics=["orders", "refunds"])
AT_REST = RolloutMemory(phase=RolloutPhase.COMPLETE)
UNREAD: list[tuple[str, World, str]] = [
    ("all work", scene(observation()), ""),
    ("one pod does nothing", scene(AWAY), "payments-1 owns nothing"),
    ("no pod asks for a topic", scene(FORGETFUL, NEW_PODS), "no pod reads refunds, which spec.topics names"),
    ("since a moment", scene(FORGETFUL, NEW_PODS, calm_s=9.9), ""),
]


@pytest.mark.parametrize(("given", "said"), [row[1:] for row in UNREAD], ids=[row[0] for row in UNREAD])
def test_what_is_left_unread(given: World, said: str) -> None:
    found = left_unread(replace(given, group=SPEC_OF_BOTH, memory=AT_REST))
    assert found.startswith(said) if said else found == ""
    assert "refunds" not in left_unread(given), "a rollout is under way, and its gates ask"


def came_before(ago_s: float, earlier_s: float = 0.0) -> tuple[GroupObservation, ...]:
    """Records came for another member 3 s before pod 1 had the partitions, or earlier; none since."""
    first = ago_s + 3 + earlier_s
    return (
        BEFORE_IT,
        look(first, **TO_ANOTHER),
        look(first - 1, 105, 105, **TO_ANOTHER),
        look(ago_s, 105, 105),
        look(0, 105, 105),
    )


TO_ANOTHER: dict[str, Any] = {"members": (member(0), member(1, "b", assignment=owned_by(0)), member(2))}
GONE: dict[str, Any] = {"members": members(0, 2)}
ALL_READ = (look(90, 900, 1000), look(80, 1000, 1000), look(70, 1000, 1000, **GONE))
LEFT = (look(90, 80, 1000), look(80, 100, 1000), look(70, 100, 1000, **GONE))
OWNS_NOTHING, NOT_MOVING = Reason.MEMBER_OWNS_NOTHING, Reason.OFFSETS_NOT_MOVING
JUST_STARTED = (pod(0, NEW), pod(1, NEW, started_at=NOW - 2, ready_changed_at=NOW - 2), pod(2))
STALLS: list[tuple[str, World, tuple[Reason, float] | None]] = [
    ("records came just before it", returned(*came_before(2)), (NOT_MOVING, NOW - 2)),
    ("they came just before it, and none since", returned(*came_before(3)), None),
    ("they came long before it", returned(*came_before(2, 0.5), pods=JUST_STARTED), None),
    ("they came while the group took it in", returned(*came_before(2, 0.5)), (NOT_MOVING, NOW - 2)),
    ("they came while the group took it in, and none since", returned(*came_before(3, 0.5)), None),
    ("nothing arrived", returned(BEFORE_IT, look(50), look(0)), None),
    ("it commits", returned(BEFORE_IT, look(50), look(40, 100, 105), look(0, 105, 105)), None),
    (
        "records came, and it commits nothing",
        returned(BEFORE_IT, look(50), look(40, end=105), look(0, end=105)),
        (NOT_MOVING, NOW - 40),
    ),
    (
        "it commits from the look on that saw it",
        returned(BEFORE_IT, look(50), look(40, 105, 105), look(0, 105, 110)),
        None,
    ),
    (
        "the commit may be from before its start",
        returned(look(70, 90, 105), look(65, 95, 105), look(50, 100, 105), look(0, 100, 110)),
        (NOT_MOVING, NOW),
    ),
    ("the records came before it", returned(look(70), look(65, end=105), look(0, end=105)), None),
    (
        "another member committed until it owned them",
        returned(
            BEFORE_IT, look(50, **TO_ANOTHER), look(40, 105, 105, **TO_ANOTHER), look(30, 105, 105), look(0, 105, 110)
        ),
        (NOT_MOVING, NOW),
    ),
    ("the group keeps its offsets elsewhere", returned(BEFORE_IT, never_commits(50, 100), never_commits(0, 105)), None),
    (
        "whoever had them before left records to read",
        returned(*LEFT, look(50, 100, 1000), look(0, 100, 1000)),
        (NOT_MOVING, NOW - 50),
    ),
    ("so few may be what transactions leave", returned(*LEFT, look(50, 900, 1000), look(0, 900, 1000)), None),
    (
        "what was committed there has expired: from the latest on it has nothing to read",
        returned(*ALL_READ, look(50, None, 1000), look(0, None, 1000)),
        None,
    ),
    (
        "the last of them came shortly before it",
        returned(
            look(90, 80, 900), look(80, 100, 900), look(70, 100, 1000, **GONE), look(50, 100, 1000), look(0, 100, 1000)
        ),
        (NOT_MOVING, NOW - 50),
    ),
    (
        "whoever had them before had stopped to get on when they came",
        returned(
            look(95, 80, 100),
            look(90, 100, 100),
            look(80, 100, 1000),
            look(70, 100, 1000, **GONE),
            look(50, 100, 1000),
            look(0, 100, 1000),
            group=group(rollout={"rejoinTimeout": "4s"}),
        ),
        None,
    ),
    (
        "somebody had them in between, and did not get on",
        returned(*LEFT, look(50, 100, 1000), look(0, 100, 1000), group=group(rollout={"rejoinTimeout": "4s"})),
        (NOT_MOVING, NOW - 50),
    ),
    (
        "nobody has been seen to get on",
        returned(look(90, 100, 1000), look(70, 100, 1000, **GONE), look(50, 100, 1000), look(0, 100, 1000)),
        None,
    ),
    ("it gets on there", returned(*LEFT, look(50, 100, 1000), look(40, 110, 1000), look(0, 110, 1000)), None),
    ("it owns nothing", returned(observation(NOTHING)), (OWNS_NOTHING, NOW)),
    ("there are more members than partitions", returned(observation((*NOTHING, *members(3, 4, 5, 6)))), None),
    ("there are just as many", returned(observation((*NOTHING, *members(3, 4, 5)))), (OWNS_NOTHING, NOW)),
    (
        "there were, when it came, and partitions have been added",
        returned(replace(observation((*NOTHING, *members(3, 4, 5, 6))), observed_at=NOW - 9), observation(NOTHING)),
        (OWNS_NOTHING, NOW - 9 + 300),
    ),
    (
        "there were before it came",
        returned(
            replace(observation((*TWO, *members(3, 4, 5, 6, 7))), observed_at=NOW - 90),
            replace(observation(TWO), observed_at=NOW - 80),
            observation(NOTHING),
        ),
        (OWNS_NOTHING, NOW),
    ),
    (
        "of what it owns it may have only a share, where it is not known what it asks for",
        returned(observation(UNKNOWN)),
        None,
    ),
    ("it reads another topic", returned(observation(ELSEWHERE)), (OWNS_NOTHING, NOW)),
    ("it has what it owned before, and asks for another topic", returned(observation(ASKING)), (OWNS_NOTHING, NOW)),
    (
        "so does a member of it for another one",
        returned(observation((*ASKING, asking(1, "orders", instance_id="payments-1-1"))), group=group(membersPerPod=2)),
        None,
    ),
    ("it owns another topic only, and asks for both", returned(observation(FOR_BOTH)), None),
    (
        "it asks for another topic, where there are more members than partitions",
        returned(observation((*ASKING, *members(3, 4, 5, 6)))),
        (OWNS_NOTHING, NOW),
    ),
    ("that one is asked for, too", returned(observation(ELSEWHERE), group=group(topics=["orders", "refunds"])), None),
    ("the version before reads it as well", returned(observation(ALL_ELSEWHERE)), None),
    (
        "today's spec does not speak of the version that it goes back to",
        returned(observation(ELSEWHERE), memory=RolloutMemory(phase=RolloutPhase.ROLLING_BACK)),
        None,
    ),
    (
        "it reads another topic, where there are more members than partitions",
        returned(observation((*ELSEWHERE, *members(3, 4, 5, 6)))),
        (OWNS_NOTHING, NOW),
    ),
    ("Kafka cannot be seen", world(kafka=Unobserved(Reason.KAFKA_UNREACHABLE, "", NOW)), None),
]


@pytest.mark.parametrize(("given", "stall"), [row[1:] for row in STALLS], ids=[row[0] for row in STALLS])
def test_who_is_back_and_does_not_work(given: World, stall: tuple[Reason, float] | None) -> None:
    found = find_stall(given, given.pods[1])
    assert (None if found is None else (found.hold.reason, found.since)) == stall


def waits(unread_s: float, **changes: Any) -> World:
    """Pod 1 is up for long; records of its partitions have waited for so many seconds."""
    looks = (look(900), look(unread_s, end=105), look(0, end=105))
    return world(**({"kafka": looks[-1], "history": folded(*looks)} | changes))


ALONE = (pod(0, NEW), pod(1, NEW), pod(2, NEW))
BETWEEN = (pod(0), pod(1, NEW), pod(2))
GETS_ON = {tp(0): NOW - 10.0}
GOT_ON = {tp(0): NOW - 401.0}
BESIDE_ONE = (pod(0), pod(1, NEW), pod(2, NEW))
ONE_GOT_ON = {"commit_moved_after": dict.fromkeys(owned_by(2), NOW - 401.0)}


def control(backlog: Any = (), pods: tuple[Pod, ...] = BETWEEN, **history: Any) -> World:
    """Records wait for 400 s in partitions of all pods, of which 0 and 2 have another version."""
    given = waits(400, pods=pods)
    assert isinstance(given.kafka, GroupObservation)
    offsets = {**given.kafka.offsets, **dict.fromkeys(backlog, PartitionOffsets(100, 1000))}
    given = replace(given, kafka=replace(given.kafka, offsets=offsets))
    return replace(given, history=replace(given.history, **history))


NOBODY_GETS_ON: list[tuple[str, World, bool]] = [
    (
        "those of the other version have committed nothing either",
        control(unread_since=dict.fromkeys(owned_by(0), NOW - 400)),
        True,
    ),
    ("one of them has", control(unread_since=dict.fromkeys(owned_by(0), NOW - 400), commit_moved_after=GETS_ON), False),
    (
        "they have a backlog, and have committed nothing either",
        control(unread_since=dict.fromkeys(owned_by(1), NOW - 400), backlog=owned_by(0)),
        True,
    ),
    ("they had nothing to read", control(unread_since=dict.fromkeys(owned_by(1), NOW - 400)), False),
    ("there is no other version, and none of this one got on before", waits(400, pods=ALONE), False),
    (
        "there is none, and those of this one got on before, and do no more",
        control(pods=ALONE, unread_since=dict.fromkeys(owned_by(0), NOW - 400), commit_moved_after=GOT_ON),
        True,
    ),
    (
        "there is, and has nothing to read: what those of its own do says nothing",
        control(pods=BESIDE_ONE, unread_since=dict.fromkeys((*owned_by(1), *owned_by(2)), NOW - 400), **ONE_GOT_ON),
        False,
    ),
    (
        "they do",
        control(pods=ALONE, unread_since=dict.fromkeys(owned_by(0), NOW - 400), commit_moved_after=GETS_ON),
        False,
    ),
]


@pytest.mark.parametrize(
    ("given", "nobody"), [row[1:] for row in NOBODY_GETS_ON], ids=[row[0] for row in NOBODY_GETS_ON]
)
def test_where_nobody_gets_on_no_version_is_to_blame(given: World, nobody: bool) -> None:
    assert nobody_gets_on(given, given.pods[1]) is nobody


BACKWARDS = RolloutMemory(phase=RolloutPhase.ROLLING_BACK)
OUT_OF_SIGHT = advance(interrupted(folded(look(900), look(301, end=105))), look(0, end=105))
STALLED: list[tuple[str, World, bool]] = [
    ("it works", world(), False),
    ("for less than rejoinTimeout", waits(300), False),
    ("for longer", waits(300.1), True),
    ("it has its time, although its version was given up", waits(5, memory=BACKWARDS), False),
    ("it works, and its version was given up", world(memory=BACKWARDS), False),
    ("it is not Ready", waits(301, pods=(pod(0), pod(1, ready=False), pod(2))), False),
    ("it is not known to be in the group", waits(301, pods=(pod(0), fresh_pod(1, 20), pod(2))), False),
    ("Kafka was out of sight meanwhile", waits(301, history=OUT_OF_SIGHT), False),
]


@pytest.mark.parametrize(("given", "stalled"), [row[1:] for row in STALLED], ids=[row[0] for row in STALLED])
def test_who_has_not_worked_for_too_long(given: World, stalled: bool) -> None:
    assert is_stalled(given, given.pods[1]) is stalled


NAKED = tuple(member(ordinal, assignment=frozenset()) for ordinal in range(3))
REBALANCING: dict[str, Any] = {"state": GroupState.PREPARING_REBALANCE, "members": NAKED}
RECONCILING: dict[str, Any] = {"state": GroupState.RECONCILING, **MODERN}
WAITING: dict[str, Any] = {"state": GroupState.PREPARING_REBALANCE}


STABLE: dict[str, Any] = {}


def rebalances(
    for_s: float,
    *,
    committed_ago_s: float = 100.0,
    came: int = 10,
    came_ago_s: float = 0.0,
    how: Any = REBALANCING,
    calm_ago_s: float | None = None,
    **others: Any,
) -> World:
    """Everybody waits for one that does not answer. `came`: records meanwhile, in one partition, as many each time;
    `came_ago_s`: when the first were seen, beside those of now. `calm_ago_s`: when one look showed the group calm."""

    def seen(ago_s: float, **how: Any) -> GroupObservation:
        committed = 100 if ago_s <= committed_ago_s else 95
        arrived = came * ((ago_s <= came_ago_s) + (ago_s == 0.0))
        one = {tp(0): PartitionOffsets(committed, max(committed, 100 + arrived if ago_s <= committed_ago_s else 95))}
        usual = observation(at=NOW - ago_s, **how)
        return replace(usual, offsets={**usual.offsets, **one})

    moments = {
        200.0,
        committed_ago_s + 1,
        committed_ago_s,
        for_s,
        came_ago_s,
        0.0,
        *([calm_ago_s, calm_ago_s - 10] if calm_ago_s else []),
    }
    looks = [
        seen(ago_s, **(how if ago_s <= for_s and ago_s != calm_ago_s else {}))
        for ago_s in sorted(moments, reverse=True)
    ]
    return world(kafka=looks[-1], history=folded(*looks), **others)


ALL_NEW = tuple(pod(ordinal, NEW) for ordinal in range(3))
OTHERS: dict[str, Any] = {
    "members": tuple(member(each, assignment=frozenset({tp(each, "refunds")})) for each in range(3))
}
NOBODY: list[tuple[str, World, bool]] = [
    ("all work", scene(observation()), False),
    ("a rebalance that does not end", rebalances(for_s=61), True),
    ("one that may end", rebalances(for_s=59), False),
    ("somebody commits in it", rebalances(for_s=90, committed_ago_s=50), False),
    ("there is nothing to read", rebalances(for_s=90, came=0), False),
    ("one calm look, in which nobody commits", rebalances(for_s=90, came_ago_s=80, calm_ago_s=30), True),
    ("a rebalance among others, and they commit seldom", rebalances(for_s=9, came_ago_s=80), False),
    ("one in which they show what they own", rebalances(for_s=59, came_ago_s=80, how=WAITING), False),
    ("calm now, and the next commit may come", rebalances(for_s=90, came_ago_s=80, how=STABLE), False),
    ("those who own something may go on", rebalances(for_s=90, how=RECONCILING), False),
    ("those who own something are waited for to join again", rebalances(for_s=90, how=WAITING), True),
    ("they own what nobody asked for", rebalances(for_s=90, came_ago_s=80, how=OTHERS, pods=ALL_NEW), True),
    ("so they do, a moment ago", rebalances(for_s=59, came_ago_s=59, how=OTHERS, pods=ALL_NEW), False),
    (
        "some have the version before still, of which the spec may not speak",
        rebalances(for_s=90, came_ago_s=80, how=OTHERS, pods=(pod(0, NEW), pod(1), pod(2))),
        False,
    ),
    ("they do not", rebalances(for_s=901, committed_ago_s=902, came_ago_s=901, how=RECONCILING), True),
    ("a calm group, and nobody gets on", rebalances(for_s=901, committed_ago_s=902, came_ago_s=901, how=STABLE), True),
    (
        "for less than three times rejoinTimeout",
        rebalances(for_s=899, committed_ago_s=902, came_ago_s=899, how=STABLE),
        False,
    ),
    (
        "what came came once, as of an aborted transaction",
        replace(
            given := rebalances(for_s=901, committed_ago_s=902, came_ago_s=901, how=STABLE),
            history=replace(given.history, end_moved_after=dict.fromkeys(given.history.unread_since, NOW - 902)),
        ),
        False,
    ),
    (
        "what came came once, to one partition after the other",
        replace(
            given,
            history=replace(
                given.history,
                unread_since={tp(0): NOW - 901, tp(1): NOW - 100},
                end_moved_after={tp(0): NOW - 902, tp(1): NOW - 101},
            ),
        ),
        False,
    ),
    ("nobody is in the group", scene(EMPTY), True),
    ("since a moment", scene(EMPTY, calm_s=9.0), False),
    ("nobody is asked for", replace(scene(EMPTY), group=group(replicas=0)), False),
    ("Kafka is away", world(kafka=Unobserved(Reason.KAFKA_UNREACHABLE, "", NOW)), False),
]


@pytest.mark.parametrize(("given", "so"), [row[1:] for row in NOBODY], ids=[row[0] for row in NOBODY])
def test_where_nobody_consumes(given: World, so: bool) -> None:
    assert nobody_consumes(given) is so
    at_rest = given.remembering(RolloutMemory(phase=RolloutPhase.COMPLETE))
    status = compose_status(at_rest, Decision(at_rest.memory), {})
    said = {each["type"]: (each["status"], each["reason"]) for each in status["conditions"]}
    assert status["phase"] == {"True": "Ready", "False": "NotReady", "Unknown": "Unknown"}[said["Ready"][0]]
    if so:
        assert said["Ready"][0] == "False"
        assert said["Degraded"][0] == "True"
    else:
        assert said["Ready"][1] in {"AsWanted", "MemberMissing", "KafkaUnreachable"}


def test_of_a_pod_that_has_run_for_long_no_record_is_waited_for_after_a_rebalance() -> None:
    """The last one came a minute before, and not "shortly before the pod did"."""
    fewer = {"members": (member(0), member(1, "b", assignment=frozenset({min(owned_by(1))})), member(2))}
    looks = (look(3_700), look(3_690, 105, 105), look(70, 110, 110), look(2, 110, 110, **fewer))
    long_here = (pod(0, NEW), pod(1, NEW), pod(2))
    world_ = returned(*looks, pods=long_here, group=group(rollout={"stableFor": "0s"}))
    assert find_stall(world_, world_.pods[1]) is None
