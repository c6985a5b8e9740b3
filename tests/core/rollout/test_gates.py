"""A table for each gate: what it refuses, and why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

import pytest

from slackwater.api.annotations import PAUSE
from slackwater.api.consumer_group import Membership
from slackwater.core.decision.reasons import Reason
from slackwater.core.rollout.beginning import note_lag
from slackwater.core.rollout.gates import (
    GATES,
    WAY_BACK,
    Down,
    Gate,
    first_refusal,
    group_is_settled,
    lag_is_bounded,
    members_are_ours,
    observation_is_fresh,
    partitions_are_owned,
    pods_are_ready,
    rollout_is_allowed,
)
from slackwater.core.rollout.way_back import has_had_its_time, the_pod_before_is_back
from slackwater.core.world.claims import Claim
from slackwater.core.world.handover import Begun, Handover, Held, Over
from slackwater.core.world.history import GroupHistory, interrupted
from slackwater.core.world.made_with import MadeWith
from slackwater.core.world.memory import RolloutMemory, RolloutPhase
from slackwater.core.world.observation import (
    GroupObservation,
    GroupState,
    GroupType,
    Member,
    PartitionOffsets,
    Unobserved,
)
from slackwater.core.world.pods import Pod, Sidecar
from slackwater.core.world.step import Step
from slackwater.core.world.world import World
from tests.core.factories import (
    NEW,
    NOW,
    OLD,
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
    tp,
    watched,
    workload,
    world,
)

Row = tuple[str, World, Down, Reason | None]
NOBODY: Down = frozenset()
EVERYBODY: Down = frozenset({0, 1, 2})


def after_step(ordinal: int, seconds_ago: float) -> RolloutMemory:
    return RolloutMemory(step=Step(ordinal, NOW - seconds_ago))


def test_a_world_in_which_all_is_well_passes_every_gate() -> None:
    assert first_refusal(world(), NOBODY) is None


def test_what_could_not_be_observed_is_refused_with_its_own_reason() -> None:
    hold = first_refusal(world(kafka=Unobserved(Reason.KAFKA_UNREACHABLE, "no broker answers", NOW - 3)), EVERYBODY)
    assert hold is not None
    assert (hold.reason, hold.message) == (Reason.KAFKA_UNREACHABLE, "no broker answers")


def test_the_first_refusal_is_the_one_that_is_told() -> None:
    paused = group(annotations={PAUSE: ""})
    hold = first_refusal(world(group=paused, pods=(pod(0), pod(1, ready=False), pod(2))), NOBODY)
    assert hold is not None
    assert hold.reason == Reason.PAUSED


def test_why_it_is_paused_is_shown_in_one_line_and_obeyed_by_no_terminal() -> None:
    hostile = "until\nMonday \x1b[2J" + "y" * 2_000
    hold = first_refusal(world(group=group(annotations={PAUSE: hostile})), NOBODY)
    assert hold is not None
    assert hold.message.startswith("paused (until Monday \\x1b[2J")
    assert len(hold.message) < 600


FRESH: list[Row] = [
    ("just now", world(), NOBODY, None),
    ("10 s ago", world(kafka=observation(at=NOW - 10)), NOBODY, None),
    ("11 s ago", world(kafka=observation(at=NOW - 11)), NOBODY, Reason.OBSERVATION_STALE),
    ("since the last restart", world(memory=after_step(2, 0.5)), NOBODY, None),
    ("not since the last restart", world(memory=after_step(2, 0)), NOBODY, Reason.OBSERVATION_STALE),
    (
        "the controller is behind",
        world(workload=workload(generation=3)),
        NOBODY,
        Reason.STATEFUL_SET_NOT_OBSERVED,
    ),
]

ALLOWED: list[Row] = [
    ("no annotation", world(), NOBODY, None),
    ("paused", world(group=group(annotations={PAUSE: "until Monday"})), NOBODY, Reason.PAUSED),
    ("paused without a reason", world(group=group(annotations={PAUSE: ""})), NOBODY, Reason.PAUSED),
    ("paused, although all are down", world(group=group(annotations={PAUSE: ""})), EVERYBODY, Reason.PAUSED),
]

READY: list[Row] = [
    ("all", world(), NOBODY, None),
    ("one is missing", world(pods=(pod(0), pod(2))), NOBODY, Reason.POD_MISSING),
    ("one is missing that was down", world(pods=(pod(0), pod(2))), frozenset({1}), Reason.POD_MISSING),
    ("one is ending", world(pods=(pod(0), pod(1), pod(2, terminating=True))), NOBODY, Reason.POD_NOT_READY),
    ("one is not Ready", world(pods=(pod(0), pod(1, ready=False), pod(2))), NOBODY, Reason.POD_NOT_READY),
    ("it is known to be down", world(pods=(pod(0), pod(1, ready=False), pod(2))), frozenset({1}), None),
    ("one above replicas is not Ready", world(pods=(pod(0), pod(1), pod(2), pod(3, ready=False))), NOBODY, None),
    ("nobody is wanted", world(group=group(replicas=0), pods=()), NOBODY, None),
]

PREPARING = observation(state=GroupState.PREPARING_REBALANCE)
EMPTY = observation(members=(), state=GroupState.EMPTY)
MISPLACED = observation((member(0, target=owned_by(0)), member(1, target=owned_by(0)), member(2, target=owned_by(2))))
SETTLED: list[Row] = [
    ("calm for long", world(), NOBODY, None),
    ("rebalancing", world(kafka=PREPARING), NOBODY, Reason.GROUP_REBALANCING),
    ("reconciling", world(kafka=observation(state=GroupState.RECONCILING)), NOBODY, Reason.GROUP_REBALANCING),
    ("of unknown state", world(kafka=observation(state=GroupState.UNKNOWN)), NOBODY, Reason.GROUP_REBALANCING),
    ("a member is not where it should be", world(kafka=MISPLACED), NOBODY, Reason.GROUP_REBALANCING),
    ("calm for stableFor", world(history=watched(observation(), 10.0)), NOBODY, None),
    ("calm, not for long", world(history=watched(observation(), 9.9)), NOBODY, Reason.GROUP_STABILIZING),
    ("first look", world(history=folded(observation())), NOBODY, Reason.GROUP_STABILIZING),
    ("out of sight meanwhile", world(history=interrupted(watched(observation()))), NOBODY, Reason.GROUP_STABILIZING),
    ("empty", world(kafka=EMPTY), NOBODY, Reason.GROUP_REBALANCING),
    ("empty, as all are down", world(kafka=EMPTY), EVERYBODY, None),
    ("empty, as some are down", world(kafka=EMPTY), frozenset({0, 1}), Reason.GROUP_REBALANCING),
    ("rebalancing while all are down", world(kafka=PREPARING), EVERYBODY, Reason.GROUP_REBALANCING),
]

STRANGE = observation((*members(0, 1, 2), stranger()))
OTHER_ID = observation((*members(0, 1, 2), member(0, instance_id="payments-one")))
ZOMBIE = observation(members(0, 1, 2, 3))
TWICE = observation((*members(0, 1, 2), member(1, instance_id="payments-1-x")))
ONE_NAMELESS = observation((*members(0, 1), member(2, "b"), member(2, "c", instance_id=None)))
THREADS = tuple(member(o, instance_id=f"payments-{o}-{t}") for o in range(3) for t in range(2))
LEFT_OVER = observation(members(0, 1, 2))
RESTARTED = (pod(0), pod(1), fresh_pod(2, age_s=8))
DYNAMIC = {"group": group(membership="Dynamic")}
THREE_DYNAMIC = tuple(map(dynamic_member, range(3)))
FOUGHT_OVER = [observation((*members(0, 1), member(2, f"x{i}")), at=NOW - 30 + 10 * i) for i in range(4)]
DUPLICATE = {"kafka": FOUGHT_OVER[-1], "history": folded(*FOUGHT_OVER)}


def made_with(version: str, membership: Membership = Membership.STATIC, members_per_pod: int = 1) -> RolloutMemory:
    return RolloutMemory(
        phase=RolloutPhase.PROGRESSING, made_with={version: MadeWith(membership, members_per_pod, "consumer")}
    )


def of_version(template_hash: str) -> tuple[Pod, ...]:
    return tuple(pod(ordinal, template_hash=template_hash) for ordinal in range(3))


OURS: list[Row] = [
    ("exactly ours", world(), NOBODY, None),
    ("a stranger", world(kafka=STRANGE), NOBODY, Reason.FOREIGN_MEMBERS),
    ("a stranger while all are down", world(kafka=STRANGE), EVERYBODY, Reason.FOREIGN_MEMBERS),
    ("a strange instance id", world(kafka=OTHER_ID), NOBODY, Reason.FOREIGN_MEMBERS),
    (
        "of a pod that was scaled away",
        world(kafka=ZOMBIE, memory=RolloutMemory(phase=RolloutPhase.PROGRESSING, ids_given=4)),
        NOBODY,
        Reason.ZOMBIE_MEMBER,
    ),
    ("under an id like ours that we never gave", world(kafka=ZOMBIE), NOBODY, Reason.FOREIGN_MEMBERS),
    ("one pod has two", world(kafka=TWICE), NOBODY, Reason.FOREIGN_MEMBERS),
    (
        "one pod has one without an instance id beside its own",
        world(pods=(pod(0), pod(1), fresh_pod(2, 400)), kafka=ONE_NAMELESS),
        NOBODY,
        Reason.FOREIGN_MEMBERS,
    ),
    ("an old pod has", world(kafka=ONE_NAMELESS), NOBODY, None),
    ("two for each pod, as wanted", world(kafka=observation(THREADS), group=group(membersPerPod=2)), NOBODY, None),
    (
        "one of two is missing",
        world(group=group(membersPerPod=2), history=watched(observation(), 300)),
        NOBODY,
        Reason.MEMBER_MISSING,
    ),
    ("one of two has been missing for rejoinTimeout, of an old pod", world(group=group(membersPerPod=2)), NOBODY, None),
    (
        "and of a new one",
        world(group=group(membersPerPod=2), pods=tuple(pod(o, NEW) for o in range(3))),
        NOBODY,
        Reason.MEMBER_MISSING,
    ),
    ("one of one is missing", world(kafka=observation(members(0, 2))), NOBODY, Reason.MEMBER_MISSING),
    (
        "one has no instance id",
        world(kafka=observation((*members(0, 1), dynamic_member(2))), pods=tuple(pod(o, NEW) for o in range(3))),
        NOBODY,
        Reason.MEMBER_MISSING,
    ),
    (
        "one of an old version has none, and has had rejoinTimeout",
        world(kafka=observation((*members(0, 1), dynamic_member(2)))),
        NOBODY,
        None,
    ),
    (
        "an old pod has more than its new version",
        world(kafka=observation(THREADS), memory=made_with("old", members_per_pod=2), pods=of_version("old")),
        NOBODY,
        None,
    ),
    (
        "an old pod has fewer than its new version",
        world(group=group(membersPerPod=2), memory=made_with("old"), pods=of_version("old")),
        NOBODY,
        None,
    ),
    (
        "old pods are dynamic, and the new version is static",
        world(
            kafka=observation(THREE_DYNAMIC),
            memory=made_with("old", membership=Membership.DYNAMIC),
            pods=of_version("old"),
        ),
        NOBODY,
        None,
    ),
    ("the one that is down is missing", world(kafka=observation(members(0, 2))), frozenset({1}), None),
    ("what is listed is the dead one", world(pods=RESTARTED), NOBODY, Reason.MEMBER_NOT_REJOINED),
    ("an id changes hands", world(**DUPLICATE), NOBODY, Reason.DUPLICATE_INSTANCE_ID),
    ("dynamic ones", world(kafka=observation(THREE_DYNAMIC), **DYNAMIC), NOBODY, None),
    (
        "a dynamic stranger",
        world(kafka=observation((*THREE_DYNAMIC, stranger())), **DYNAMIC),
        NOBODY,
        Reason.FOREIGN_MEMBERS,
    ),
    ("a dynamic one is missing", world(kafka=observation(THREE_DYNAMIC[:2]), **DYNAMIC), NOBODY, Reason.MEMBER_MISSING),
]


def returned(commits: int, ends: int, **kafka: Any) -> World:
    """Pod 2 was restarted 30 s ago and joined 20 s ago; since then its partitions moved by so many records."""
    before, after = observation(at=NOW - 40), observation((*members(0, 1), member(2, "b")), at=NOW - 20)
    offsets = {p: PartitionOffsets(100 + commits, 100 + ends) for p in after.partitions}
    now = replace(after, observed_at=NOW, **({"offsets": offsets} | kafka))
    step = RolloutMemory(step=Step(2, NOW - 31, {"payments-2": "payments-2-a"}))
    pods = (pod(0), pod(1), fresh_pod(2, age_s=30))
    return world(kafka=now, history=folded(before, after, now), memory=step, pods=pods)


def ended_after(
    ran_s: float, *, ago_s: float, away_s: float = 10.0, ordinal: int = 2, others: bool = False, **changes: Any
) -> World:
    """That pod's process ran for so long and ended; one that followed has run for `ago_s`, and works. `others`: so did
    those of all other pods."""
    since = NOW - ago_s
    ended = since - away_s
    runs = {"restarts": 1, "started_at": since, "ended_at": ended, "last_run_started_at": ended - ran_s} | changes
    pods = [pod(0), pod(1), pod(2, NEW)]
    return world(pods=tuple(replace(each, **runs) if others or each.ordinal == ordinal else each for each in pods))


def beside_ended_after(ran_s: float, *, ago_s: float, others: bool = False) -> World:
    """A container beside the consumer's, likewise."""
    beside = (Sidecar("proxy", ran_s, NOW - ago_s),)
    pods = [pod(0), pod(1), pod(2, NEW)]
    return world(pods=tuple(replace(each, sidecars=beside) if others or each.ordinal == 2 else each for each in pods))


