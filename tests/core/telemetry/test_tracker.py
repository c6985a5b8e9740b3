"""What holds of all that is told of a group, whatever happened to it: over simulated rollouts, named and random."""

from __future__ import annotations

from collections import Counter
from functools import cache
from typing import Final

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from slackwater.api.telemetry.events import Event, GroupObservedEvent, MemberRestartedEvent, read_line, write_line
from slackwater.api.telemetry.words import Outcome
from slackwater.core.plan import plan
from slackwater.core.telemetry.holdings import JOIN_KNOWN_WITHIN_S
from slackwater.core.telemetry.sight import Sight
from slackwater.core.telemetry.tracker import Tracker, follow
from slackwater.core.world.world import World
from tests.core.simulation.scenarios import SCENARIOS
from tests.core.telemetry.rows import Row, begun_again, row_by_chance, row_of, told_of
from tests.core.worlds import worlds

SEEDS = range(6)


@cache
def row(name: str | int) -> Row:
    return row_by_chance(name) if isinstance(name, int) else row_of(name)


QUICK: Final = 4
ROWS: Final = [
    *list(SCENARIOS)[:QUICK],
    *(pytest.param(name, marks=pytest.mark.slow) for name in (*list(SCENARIOS)[QUICK:], *SEEDS[:QUICK])),
    *(pytest.param(name, marks=(pytest.mark.slow, pytest.mark.long)) for name in SEEDS[QUICK:]),
]


def facts(events: list[Event]) -> set[str]:
    """By id; not how a restarted operator finds the group, which it tells once."""
    return {event.id for event in events if not isinstance(event, GroupObservedEvent)}


@pytest.mark.parametrize("name", ROWS)
def test_no_fact_is_told_twice(name: str | int) -> None:
    told = told_of(row(name).sights)
    assert [one for one, times in Counter(event.id for event in told).items() if times > 1] == []


@pytest.mark.slow
@pytest.mark.parametrize("name", ROWS)
def test_an_operator_that_begins_anywhere_tells_what_another_would_tell_or_less(name: str | int) -> None:
    sights = begun_again(row(name).sights)
    all_of_them = facts(told_of(sights))
    for cut in range(0, len(sights), 7):
        assert facts(told_of(begun_again(sights[cut:]))) <= all_of_them, f"begun at look {cut}"


@pytest.mark.parametrize("name", ROWS)
def test_what_is_told_can_be_written_and_read(name: str | int) -> None:
    for event in row(name).told():
        assert read_line(write_line(event)) == event


@pytest.mark.parametrize("name", ROWS)
def test_times_are_in_order(name: str | int) -> None:
    for event in row(name).told():
        check_order(event)


@pytest.mark.parametrize("name", ROWS)
def test_who_is_told_to_have_returned_has_joined_shortly_before(name: str | int) -> None:
    joins = row(name).joins
    for event in row(name).told():
        if not isinstance(event, MemberRestartedEvent) or event.member_restarted.instance_id is None:
            continue
        back = event.member_restarted
        if back.rejoined_at is not None:
            before = [at for at, instance_id, _ in joins if instance_id == back.instance_id and at <= back.rejoined_at]
            assert before
            assert back.rejoined_at - max(before) <= JOIN_KNOWN_WITHIN_S


@pytest.mark.parametrize("name", ["healthy", "healthy-kip848", "overtaken", "kafka-away", "dynamic-members"])
def test_every_restart_of_a_rollout_is_told_with_its_end(name: str) -> None:
    told = [event.member_restarted for event in row(name).told() if isinstance(event, MemberRestartedEvent)]
    outcomes = {restart.episode: restart.outcome for restart in told}
    assert set(outcomes.values()) == {Outcome.RETURNED}
    assert len(outcomes) >= 3


@pytest.mark.parametrize("name", ["operator-killed-before-every-act", "operator-killed-after-every-act"])
def test_an_operator_that_is_killed_at_every_act_leaves_no_restart_open(name: str) -> None:
    """The one that comes after it tells the end, because the status says who was there before the step in hand."""
    told = [event.member_restarted for event in row(name).told() if isinstance(event, MemberRestartedEvent)]
    outcomes = {restart.episode: restart.outcome for restart in told}
    assert set(outcomes.values()) == {Outcome.RETURNED}
    assert len(outcomes) == 3


@pytest.mark.slow
@settings(max_examples=50, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
@given(st.lists(worlds(), min_size=1, max_size=3))
def test_any_worlds_can_be_told_of(seen: list[World]) -> None:
    """Whether they can follow each other or not."""
    tracker, told = Tracker(), list[Event]()
    for number, world in enumerate(seen):
        tracker, new = follow(tracker, Sight(world, plan(world), cluster=str(number)))
        told += new
    for event in told:
        check_order(event)
        assert read_line(write_line(event)) == event


def check_order(event: Event) -> None:
    if not isinstance(event, MemberRestartedEvent):
        return
    body = event.member_restarted
    for last in (body.ready_at, body.rejoined_at):
        moments = [at for at in (body.last_seen_at, body.stopped_at, body.started_at, last) if at is not None]
        assert moments == sorted(moments)
