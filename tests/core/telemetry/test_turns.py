"""A turn is told of when it is asked for, given and over, with what held it back."""

from __future__ import annotations

from dataclasses import replace

from slackwater.api.fleet_budgets import MoveReason
from slackwater.api.telemetry.bodies import Turn as Body
from slackwater.api.telemetry.bodies import TurnHeld
from slackwater.api.telemetry.events import Event, TurnEvent
from slackwater.api.telemetry.words import HeldBy, TurnOutcome
from slackwater.core.world.memory import RolloutMemory, RolloutPhase
from slackwater.core.world.turn import Stand, Turn, TurnRecord, TurnStanding
from tests.core.factories import NOW
from tests.core.telemetry.stories import AT_REST, Story

PLATFORM = ("slackwater/platform",)
ASKED = TurnRecord(MoveReason.ROLLOUT, NOW + 10)
GIVEN = replace(ASKED, given_at=NOW + 100, cluster="k", coordinator=2)
BROKER = Stand(HeldBy.BUDGET, "slackwater/platform", "coordinators", "k/2")
CLOSED = Stand(HeldBy.WINDOW, "slackwater/platform")


def turns_in(events: list[Event]) -> list[Body]:
    return [event.turn for event in events if isinstance(event, TurnEvent)]


def look(story: Story, at: float, record: TurnRecord | None, stands_at: Stand | None = None) -> list[Body]:
    phase = RolloutPhase.COMPLETE if record is None or record.done_at is not None else RolloutPhase.PROGRESSING
    standing = TurnStanding.HAS if record is not None and record.is_held else TurnStanding.WAITS
    turn = Turn(standing, PLATFORM, stands_at=stands_at)
    return turns_in(story.look(at, memory=RolloutMemory(phase=phase, turn=record), turn=turn))


def begun() -> Story:
    """An operator that has seen the group at rest."""
    story = Story()
    story.look(0)
    return story


def test_a_turn_is_told_from_its_asking_to_its_end() -> None:
    story = begun()
    (asked,) = look(story, 10, ASKED, BROKER)
    assert look(story, 70, ASKED, CLOSED) == []
    (given,) = look(story, 100, GIVEN)
    assert look(story, 130, GIVEN) == []
    (done,) = look(story, 160, replace(GIVEN, done_at=NOW + 160))
    assert look(story, 170, replace(GIVEN, done_at=NOW + 160)) == []
    assert (asked.outcome, asked.waited_s, asked.held_by) == (TurnOutcome.WAITS, 0.0, ())
    assert (given.outcome, given.waits_since, given.waited_s) == (TurnOutcome.HAS, NOW + 10, 90.0)
    assert done == given.model_copy(update={"outcome": TurnOutcome.DONE, "ended_at": NOW + 160, "lasted_s": 60.0})
    assert {each.turn for each in (asked, given, done)} == {asked.turn}
    assert (given.coordinator, given.fleets, given.reason) == (2, PLATFORM, MoveReason.ROLLOUT)


def test_how_long_it_stood_where_is_told_when_it_is_given() -> None:
    story = begun()
    for at, stand in ((10, BROKER), (70, CLOSED), (80, BROKER), (90, None)):
        look(story, at, ASKED, stand)
    (given,) = look(story, 100, GIVEN)
    assert given.held_by == (
        TurnHeld(by=HeldBy.BUDGET, fleet="slackwater/platform", name="coordinators", place="k/2", held_s=70.0),
        TurnHeld(by=HeldBy.WINDOW, fleet="slackwater/platform", held_s=10.0),
    )
    assert given.waited_s == 90.0, "ten seconds it was called, and its own gates held it back"


def test_one_that_gave_way_asks_for_another() -> None:
    story = begun()
    look(story, 10, ASKED)
    look(story, 100, GIVEN)
    gave_way, waits = look(story, 220, replace(ASKED, yielded=1))
    assert (gave_way.outcome, gave_way.ended_at, gave_way.lasted_s) == (TurnOutcome.GAVE_WAY, NOW + 220, 120.0)
    assert (waits.outcome, waits.asked_at, waits.waits_since) == (TurnOutcome.WAITS, NOW + 10, NOW + 220)
    assert waits.turn != gave_way.turn


def test_one_that_is_not_needed_any_more_is_withdrawn() -> None:
    story = begun()
    (asked,) = look(story, 10, ASKED, BROKER)
    (ended,) = look(story, 40, None)
    assert (ended.turn, ended.outcome, ended.ended_at) == (asked.turn, TurnOutcome.WITHDRAWN, NOW + 40)
    assert (ended.waited_s, ended.lasted_s, [each.held_s for each in ended.held_by]) == (30.0, None, [30.0])


def test_while_it_waits_that_is_told_every_hour() -> None:
    story = begun()
    told = [len(look(story, 10 + minute * 60, ASKED, CLOSED)) for minute in range(130)]
    assert [minute for minute, events in enumerate(told) if events] == [0, 60, 120]
    assert turns_in(story.events)[-1].held_by[0].held_s == 7200.0
    ids = [event.id for event in story.events]
    assert len(ids) == len(set(ids))


def test_an_operator_that_begins_in_between_goes_on_under_the_same_ids() -> None:
    whole, later = begun(), Story()
    for story in (whole, later):
        for at, record in ((10, ASKED), (100, GIVEN), (160, replace(GIVEN, done_at=NOW + 160))):
            if story is whole or at > 10:
                look(story, at, record)
    ids = {event.id for event in whole.events if isinstance(event, TurnEvent)}
    told = [event for event in later.events if isinstance(event, TurnEvent)]
    assert [event.turn.outcome for event in told] == [TurnOutcome.HAS, TurnOutcome.DONE]
    assert {event.id for event in told} <= ids
    assert told[0].turn.waits_since == NOW + 10, "a first asking is the moment from which it waits"


def test_since_when_a_later_step_of_an_upgrade_waits_is_not_known_to_an_operator_that_has_just_begun() -> None:
    for record in (replace(ASKED, reason=MoveReason.PROTOCOL_UPGRADE), replace(ASKED, yielded=2)):
        (told,) = look(Story(), 500, record)
        assert (told.waits_since, told.waited_s) == (None, None)


def test_of_a_turn_that_was_over_when_the_operator_began_nothing_is_told() -> None:
    story = Story()
    assert look(story, 200, replace(GIVEN, done_at=NOW + 160)) == []


def test_a_rollout_that_was_on_its_way_when_a_fleet_came_has_not_waited() -> None:
    (told,) = look(begun(), 100, GIVEN)
    assert (told.outcome, told.waits_since, told.waited_s) == (TurnOutcome.HAS, None, None)


def test_without_a_fleet_nothing_is_told() -> None:
    story = Story()
    story.look(0, memory=AT_REST)
    story.look(10, memory=RolloutMemory(phase=RolloutPhase.PROGRESSING))
    assert turns_in(story.events) == []