def fought_over(*, alone_ago_s: float | None, ordinal: int = 2, begun_ago_s: float = 60.0) -> World:
    """Pod 2 ended 15 s ago, after 25 s; since 5 s it runs again. `ordinal`: of the last handover."""
    alone_since = None if alone_ago_s is None else NOW - alone_ago_s
    state = Over(Begun(Held()))
    handover = Handover(ordinal, "payments-alt", NOW - begun_ago_s, state, alone_since=alone_since)
    return replace(ended_after(25.0, ago_s=5.0), memory=RolloutMemory(handover=handover))


NOTHING = observation((member(0), member(1, assignment=owned_by(1) | owned_by(2)), member(2, assignment=frozenset())))
SHARED = observation((*members(0, 1), member(2, assignment=owned_by(1))))
TWO_TOPICS = frozenset(tp(i, topic) for topic in ("orders", "refunds") for i in range(2))
RANGE = [frozenset({tp(i), tp(i, "refunds")}) for i in range(2)]
BY_RANGE = {
    "members": (member(0, assignment=RANGE[0]), member(1, assignment=RANGE[1]), member(2, "b", assignment=frozenset())),
    "partitions": TWO_TOPICS,
}
BOTH_TOPICS = observation().partitions | {tp(0, "refunds")}
NEW_PODS = tuple(pod(ordinal, NEW) for ordinal in range(3))
OLD_PODS = (pod(0), pod(1))
WITH_OTHERS = RolloutMemory(step=Step(7, NOW - 31, {"payments-2": "payments-2-a"}, also=(2,)))
A_THIRD = RolloutMemory(phase=RolloutPhase.PROGRESSING, target_hash="third")
OWNED: list[Row] = [
    ("a topic that old pods do not read", world(kafka=observation(partitions=BOTH_TOPICS)), NOBODY, None),
    (
        "a topic that no pod reads, and all are new",
        world(kafka=observation(partitions=BOTH_TOPICS), pods=NEW_PODS),
        NOBODY,
        Reason.PARTITIONS_NOT_OWNED,
    ),
    (
        "a topic that no pod reads, and what will read it is in no StatefulSet yet",
        world(kafka=observation(partitions=BOTH_TOPICS), pods=NEW_PODS, memory=A_THIRD),
        NOBODY,
        None,
    ),
    ("each once", world(), NOBODY, None),
    ("some by nobody", world(kafka=observation(members(0, 1))), NOBODY, Reason.PARTITIONS_NOT_OWNED),
    ("some by two", world(kafka=SHARED), NOBODY, Reason.PARTITIONS_NOT_OWNED),
    ("by nobody, as all are down", world(kafka=EMPTY), EVERYBODY, None),
    ("it commits again", returned(commits=5, ends=5), NOBODY, None),
    ("it commits nothing although records came", returned(commits=0, ends=5), NOBODY, Reason.OFFSETS_NOT_MOVING),
    (
        "one that went together with another commits nothing",
        changed(
            replace(returned(commits=0, ends=5), memory=WITH_OTHERS), pods=(*OLD_PODS, fresh_pod(2, 30, revision=NEW))
        ),
        NOBODY,
        Reason.OFFSETS_NOT_MOVING,
    ),
    ("no records came", returned(commits=0, ends=0), NOBODY, None),
    ("it does not work, but is down", returned(commits=0, ends=5), frozenset({2}), None),
    ("owns nothing", replace(returned(5, 5), kafka=NOTHING), NOBODY, Reason.MEMBER_OWNS_NOTHING),
    ("owns nothing, as range leaves it without", returned(5, 5, **BY_RANGE), NOBODY, None),
    (
        "it is not known which was restarted",
        replace(returned(0, 5), memory=RolloutMemory()),
        NOBODY,
        Reason.OFFSETS_NOT_MOVING,
    ),
    ("one of the version has ended lately", ended_after(25.0, ago_s=49.0), NOBODY, Reason.POD_CRASHED),
    ("it has run for long enough since", ended_after(25.0, ago_s=51.0), NOBODY, None),
    ("it ran for nearly rejoinTimeout before it ended", ended_after(299.0, ago_s=299.0), NOBODY, Reason.POD_CRASHED),
    ("longer than rejoinTimeout nobody waits", ended_after(299.0, ago_s=301.0), NOBODY, None),
    ("it had run for all of rejoinTimeout", ended_after(300.0, ago_s=5.0), NOBODY, None),
    (
        "after ten minutes the kubelet forgets, whatever rejoinTimeout is",
        changed(ended_after(600.0, ago_s=5.0), group=group(rollout={"rejoinTimeout": "1h"})),
        NOBODY,
        None,
    ),
    ("one of the version before has ended lately as well", ended_after(25.0, ago_s=5.0, others=True), NOBODY, None),
    ("it was away for longer than it ran", ended_after(25.0, ago_s=0.0, away_s=300.0), NOBODY, Reason.POD_CRASHED),
    ("one of the version before has ended", ended_after(25.0, ago_s=5.0, ordinal=1), NOBODY, None),
    ("it is down again", ended_after(25.0, ago_s=5.0), frozenset({2}), None),
    ("it was another's id as well when that run began", fought_over(alone_ago_s=40), NOBODY, None),
    ("it began when it was alone", fought_over(alone_ago_s=45), NOBODY, Reason.POD_CRASHED),
    ("the other one is not known to have ended", fought_over(alone_ago_s=None), NOBODY, None),
    ("that was before the last handover", fought_over(alone_ago_s=4, ordinal=1, begun_ago_s=14), NOBODY, None),
    ("that was since it began", fought_over(alone_ago_s=4, ordinal=1, begun_ago_s=16), NOBODY, Reason.POD_CRASHED),
    ("how long it ran is not known", ended_after(25.0, ago_s=5.0, last_run_started_at=None), NOBODY, None),
    ("a container beside it has ended lately", beside_ended_after(8.0, ago_s=15.0), NOBODY, Reason.POD_CRASHED),
    ("that has run for long enough since", beside_ended_after(8.0, ago_s=17.0), NOBODY, None),
    ("that of the version before has as well", beside_ended_after(8.0, ago_s=5.0, others=True), NOBODY, None),
    ("nobody commits to Kafka", returned(0, 5, offsets={tp(4): PartitionOffsets(None, 105)}), NOBODY, None),
]

