"""`rebalance`: what moved, from when to when and because of what; and what is none."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from slackwater.api.telemetry.bodies import Rebalance
from slackwater.api.telemetry.events import Event, RebalanceEvent
from slackwater.api.telemetry.words import RebalanceCause
from slackwater.core.world.memory import RolloutMemory, RolloutPhase, Upgrade
from slackwater.core.world.observation import GroupState, GroupType, Member
from slackwater.core.world.profile import Profile, StrategyName
from tests.core.factories import NOW, group, member, members, owned_by, pod, stranger
from tests.core.telemetry.stories import AT_REST, UNREACHABLE, Story, step

MOVING = {"state": GroupState.PREPARING_REBALANCE}
UPGRADING = RolloutMemory(
    phase=RolloutPhase.PROGRESSING,
    upgrade=Upgrade(Profile.EAGER, StrategyName.ONLINE_MIGRATION, (Profile.CONSUMER,)),
)


def rebalances(events: list[Event]) -> list[Rebalance]:
    return [event.rebalance for event in events if isinstance(event, RebalanceEvent)]


def two_of_three() -> list[Member]:
    """What the third had is the first one's now."""
    return [replace(member(0), assignment=owned_by(0) | owned_by(2)), member(1)]


def test_a_rebalance_is_told_when_the_group_is_calm_again() -> None:
    story = Story()
    story.look(0)
    assert rebalances(story.look(10, group=MOVING)) == []
    assert rebalances(story.look(11, group=MOVING)) == []
    story.members = tuple(two_of_three())
    (told,) = rebalances(story.look(13))
    assert (told.started_at, told.ended_at) == (NOW + 10, NOW + 13)
    assert (told.members_before, told.members_after, told.partitions_moved) == (3, 2, 2)
    assert (told.generation_before, told.generation_after) == (None, None)
    assert told.instance_ids == ("payments-2",)
    assert rebalances(story.look(14)) == []


def test_one_that_fell_between_two_looks_has_no_beginning() -> None:
    story = Story()
    story.look(0)
    story.members = tuple(two_of_three())
    (told,) = rebalances(story.look(60))
    assert (told.started_at, told.ended_at) == (None, NOW + 60)


def test_one_that_moved_nothing_stopped_the_group_all_the_same() -> None:
    story = Story()
    story.look(0)
    story.look(10, group=MOVING)
    (told,) = rebalances(story.look(12))
    assert (told.partitions_moved, told.cause) == (0, RebalanceCause.UNKNOWN)


def test_a_static_member_that_came_back_is_none() -> None:
    """F41."""
    story = Story()
    story.look(0)
    story.members = (member(0), member(1, "b"), member(2))
    assert rebalances(story.look(10)) == []


def test_under_kip_848_the_epoch_tells_and_being_uneasy_does_not() -> None:
    """F12: a member that stops in order leaves its place open for a while."""
    modern: dict[str, Any] = {"type": GroupType.CONSUMER, "epoch": 4}
    story = Story()
    story.look(0, group=modern)
    story.look(10, group={**modern, "state": GroupState.RECONCILING})
    assert rebalances(story.look(12, group=modern)) == []
    (told,) = rebalances(story.look(20, group={**modern, "epoch": 6}))
    assert (told.generation_before, told.generation_after) == (4, 6)


def test_what_was_under_way_before_anybody_watched_is_not_told() -> None:
    story = Story()
    story.look(0, group=MOVING)
    story.members = tuple(two_of_three())
    assert rebalances(story.look(5)) == []


def test_the_first_members_come_because_the_group_is_scaled_up() -> None:
    story = Story(members=())
    story.look(0, group={"state": GroupState.EMPTY})
    story.members = members(0, 1, 2)
    story.look(5, group=MOVING)
    (told,) = rebalances(story.look(7))
    assert (told.members_before, told.cause) == (0, RebalanceCause.SCALE)
    assert told.instance_ids == ("payments-0", "payments-1", "payments-2")


def ended(**changes: Any) -> Any:
    return pod(2, ready=False, started_at=None, ended_at=NOW + 5, **changes)


@pytest.mark.parametrize(
    ("what", "expected"),
    [
        ({"pod": ended()}, RebalanceCause.CRASH),
        ({"pod": None}, RebalanceCause.RESTART),
        ({"pod": None, "memory": step(2, 4, {"payments-2": "payments-2-a"})}, RebalanceCause.RESTART),
        ({"pod": None, "replicas": 2}, RebalanceCause.SCALE),
        ({"pod": pod(2), "memory": UPGRADING}, RebalanceCause.UPGRADE),
        ({"pod": pod(2), "group": {"assignor": "cooperative-sticky"}}, RebalanceCause.UPGRADE),
        ({"pod": pod(2)}, RebalanceCause.UNKNOWN),
    ],
)
def test_what_caused_it(what: dict[str, Any], expected: RebalanceCause) -> None:
    story = Story()
    story.look(0)
    story.world = replace(story.world, group=group(replicas=what.get("replicas", 3)))
    story.look(6, pods=story.replaced(2, what["pod"]), memory=what.get("memory", AT_REST), group=MOVING)
    story.members = tuple(two_of_three())
    (told,) = rebalances(story.look(8, group=what.get("group", {})))
    assert told.cause is expected


def test_somebody_else_s_member_is_foreign_when_it_comes_and_when_it_goes() -> None:
    story = Story()
    story.look(0)
    story.members = (*members(0, 1, 2), stranger())
    came = rebalances(story.look(10))
    story.members = members(0, 1, 2)
    went = rebalances(story.look(20))
    assert [told.cause for told in (*came, *went)] == [RebalanceCause.FOREIGN] * 2
    assert came[0].instance_ids == ()


def test_what_an_outage_hid_is_told_as_one() -> None:
    story = Story()
    story.look(0)
    story.look(10, kafka=UNREACHABLE)
    story.members = tuple(two_of_three())
    assert len(rebalances(story.look(100))) == 1


def test_somebody_else_s_member_is_the_cause_though_a_pod_crashes_meanwhile() -> None:
    story = Story()
    story.look(0)
    story.look(6, pods=story.replaced(2, ended()), group=MOVING)
    story.members = (*two_of_three(), stranger())
    (told,) = rebalances(story.look(8))
    assert told.cause is RebalanceCause.FOREIGN


def test_a_crash_is_the_cause_though_another_pod_was_restarted_meanwhile() -> None:
    story = Story()
    story.look(0)
    story.look(6, pods=story.replaced(1, None), group=MOVING)
    story.look(7, pods=story.replaced(2, ended()), group=MOVING)
    story.members = tuple(two_of_three())
    (told,) = rebalances(story.look(8))
    assert told.cause is RebalanceCause.CRASH
