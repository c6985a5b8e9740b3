"""Which groups are looked at every second: with hundreds of them, one too many is a steady load on Kafka and on us."""

from __future__ import annotations

import pytest

from slackwater.core.decision.decision import Decision
from slackwater.core.decision.reasons import Reason
from slackwater.core.world.memory import RolloutMemory, RolloutPhase
from slackwater.core.world.observation import GroupState, Unobserved
from slackwater.core.world.world import World
from slackwater.shell.reconciler import _in_motion
from tests.core.factories import NOW, group, member, members, observation, pod, workload, world

COMPLETE = RolloutMemory(phase=RolloutPhase.COMPLETE)
AT_REST = world(memory=COMPLETE)
EMPTY = observation((), state=GroupState.EMPTY)
STOPPED = world(
    memory=COMPLETE, group=group(replicas=0), kafka=EMPTY, pods=(), workload=workload(replicas=0, partition=0)
)


@pytest.mark.parametrize(
    ("in_motion", "seen"),
    [
        (False, AT_REST),
        (True, world(memory=RolloutMemory(phase=RolloutPhase.PROGRESSING))),
        (True, world(memory=COMPLETE, kafka=Unobserved(Reason.KAFKA_UNREACHABLE, "no answer", NOW))),
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
def test_what_is_watched_closely(in_motion: bool, seen: World) -> None:
    assert _in_motion(seen, Decision(seen.memory)) is in_motion