NOBODY_WANTED = group(replicas=0, rollout={"maxLag": {"absolute": 100}})
ABSOLUTE = {"group": group(rollout={"maxLag": {"absolute": 100}})}


def with_another_topic(bound: dict[str, Any], **changes: Any) -> World:
    """With 5,000 records in it that nobody has read, and a pod of the new version."""
    usual, another = observation(), tp(0, "refunds")
    offsets = {**usual.offsets, another: PartitionOffsets(None, 5000, 0)}
    seen = replace(usual, partitions=usual.partitions | {another}, offsets=offsets)
    return world(**({"kafka": seen, "pods": (pod(0), pod(1), pod(2, NEW))} | bound | changes))


ALL_NEW = (pod(0, NEW), pod(1, NEW), pod(2, NEW))
GROWTH = {"group": group(rollout={"maxLag": {"growth": 100}}), "memory": RolloutMemory(lag_before=50)}
UNKNOWN_END = observation(offsets={tp(0): PartitionOffsets(1, None)})
LAG: list[Row] = [
    ("no bound", world(kafka=observation(lag=10**9)), NOBODY, None),
    ("at the bound", world(kafka=observation(lag=100), **ABSOLUTE), NOBODY, None),
    ("above the bound", world(kafka=observation(lag=101), **ABSOLUTE), NOBODY, Reason.LAG_ABOVE_GATE),
    ("not known", world(kafka=UNKNOWN_END, **ABSOLUTE), NOBODY, Reason.LAG_UNKNOWN),
    ("not known, no bound", world(kafka=UNKNOWN_END), NOBODY, None),
    ("grown to the bound", world(kafka=observation(lag=150), **GROWTH), NOBODY, None),
    ("grown too much", world(kafka=observation(lag=151), **GROWTH), NOBODY, Reason.LAG_ABOVE_GATE),
    ("nobody is wanted", world(kafka=observation(lag=101), group=NOBODY_WANTED), NOBODY, None),
    ("a topic that only the new version reads", with_another_topic(ABSOLUTE), NOBODY, None),
    ("it has grown since it was asked for", with_another_topic(GROWTH), NOBODY, None),
    ("every pod has the version", with_another_topic(ABSOLUTE, pods=ALL_NEW), NOBODY, Reason.LAG_ABOVE_GATE),
    ("above the bound because a pod is down", world(kafka=observation(lag=101), **ABSOLUTE), frozenset({1}), None),
]

