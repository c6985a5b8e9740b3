"""Preflight in a campaign's words: skipped, waited for, or taken there."""

from __future__ import annotations

import ast
import inspect
from dataclasses import replace
from types import ModuleType

import pytest

from slackwater.api.fleet_campaign_status import Skip
from slackwater.api.protocol import ProtocolTarget
from slackwater.core.decision.reasons import Hold, Reason
from slackwater.core.fleet.participants import Obstacle
from slackwater.core.protocol import origin, preflight
from slackwater.core.protocol.foreseen import SKIPS, way_to
from slackwater.core.world.memory import RolloutMemory, RolloutPhase
from slackwater.core.world.observation import GroupState, Unobserved
from slackwater.core.world.profile import Profile
from slackwater.core.world.world import World
from tests.core.factories import BROKER, members, observation, stranger
from tests.core.protocol.test_preflight import (
    COOPERATIVE,
    EAGER,
    GO,
    JAVA,
    OLD_JAVA,
    RDKAFKA,
    STREAMS,
    keeping_data,
    running,
)

CONSUMER = ProtocolTarget.CONSUMER


def at(profile: Profile, world: World) -> World:
    return world.remembering(RolloutMemory(phase=RolloutPhase.COMPLETE, protocol=profile))


@pytest.mark.parametrize(
    ("world", "target", "expected"),
    [
        (at(EAGER, running(JAVA, EAGER)), CONSUMER, None),
        (at(Profile.CONSUMER, running(GO, Profile.CONSUMER)), CONSUMER, None),
        (at(EAGER, running(RDKAFKA, EAGER)), ProtocolTarget.COOPERATIVE, Skip.WOULD_STOP),
        (at(EAGER, running(RDKAFKA, EAGER, protocol={"allowDowntime": True})), ProtocolTarget.COOPERATIVE, None),
        (at(COOPERATIVE, keeping_data(RDKAFKA, COOPERATIVE)), CONSUMER, Skip.WOULD_STOP),
        (at(EAGER, running(GO, EAGER)), CONSUMER, Skip.CLIENT_CANNOT),
        (at(EAGER, running(STREAMS, EAGER)), CONSUMER, Skip.CLIENT_CANNOT),
        (at(EAGER, running(OLD_JAVA, EAGER)), CONSUMER, Skip.CLIENT_CANNOT),
        (at(EAGER, running(JAVA, EAGER, broker=replace(BROKER, group_version=0))), CONSUMER, Skip.BROKER_CANNOT),
        (
            at(EAGER, running(JAVA, EAGER, kafka=observation((*members(0, 1, 2), stranger())))),
            CONSUMER,
            Skip.REFUSED,
        ),
        (running(GO, EAGER, workload=None, pods=()), CONSUMER, Skip.CLIENT_CANNOT),
        (running(JAVA, EAGER, workload=None, pods=()), CONSUMER, None),
    ],
)
def test_whether_a_campaign_can_take_it_there(world: World, target: ProtocolTarget, expected: Skip | None) -> None:
    found = way_to(world, target)
    assert (found.skip if isinstance(found, Obstacle) else found) == expected
    assert not isinstance(found, Obstacle) or found.message


@pytest.mark.parametrize(
    ("world", "reason"),
    [
        (at(EAGER, running(JAVA, EAGER, broker=None)), Reason.BROKER_UNKNOWN),
        (
            at(EAGER, running(JAVA, EAGER, kafka=observation(state=GroupState.PREPARING_REBALANCE))),
            Reason.GROUP_REBALANCING,
        ),
        (
            at(EAGER, running(JAVA, EAGER, kafka=Unobserved(Reason.KAFKA_UNREACHABLE, "no answer", 0.0))),
            Reason.KAFKA_UNREACHABLE,
        ),
    ],
)
def test_what_is_so_for_a_moment_is_waited_for(world: World, reason: Reason) -> None:
    found = way_to(world, CONSUMER)
    assert isinstance(found, Hold)
    assert found.reason is reason


def reasons_in(module: ModuleType) -> set[Reason]:
    tree = ast.walk(ast.parse(inspect.getsource(module)))
    names = {
        n.attr
        for n in tree
        if isinstance(n, ast.Attribute) and isinstance(n.value, ast.Name) and n.value.id == "Reason"
    }
    return {Reason[name] for name in names}


def test_every_reason_of_preflight_is_one_or_the_other() -> None:
    """A new one is to be thought of here: a group that is waited for in vain keeps its wave from ending."""
    of_the_moment = {Reason.BROKER_UNKNOWN, Reason.GROUP_REBALANCING}
    assert reasons_in(preflight) | reasons_in(origin) == SKIPS.keys() | of_the_moment
