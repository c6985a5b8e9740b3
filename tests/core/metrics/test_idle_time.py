"""Partition-seconds in which nobody read. Three pods have two partitions each."""

from __future__ import annotations

from typing import Any

import pytest

from slackwater.core.metrics.idle_time import IdleTime, follow_idle_time
from slackwater.core.world.observation import GroupState, GroupType, KafkaView, Member
from slackwater.core.world.world import World
from tests.core.factories import NOW, dynamic_member, group, member, members, observation, pod, watched, world
from tests.core.telemetry.stories import UNREACHABLE

ALL = members(0, 1, 2)


def seen(at: float, who: tuple[Member, ...] = ALL, kafka: KafkaView | None = None, **changes: Any) -> World:
    looked = observation(who, NOW + at)
    return world(**{"now": NOW + at, "kafka": kafka or looked, "history": watched(looked)} | changes)


def idle_after(*worlds: World) -> float:
    time = IdleTime()
    for each in worlds:
        time = follow_idle_time(time, each)
    return time.partition_s


def test_a_group_that_reads_everything_is_never_idle() -> None:
    assert idle_after(seen(0), seen(10), seen(60)) == 0.0


def test_partitions_without_an_owner_are_idle_until_a_look_finds_them_owned() -> None:
    assert idle_after(seen(0, members(0, 1)), seen(10, members(0, 1)), seen(15), seen(60)) == 2 * 15


@pytest.mark.parametrize("gone", [(pod(0), pod(1)), (pod(0), pod(1), pod(2, started_at=None))])
def test_a_static_member_whose_pod_does_not_run_keeps_its_partitions_and_reads_nothing(gone: tuple[Any, ...]) -> None:
    assert idle_after(seen(0, pods=gone), seen(8)) == 2 * 8


def test_a_pod_that_has_started_reads_when_another_member_has_come() -> None:
    """Until then it is the dead one that is still listed (F41)."""
    started = (pod(0), pod(1), pod(2, created_at=NOW - 60, started_at=NOW - 60, uid="new"))
    before = watched(observation(ALL, NOW - 120))
    back = observation((*members(0, 1), member(2, "b")), NOW + 5)
    there = seen(5, kafka=back, pods=started, history=watched(back, 4.0))
    assert idle_after(seen(0, pods=started, history=before), there, seen(50, kafka=back, pods=started)) == 2 * 5


def test_a_member_that_has_left_for_a_while_reads_nothing() -> None:
    """It keeps its partitions in the group's description (F12)."""
    away = observation((*members(0, 1), member(2, epoch=-2)), NOW, type=GroupType.CONSUMER, assignor="uniform")
    assert idle_after(seen(0, kafka=away), seen(7)) == 2 * 7


def test_of_a_dynamic_member_nothing_else_is_known_than_that_it_is_listed() -> None:
    dynamic = tuple(dynamic_member(ordinal) for ordinal in range(3))
    assert idle_after(seen(0, dynamic, pods=()), seen(10)) == 0.0


@pytest.mark.parametrize(("assignor", "idle"), [("range", 6 * 3), ("cooperative-sticky", 0), ("own", 0)])
def test_an_eager_group_rests_while_it_rebalances(assignor: str, idle: float) -> None:
    calm = seen(0, kafka=observation(at=NOW, assignor=assignor))
    state = GroupState.PREPARING_REBALANCE
    moving = seen(1, kafka=observation((), NOW + 1, state=state, assignor=""))
    assert idle_after(calm, moving, seen(4)) == idle


def test_a_kip_848_group_tells_who_reads_while_it_moves() -> None:
    moving = observation(members(0, 1), NOW, state=GroupState.RECONCILING, type=GroupType.CONSUMER, assignor="uniform")
    assert idle_after(seen(0, kafka=moving), seen(3)) == 2 * 3


def test_what_kafka_does_not_tell_is_not_counted() -> None:
    assert idle_after(seen(0, ()), seen(10, kafka=UNREACHABLE), seen(100, ()), seen(101)) == 6 * 1


def test_a_group_that_was_stopped_on_purpose_is_not_idle() -> None:
    assert idle_after(seen(0, (), group=group(replicas=0)), seen(100, (), group=group(replicas=0))) == 0.0