BAD = pod(0, "bad")
GOOD = fresh_pod(2, age_s=20)
GOING_BACK = RolloutMemory(
    phase=RolloutPhase.ROLLING_BACK, step=Step(2, NOW - 25, {"payments-2": "payments-2-a"}, made=True)
)


def going_back(*there: Member, good: Pod = GOOD, **kafka: Any) -> World:
    """Pods 0 and 1 still have the version that is given up; pod 2, made 20 s ago, has the good one again."""
    before = observation(members(0, 1, 2), at=NOW - 40)
    now = observation(there, **kafka)
    history = folded(before, replace(before, observed_at=NOW - 15), replace(now, observed_at=NOW - 14), now)
    return world(kafka=now, history=history, memory=GOING_BACK, pods=(BAD, pod(1, "bad"), good))


BACK = (*members(0, 1), member(2, "b"))
BEFORE_IT = members(0, 1, 2)
IS_BACK: list[Row] = [
    ("it is", going_back(*BACK), NOBODY, None),
    ("its member is the one of before", going_back(*BEFORE_IT), NOBODY, Reason.MEMBER_NOT_REJOINED),
    ("it is away", going_back(*members(0, 1)), NOBODY, Reason.MEMBER_NOT_REJOINED),
    (
        "it has had rejoinTimeout, and others work",
        changed(going_back(*BEFORE_IT), now=NOW + 301),
        NOBODY,
        Reason.MEMBER_NOT_REJOINED,
    ),
    (
        "it lacks a member, and has had rejoinTimeout",
        changed(going_back(*BACK), group=group(membersPerPod=2), now=NOW + 301),
        NOBODY,
        None,
    ),
    ("it has had rejoinTimeout, and nobody works", changed(going_back(), now=NOW + 301), NOBODY, None),
    ("those of the bad version are away", going_back(member(2, "b")), NOBODY, None),
]

