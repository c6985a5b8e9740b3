"""How closely a group is followed: with hundreds of them, one look too many is a steady load on Kafka and on us."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from slackwater.core.decision.acts import Act, AlterGroupSettings, Cause, DeletePod, Purpose, WriteWorkload
from slackwater.core.decision.decision import Decision
from slackwater.core.decision.reasons import Hold, Reason
from slackwater.core.members.scaled_away import LATE_FOR_S
from slackwater.core.pace import (
    AT_ONCE,
    AT_REST_AGAIN_S,
    Pace,
    in_motion,
    is_out_of_date,
    matters,
    pace_after,
    still_refused,
)
from slackwater.core.world.memory import RolloutMemory, RolloutPhase, Upgrade
from slackwater.core.world.observation import OLDEST_OBSERVATION_S, GroupState, KafkaView, Unobserved
from slackwater.core.world.profile import Profile, StrategyName
from slackwater.core.world.workload import UpdateStrategy
from slackwater.core.world.world import World
from tests.core.factories import NOW, changed, group, member, members, observation, pod, workload, world

COMPLETE = RolloutMemory(phase=RolloutPhase.COMPLETE)
AT_REST = world(memory=COMPLETE)
EMPTY = observation((), state=GroupState.EMPTY)
AWAY = Unobserved(Reason.KAFKA_UNREACHABLE, "no answer", NOW)
STOPPED = world(
    memory=COMPLETE, group=group(replicas=0), kafka=EMPTY, pods=(), workload=workload(replicas=0, partition=0)
)
ACT = AlterGroupSettings({})
UPGRADE = Upgrade(Profile.EAGER, StrategyName.ONLINE_MIGRATION, (Profile.CONSUMER,))
WAITS = Hold(Reason.GROUP_STABILIZING, "it has to stay calm", recheck_s=7.0)


def hold(reason: Reason = Reason.LAG_ABOVE_GATE, again_s: float = 5.0, look_s: float | None = None) -> Hold:
    return Hold(reason, "because", again_s, look_s)


@pytest.mark.parametrize(
    ("moves", "seen"),
    [
        (False, AT_REST),
        (True, world(memory=RolloutMemory(phase=RolloutPhase.PROGRESSING))),
        (True, world(memory=COMPLETE, kafka=AWAY)),
        (True, world(memory=COMPLETE, kafka=observation(state=GroupState.PREPARING_REBALANCE))),
        (True, world(memory=COMPLETE, kafka=observation(members(0, 1)))),
        (False, STOPPED),
        (True, world(memory=COMPLETE, group=group(replicas=0), kafka=EMPTY, pods=(pod(0),))),
        (
            True,
            world(
                memory=COMPLETE,
                group=group(replicas=0),
                kafka=observation((member(0),), state=GroupState.PREPARING_REBALANCE),
                pods=(),
            ),
        ),
    ],
    ids=[
        "at rest",
        "a rollout",
        "Kafka is away",
        "a rebalance",
        "a member is missing",
        "stopped on purpose",
        "stopped, and its pods still there",
        "stopped, and a member still there",
    ],
)
def test_what_is_watched_closely(moves: bool, seen: World) -> None:
    assert in_motion(seen, Decision(seen.memory)) is moves


@pytest.mark.parametrize("kafka", [observation(), AWAY], ids=["others are in it", "Kafka is away"])
def test_a_new_group_that_is_held_is_looked_at_as_the_hold_says(kafka: KafkaView) -> None:
    nothing = RolloutMemory()
    new = world(memory=nothing, workload=None, pods=(), kafka=kafka)
    assert not in_motion(new, Decision(nothing, hold=hold(Reason.INSTANCE_IDS_IN_USE)))


def test_a_group_that_something_is_done_to_is_watched_closely() -> None:
    assert in_motion(AT_REST, Decision(COMPLETE, ACT))


@pytest.mark.parametrize(
    ("read_again", "seen", "decided"),
    [
        (False, AT_REST, Decision(COMPLETE)),
        (False, AT_REST, Decision(replace(COMPLETE, ids_given=7))),
        (False, AT_REST, Decision(COMPLETE, hold=WAITS)),
        (True, AT_REST, Decision(COMPLETE, ACT)),
        (True, AT_REST, Decision(RolloutMemory(phase=RolloutPhase.PROGRESSING))),
        (True, AT_REST, Decision(replace(COMPLETE, upgrade=UPGRADE))),
        (True, AT_REST, Decision(replace(COMPLETE, group_settings={"consumer.session.timeout.ms": "50000"}))),
        (True, changed(AT_REST, workload=None), Decision(COMPLETE)),
    ],
    ids=[
        "nothing to do",
        "something to remember",
        "something to wait for",
        "an act",
        "another phase",
        "another protocol",
        "a setting in Kafka to forget",
        "no StatefulSet was reported",
    ],
)
def test_what_is_not_decided_from_a_watch(read_again: bool, seen: World, decided: Decision) -> None:
    assert matters(seen, decided) is read_again


@pytest.mark.parametrize(
    ("expected", "decided"),
    [
        (Pace(AT_REST_AGAIN_S), {}),
        (Pace(AT_ONCE), {"act": ACT}),
        (Pace(AT_ONCE), {"act": ACT, "hold": hold()}),
        (Pace(AT_ONCE), {"memory": replace(COMPLETE, ids_given=7), "hold": hold()}),
        (Pace(5.0), {"hold": hold()}),
        (Pace(2.0), {"hold": hold(), "refusal": hold(again_s=2.0)}),
        (Pace(2.0), {"hold": hold(again_s=2.0), "refusal": hold()}),
        (Pace(5.0, ask_brokers=True), {"refusal": hold(Reason.BROKER_CANNOT)}),
        (Pace(5.0, ask_brokers=True), {"refusal": hold(Reason.BROKER_UNKNOWN)}),
        (Pace(5.0, ask_brokers=True), {"refusal": hold(Reason.MIGRATION_POLICY_FORBIDS)}),
        (Pace(5.0), {"hold": hold(Reason.BROKER_CANNOT), "refusal": hold(Reason.CLIENT_CANNOT)}),
        (Pace(5.0, look_soon=True), {"hold": hold(look_s=10.0)}),
        (Pace(5.0), {"hold": hold(look_s=10.5)}),
        (Pace(5.0), {"refusal": hold(look_s=1.0)}),
    ],
    ids=[
        "at rest",
        "after an act",
        "after an act, with more to wait for",
        "after something was remembered",
        "a hold",
        "the refusal ends first",
        "the hold ends first",
        "the brokers cannot",
        "the brokers are not known",
        "the brokers may not",
        "no broker can lift it",
        "the look is as old as it may get",
        "the look is not that old",
        "only a hold waits for looks",
    ],
)
def test_when_to_look_again(expected: Pace, decided: dict[str, Any]) -> None:
    seen = world(memory=COMPLETE, kafka=observation(at=NOW - 10.0))
    assert pace_after(seen, Decision(**({"memory": COMPLETE} | decided))) == expected


@pytest.mark.parametrize(
    ("again_s", "ended_for_s"), [(LATE_FOR_S, 0.0), (3.0, LATE_FOR_S - 3.0), (AT_REST_AGAIN_S, LATE_FOR_S)]
)
def test_who_was_scaled_away_waits_no_longer_for_late_pods_than_it_is_to(again_s: float, ended_for_s: float) -> None:
    """No watch reports that a pod does *not* end. Where the wait is over there is an act, or nothing to be done."""
    memory = replace(COMPLETE, ended_since=NOW - ended_for_s)
    assert pace_after(world(memory=memory), Decision(memory)) == Pace(again_s)


def test_a_group_that_kafka_does_not_show_has_no_look_that_is_too_old() -> None:
    assert not pace_after(world(memory=COMPLETE, kafka=AWAY), Decision(COMPLETE, hold=hold(look_s=0.0))).look_soon


def test_what_was_refused_is_said_before_all_else_and_tried_again() -> None:
    refused = hold(Reason.CLUSTER_REFUSED)
    decided = Decision(COMPLETE, ACT, WAITS)
    assert still_refused(decided, refused) == Decision(COMPLETE, ACT, refused)
    assert still_refused(decided, None) == decided


RESTART = DeletePod("payments-1", "uid", 1, Cause.DOWN)
REPAIR = DeletePod("payments-1", "uid", 1, Cause.REFUSED)


@pytest.mark.parametrize(
    ("act", "later_s", "expected"),
    [
        (RESTART, 0.0, False),
        (RESTART, OLDEST_OBSERVATION_S, False),
        (RESTART, OLDEST_OBSERVATION_S + 1, True),
        (RESTART, -1.0, True),
        (REPAIR, OLDEST_OBSERVATION_S + 1, True),
        (ACT, OLDEST_OBSERVATION_S + 1, False),
    ],
    ids=["at once", "in time", "late", "the clock was set back", "a repair", "what takes no pod down"],
)
def test_what_takes_a_pod_down_is_done_soon_after_the_look(act: Act, later_s: float, expected: bool) -> None:
    assert is_out_of_date(AT_REST, act, AT_REST.now + later_s) is expected


@pytest.mark.parametrize(("purpose", "late"), [(Purpose.HAND_OVER, True), (Purpose.SCALE, False)])
def test_what_waited_for_the_gates_is_done_soon_after_the_look_though_it_takes_no_pod_down(
    purpose: Purpose, late: bool
) -> None:
    act = WriteWorkload(purpose, {}, 1, UpdateStrategy.ROLLING_UPDATE, 1, "7")
    assert is_out_of_date(AT_REST, act, NOW + OLDEST_OBSERVATION_S + 1) is late
