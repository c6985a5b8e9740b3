"""How long partitions take to warm up: until the lag is back where it was before the rebalance."""

from __future__ import annotations

from typing import Any

import pytest

from slackwater.api.telemetry.bodies import GroupObserved
from slackwater.api.telemetry.events import Event, GroupObservedEvent
from slackwater.core.telemetry.warming import WATCHED_FOR_S, WarmUp
from tests.core.factories import members
from tests.core.telemetry.stories import UNREACHABLE, Story

FEWER = members(0, 1)


def after_a_rebalance(lag_before: int = 100) -> Story:
    """Three members become two, ten seconds after five calm looks; the lag is high from then on."""
    story = Story()
    for second in range(5):
        story.look(second, group={"lag": lag_before - second})
    story.members = tuple(FEWER)
    story.look(10, group={"lag": 5_000})
    return story


def warm_up(story: Story) -> WarmUp | None:
    return story.tracker.warming.last


def observed(events: list[Event]) -> list[GroupObserved]:
    return [event.group_observed for event in events if isinstance(event, GroupObservedEvent)]


def test_it_lasts_until_the_lag_is_back_where_it_was() -> None:
    story = after_a_rebalance()
    story.look(30, group={"lag": 900})
    assert warm_up(story) is None
    (told,) = observed(story.look(52, group={"lag": 105}))
    found = warm_up(story)
    assert found is not None
    assert found.took_s == 42.0
    assert (told.warmed_up_s, told.warmed_up_after) == (42.0, found.rebalance_at)


def test_it_is_told_at_once_and_then_stands() -> None:
    story = after_a_rebalance()
    story.look(52, group={"lag": 105})
    assert observed(story.look(53, group={"lag": 105})) == []


def test_a_group_that_never_catches_up_is_told_of_when_it_was_watched_long_enough() -> None:
    story = after_a_rebalance()
    story.look(10 + WATCHED_FOR_S + 60, group={"lag": 9_000})
    found = warm_up(story)
    assert found is not None
    assert found.took_s == WATCHED_FOR_S


def test_another_rebalance_cuts_it_short_and_it_says_nothing() -> None:
    story = after_a_rebalance()
    story.members = tuple(members(0, 1, 2))
    story.look(20, group={"lag": 5_000})
    story.look(60, group={"lag": 50})
    assert warm_up(story) is None


@pytest.mark.parametrize("unseen", [{"kafka": UNREACHABLE}, {"group": {"offsets": {}}}])
def test_what_was_not_seen_is_not_the_end(unseen: dict[str, Any]) -> None:
    story = after_a_rebalance()
    story.look(30, **unseen)
    assert warm_up(story) is None
    story.look(40, group={"lag": 10})
    found = warm_up(story)
    assert found is not None
    assert found.took_s == 30.0


def test_without_a_lag_of_before_there_is_nothing_to_come_back_to() -> None:
    story = Story()
    story.look(0, group={"offsets": {}})
    story.members = tuple(FEWER)
    story.look(10, group={"lag": 5_000})
    story.look(20, group={"lag": 0})
    assert warm_up(story) is None