ALL_GOOD = (pod(0, NEW), pod(1, NEW), GOOD)


@pytest.mark.parametrize(("since_s", "refused"), [(25, True), (301, False)], ids=["not yet", "after rejoinTimeout"])
def test_the_way_back_is_over_when_the_group_is_whole_again(since_s: float, refused: bool) -> None:
    given = going_back(*BACK, state=GroupState.PREPARING_REBALANCE)
    step = replace(GOING_BACK, step=Step(2, NOW - since_s, {"payments-2": "payments-2-a"}, made=True))
    hold = first_refusal(changed(given, pods=ALL_GOOD, memory=step), NOBODY)
    assert (hold is not None and hold.reason is Reason.GROUP_REBALANCING) is refused


AWAY = replace(GOOD, ready=False, started_at=None)
LEAST: Final = {
    "the look is old": (going_back(*BACK, at=NOW - 11), world(kafka=observation(at=NOW - 11)), "ObservationStale"),
    "it is paused": (
        changed(going_back(*BACK), group=group({PAUSE: "true"})),
        world(group=group({PAUSE: "true"})),
        "Paused",
    ),
    "a pod is not Ready": (
        going_back(*BACK, good=AWAY),
        world(pods=(pod(0), pod(1), pod(2, ready=False))),
        "PodNotReady",
    ),
}


@pytest.mark.parametrize(("back", "forward", "reason"), LEAST.values(), ids=LEAST)
def test_the_least_that_is_asked_is_asked_on_the_way_back_and_of_who_is_out_as_well(
    back: World, forward: World, reason: str
) -> None:
    holds = (first_refusal(back, NOBODY), first_refusal(forward, NOBODY, who_is_out=True))
    assert [hold.reason if hold is not None else None for hold in holds] == [reason, reason]


def going_back_beside(*others: Pod, away_s: float, who: Sequence[Member] = BACK) -> World:
    """Pod 2 is back with the good version; pod 1, too, and has been away for so long. The version of pod 0 failed."""
    seen = observation(who)
    looks = (observation(at=NOW - 1000), observation(who, at=NOW - away_s), seen)
    step = Step(2, NOW - 900, {"payments-2": "payments-2-a"}, made=True)
    history, memory = folded(*looks), replace(GOING_BACK, step=step)
    pods = (pod(0, NEW), *others, fresh_pod(2, 890, OLD))
    sets = workload(update_revision=OLD, current_revision=NEW)
    return world(pods=pods, kafka=seen, history=history, memory=memory, workload=sets)


LOST = fresh_pod(1, 890, OLD, ready=False, ready_changed_at=NOW - 890)
WORKS_UNREADY = fresh_pod(1, 890, OLD, ready=False, ready_changed_at=NOW - 890)
ONE_LESS = (member(0), member(2, "b"))
ONLY_GOOD = (member(2, "b"),)
HAD_ITS_TIME: list[tuple[str, World, bool]] = [
    ("not for rejoinTimeout", going_back_beside(LOST, away_s=299, who=ONLY_GOOD), False),
    ("nobody of the failed version works", going_back_beside(LOST, away_s=301, who=ONLY_GOOD), True),
    ("somebody does", going_back_beside(LOST, away_s=301, who=ONE_LESS), False),
    ("it works itself, and is not Ready", going_back_beside(WORKS_UNREADY, away_s=301), True),
    (
        "it works itself, and its startup probe goes on",
        going_back_beside(replace(WORKS_UNREADY, starting=True), away_s=301),
        False,
    ),
    ("it is missing, and nobody of the failed version works", going_back_beside(away_s=301, who=ONLY_GOOD), True),
    ("it is missing", going_back_beside(away_s=301, who=ONE_LESS), False),
]


@pytest.mark.parametrize(("given", "had"), [row[1:] for row in HAD_ITS_TIME], ids=[row[0] for row in HAD_ITS_TIME])
def test_the_way_back_waits_for_no_pod_of_the_good_version_for_ever(given: World, had: bool) -> None:
    assert isinstance(given.kafka, GroupObservation)
    assert has_had_its_time(given, 1) is had
    assert (pods_are_ready(given, given.kafka, NOBODY) is None) is had
    assert not has_had_its_time(given, 0)
    forward = changed(given, memory=replace(given.memory, phase=RolloutPhase.PROGRESSING))
    assert pods_are_ready(forward, given.kafka, NOBODY) is not None


def test_on_the_way_back_who_is_out_of_the_group_waits_for_no_other_pod() -> None:
    given = going_back_beside(LOST, away_s=10, who=ONE_LESS)
    assert first_refusal(given, NOBODY, who_is_out=True) is None
    forward = changed(given, memory=replace(given.memory, phase=RolloutPhase.PROGRESSING))
    assert first_refusal(forward, NOBODY, who_is_out=True) is not None


THE_FAULT_OF_THE_VERSION: list[tuple[str, World]] = [
    ("it rebalances", going_back(*BACK, state=GroupState.PREPARING_REBALANCE)),
    ("it has joined without an instance id", going_back(member(1), member(2, "b"), dynamic_member(0))),
    ("partitions have no owner", going_back(*BACK, partitions=observation().partitions | {tp(6)})),
    ("it falls behind", changed(going_back(*BACK, lag=101), group=group(rollout={"maxLag": {"absolute": 100}}))),
    ("it has more members than it should", going_back(*BACK, member(0, instance_id="payments-0-1"))),
]


@pytest.mark.parametrize(("what", "given"), THE_FAULT_OF_THE_VERSION, ids=[row[0] for row in THE_FAULT_OF_THE_VERSION])
def test_what_a_version_broke_keeps_nobody_from_taking_it_back(what: str, given: World) -> None:
    assert first_refusal(given, NOBODY) is None, what
    forward = changed(given, memory=replace(given.memory, phase=RolloutPhase.PROGRESSING))
    assert first_refusal(forward, NOBODY) is not None, what


MAYBE: Final = observation(members(0, 1, 2), at=NOW - 1)
"""The first look of a new operator: whether pod 1's member is of before its restart is not known."""
COMING: list[tuple[str, Pod, GroupObservation, bool]] = [
    ("it may be there or not", fresh_pod(1, 20, NEW), MAYBE, True),
    ("it is the next to go itself", fresh_pod(2, 20, NEW), MAYBE, False),
    ("it is there", pod(1, NEW), MAYBE, False),
    ("it is out, and goes first", fresh_pod(1, 20, NEW), observation((members(0, 2)), at=NOW - 1), False),
    ("it is not Ready", fresh_pod(1, 20, NEW, ready=False), MAYBE, False),
]


@pytest.mark.parametrize(("which", "seen", "waits"), [row[1:] for row in COMING], ids=[row[0] for row in COMING])
def test_the_way_back_takes_no_second_pod_while_one_may_be_coming_back(
    which: Pod, seen: GroupObservation, waits: bool
) -> None:
    pods = tuple(which if ordinal == which.ordinal else pod(ordinal, NEW) for ordinal in range(3))
    given = world(
        pods=pods,
        kafka=seen,
        history=folded(seen),
        memory=replace(GOING_BACK, step=None),
        workload=workload(update_revision=OLD, current_revision=NEW),
    )
    assert (the_pod_before_is_back(given, seen, NOBODY) is not None) is waits


@pytest.mark.parametrize(("absent_s", "said"), [(299, False), (301, True)])
def test_a_way_back_that_waits_for_one_pod_says_what_helps(absent_s: float, said: bool) -> None:
    """Its node may be bad; and going on would take a pod away that works."""
    back = fresh_pod(2, absent_s, OLD)
    now = observation(members(0, 1))
    given = world(
        pods=(pod(0, NEW), pod(1, NEW), back),
        kafka=now,
        history=watched(now, absent_s + 100),
        memory=GOING_BACK,
        workload=workload(update_revision=OLD, current_revision=NEW),
    )
    hold = the_pod_before_is_back(given, now, NOBODY)
    assert hold is not None
    assert ("Delete it if its node is to blame" in hold.message) is said


TABLES: list[tuple[Gate, list[Row]]] = [
    (observation_is_fresh, FRESH),
    (rollout_is_allowed, ALLOWED),
    (pods_are_ready, READY),
    (group_is_settled, SETTLED),
    (members_are_ours, OURS),
    (partitions_are_owned, OWNED),
    (lag_is_bounded, LAG),
    (the_pod_before_is_back, IS_BACK),
]
ROWS = [pytest.param(gate, row, id=f"{gate.__name__}: {row[0]}") for gate, table in TABLES for row in table]


@pytest.mark.parametrize(("gate", "row"), ROWS)
def test_gate(gate: Gate, row: Row) -> None:
    _, given, down, expected = row
    assert not isinstance(given.kafka, Unobserved)
    hold = gate(given, given.kafka, down)
    assert (hold.reason if hold is not None else None) == expected
    assert hold is None or (hold.message and hold.recheck_s > 0)


def test_growth_is_that_of_what_was_read_at_the_start() -> None:
    """A topic that is asked for with the version allows for no more lag in the others."""
    given = with_another_topic(GROWTH, memory=RolloutMemory(phase=RolloutPhase.PROGRESSING))
    given = given.remembering(note_lag(given).memory)
    seen = given.kafka
    assert isinstance(seen, GroupObservation)
    later = {p: replace(o, end=(o.end or 0) + (0 if p.topic == "refunds" else 20)) for p, o in seen.offsets.items()}
    grown = replace(given, kafka=replace(seen, offsets=later))
    assert lag_is_bounded(given, seen, NOBODY) is None
    assert lag_is_bounded(grown, replace(seen, offsets=later), NOBODY) is not None


def test_every_gate_has_its_table_in_the_order_in_which_they_are_asked() -> None:
    assert tuple(gate for gate, _ in TABLES[: len(GATES)]) == GATES
    assert {gate for gate, _ in TABLES} == {*GATES, *WAY_BACK}
    assert [gate.__name__ for gate, table in TABLES if {row[3] is None for row in table} != {True, False}] == []


def test_a_foreign_member_is_named_with_client_and_host() -> None:
    hold = members_are_ours(world(), STRANGE, NOBODY)
    assert hold is not None
    assert "console at 10.9.9.9" in hold.message


@pytest.mark.parametrize(
    ("address", "says"),
    [("10.0.0.1", "it has one address with payments-1"), ("10.0.0.2", "correct the one or the other")],
)
def test_of_pods_with_one_address_it_says_what_tells_their_members_apart(address: str, says: str) -> None:
    """With hostNetwork; to correct `membersPerPod` would be wrong."""
    more = (*THREE_DYNAMIC[:2], *(dynamic_member(number, host=f"/{address}") for number in (2, 3)))
    pods = (pod(0), pod(1), fresh_pod(2, 400, address=address))
    hold = members_are_ours(world(kafka=observation(more), pods=pods, **DYNAMIC), observation(more), NOBODY)
    assert hold is not None
    assert hold.reason is Reason.FOREIGN_MEMBERS
    assert says in hold.message


def test_slow_starters_that_were_restarted_often_are_not_taken_for_duplicates() -> None:
    """Each restart changes the member id once, however long after the container's start the pod joins."""
    looks = [observation((*members(0, 1), member(2, f"x{i}")), at=NOW - 3000 + 1000 * i) for i in range(4)]
    slow = fresh_pod(2, age_s=120)
    given = world(kafka=looks[-1], history=folded(*looks), pods=(pod(0), pod(1), slow))
    hold = members_are_ours(given, looks[-1], NOBODY)
    assert hold is None or hold.reason != Reason.DUPLICATE_INSTANCE_ID


def test_what_a_former_owner_committed_proves_nothing() -> None:
    """Pod 2 was away long enough for pod 1 to get its partitions, and has them back, but does not work."""
    before = observation(at=NOW - 40)
    away = observation((member(0), member(1, assignment=owned_by(1) | owned_by(2))), at=NOW - 25)
    moved = {p: PartitionOffsets(150, 150) for p in before.partitions}
    worked = replace(away, observed_at=NOW - 15, offsets=moved)
    back = observation((*members(0, 1), member(2, "b")), at=NOW - 10, offsets=moved)
    more = replace(back, observed_at=NOW, offsets={p: PartitionOffsets(150, 160) for p in before.partitions})
    given = world(
        kafka=more,
        history=folded(before, away, worked, back, more),
        memory=RolloutMemory(step=Step(2, NOW - 31)),
        pods=(pod(0), pod(1), fresh_pod(2, age_s=30)),
    )
    hold = partitions_are_owned(given, more, NOBODY)
    assert hold is not None
    assert hold.reason == Reason.OFFSETS_NOT_MOVING


def test_unknown_group_types_are_waited_for_as_long_as_any_session_lasts() -> None:
    kafka = observation(type=GroupType.CONSUMER)
    early = world(kafka=kafka, history=GroupHistory(), pods=(pod(0), pod(1), fresh_pod(2, age_s=60)))
    hold = members_are_ours(early, kafka, NOBODY)
    assert hold is not None
    assert hold.reason == Reason.MEMBER_NOT_REJOINED
    late = changed(early, pods=(pod(0), pod(1), fresh_pod(2, age_s=65, revision=NEW)))
    assert members_are_ours(late, kafka, NOBODY) is None


BLIND = replace(observation(), blind_to=Unobserved(Reason.TOPIC_MISSING, "topic refunds does not exist", NOW))


def test_a_topic_that_cannot_be_read_holds_a_rollout_and_neither_a_way_back_nor_who_is_out() -> None:
    """Members were seen: of who is in the group nothing is unknown."""
    forward = world(kafka=BLIND)
    hold = first_refusal(forward, frozenset())
    assert hold is not None
    assert (hold.reason, hold.message) == (Reason.TOPIC_MISSING, "topic refunds does not exist")
    assert first_refusal(forward, frozenset(), who_is_out=True) is None
    memory = RolloutMemory(phase=RolloutPhase.ROLLING_BACK)
    assert first_refusal(world(kafka=BLIND, memory=memory), frozenset()) is None


def test_a_stranger_is_named_with_the_consumer_group_that_has_the_same_id() -> None:
    hold = members_are_ours(world(claims=(Claim("shop", "b"),)), STRANGE, NOBODY)
    assert hold is not None
    assert "(ConsumerGroup shop/b has the same groupId). Stop them" in hold.message


def none_committed_by(ordinal: int, joined_ago: float) -> tuple[GroupObservation, ...]:
    """Its member came so many seconds ago and has committed nothing since, though records come everywhere."""
    looks, its = [], owned_by(ordinal)
    for number, ago in enumerate((900.0, 800.0, joined_ago + 1, joined_ago, 2.0, 0.0)):
        here = tuple(member(each, "b" if each == ordinal and ago <= joined_ago else "a") for each in range(3))
        read = {False: 100 + 5 * number, True: 100 + 5 * min(number, 2)}
        offsets = {p: PartitionOffsets(read[p in its], 101 + 5 * number) for p in observation().partitions}
        looks.append(observation(here, at=NOW - ago, offsets=offsets))
    return tuple(looks)


OVERTAKEN = pod(1, "overtaken", created_at=NOW - 665, started_at=NOW - 660, ready_changed_at=NOW - 15)
"""It took eleven minutes to start, and joined 15 s ago."""
ENDED_SINCE = pod(1, OLD, restarts=1, started_at=NOW - 60, ended_at=NOW - 65, ready_changed_at=NOW - 15)


@pytest.mark.parametrize(
    ("its_pod", "expected"),
    [(OVERTAKEN, Reason.OFFSETS_NOT_MOVING), (replace(OVERTAKEN, revision=NEW), None), (ENDED_SINCE, None)],
    ids=["it was overtaken", "it has the version that is wanted, and is not the last that was restarted", "an old one"],
)
def test_a_pod_of_an_overtaken_version_has_come_when_it_joined(its_pod: Pod, expected: Reason | None) -> None:
    looks = none_committed_by(1, joined_ago=15)
    step = RolloutMemory(phase=RolloutPhase.PROGRESSING, step=Step(0, NOW - 900))
    given = world(kafka=looks[-1], history=folded(*looks), pods=(pod(0, NEW), its_pod, pod(2)), memory=step)
    hold = partitions_are_owned(given, looks[-1], NOBODY)
    assert (hold and hold.reason) == expected


@pytest.mark.parametrize(
    ("ordinal", "expected"), [(0, None), (1, Reason.OFFSETS_NOT_MOVING)], ids=["the next to go", "another"]
)
def test_in_a_warm_rollout_the_lowest_ordinal_is_the_next_to_go(ordinal: int, expected: Reason | None) -> None:
    looks = none_committed_by(ordinal, joined_ago=15)
    there = tuple(replace(OVERTAKEN, ordinal=each) if each == ordinal else pod(each, OLD) for each in range(3))
    pods = tuple(replace(each, name=f"payments-{each.ordinal}", workload="payments") for each in there)
    in_use = workload(replicas=3, template_hash="v1", update_revision="overtaken", created_at=NOW - 9_000)
    newcomer = workload(name="payments-alt", uid="alt", replicas=0, template_hash="v2", created_at=NOW - 20)
    memory = RolloutMemory(phase=RolloutPhase.PROGRESSING, target_hash="v2", step=Step(2, NOW - 900))
    warm = group(rollout={"strategy": "WarmHandover"})
    given = world(kafka=looks[-1], history=folded(*looks), pods=pods, group=warm, memory=memory)
    hold = partitions_are_owned(replace(given, sets=(in_use, newcomer)), looks[-1], NOBODY)
    assert (hold and hold.reason) == expected


@pytest.mark.parametrize(("joined_ago", "expected"), [(590, Reason.OFFSETS_NOT_MOVING), (610, None)])
def test_a_pod_of_an_overtaken_version_came_lately_for_twice_rejoin_timeout(
    joined_ago: float, expected: Reason | None
) -> None:
    looks = none_committed_by(1, joined_ago=joined_ago)
    step = RolloutMemory(phase=RolloutPhase.PROGRESSING, step=Step(0, NOW - 900))
    given = world(kafka=looks[-1], history=folded(*looks), pods=(pod(0, NEW), OVERTAKEN, pod(2)), memory=step)
    hold = partitions_are_owned(given, looks[-1], NOBODY)
    assert (hold and hold.reason) == expected


def test_a_group_that_has_been_calm_for_almost_long_enough_is_looked_at_in_time() -> None:
    kafka = observation()
    given = world(kafka=kafka, history=watched(kafka, for_s=9.75))
    hold = group_is_settled(given, kafka, NOBODY)
    assert hold is not None
    assert hold.recheck_s == pytest.approx(0.25)


@pytest.mark.parametrize(
    "said",
    [
        "0/3 nodes are available: 1 Insufficient cpu, 2 node(s) didn't match PersistentVolume's node affinity.",
        "0/3 nodes are available: 1 node(s) were unschedulable, 2 node(s) had volume node affinity conflict.",
        "0/3 nodes are available: 3 node(s) had no available volume zone.",
    ],
)
def test_what_kubernetes_says_of_a_pod_whose_volume_is_on_a_full_node_is_repeated(said: str) -> None:
    waiting = pod(1, ready=False, waiting="Unschedulable", waiting_message=said)
    hold = first_refusal(world(pods=(pod(0), waiting, pod(2))), frozenset())
    assert hold is not None
    assert hold.message == f"pod payments-1 is not Ready (no room on the node that has its volume: {said})"
