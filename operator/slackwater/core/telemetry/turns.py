"""A group's turn to move, and what held it back before: `turn` events.

A decision is told of when its memory has been written, so the record that it leaves in the status is what is told. How
long a group stood at which place in line is added up from look to look.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from slackwater.api.fleet_budgets import MoveReason
from slackwater.api.telemetry.bodies import Turn, TurnHeld
from slackwater.api.telemetry.events import TurnEvent
from slackwater.api.telemetry.words import EventType, TurnOutcome
from slackwater.core.telemetry.sight import Sight
from slackwater.core.world.turn import Stand, TurnRecord

TOLD_EVERY_S: Final = 3600.0
"""While a group waits: ten thousand that wait for a window are three events a second."""
MOST_HELD: Final = 16
"""Places in line that are told; a group stands at one at a time, and comes by few."""


@dataclass(frozen=True, slots=True)
class Told:
    """A turn that is not over."""

    id: str
    record: TurnRecord
    fleets: tuple[str, ...]
    waits_since: float | None
    """None: that is not known."""
    period: int = 0
    """Of TOLD_EVERY_S, in which it was told for the last time that the group waits."""
    stands_at: Stand | None = None
    """As of the last look."""
    looked_at: float = 0.0
    held: Mapping[Stand, float] = field(default_factory=dict)
    """In seconds."""


@dataclass(frozen=True, slots=True)
class Turns:
    watched: bool = False
    """There was a sight before."""
    told: Told | None = None


NONE_WATCHED: Final = Turns(watched=True)
"""One value for all groups without a turn."""


def follow_turns(turns: Turns, sight: Sight) -> tuple[Turns, tuple[TurnEvent, ...]]:
    """Fold one more sight in."""
    told, record = turns.told, sight.decided.memory.turn
    if told is None and (record is None or record.done_at is not None):
        return NONE_WATCHED, ()
    if told is None:
        assert record is not None
        return _first_told(sight, record, watched=turns.watched)
    before, told = told.record, _looked_at(told, sight)
    if record is not None and _is_same(before, record):
        return _goes_on(replace(told, record=record), sight, has_waited=before.asks)
    ended = _ended(told, sight, TurnOutcome.WITHDRAWN if before.asks else TurnOutcome.GAVE_WAY)
    following, events = follow_turns(NONE_WATCHED, sight)
    return following, (ended, *events)


def _first_told(sight: Sight, record: TurnRecord, *, watched: bool) -> tuple[Turns, tuple[TurnEvent, ...]]:
    told = Told(
        id=_id(sight, record),
        record=record,
        fleets=sight.world.turn.fleets,
        waits_since=_waits_since(sight, record, watched=watched),
        stands_at=sight.world.turn.stands_at,
        looked_at=sight.world.now,
    )
    outcome = TurnOutcome.WAITS if record.asks else TurnOutcome.HAS
    return Turns(watched=True, told=told), (_event(told, sight, outcome),)


def _goes_on(told: Told, sight: Sight, *, has_waited: bool) -> tuple[Turns, tuple[TurnEvent, ...]]:
    """`told`: with the newest record of the same turn. `has_waited`: by the one before."""
    record, now = told.record, sight.world.now
    if record.done_at is not None:
        outcome = TurnOutcome.DONE if record.given_at is not None else TurnOutcome.WITHDRAWN
        return NONE_WATCHED, (_ended(told, sight, outcome),)
    if record.is_held:
        return Turns(watched=True, told=told), (_event(told, sight, TurnOutcome.HAS),) if has_waited else ()
    period = int((now - (told.waits_since or record.asked_at)) // TOLD_EVERY_S)
    if period <= told.period:
        return Turns(watched=True, told=told), ()
    told = replace(told, period=period)
    return Turns(watched=True, told=told), (_event(told, sight, TurnOutcome.WAITS),)


def _is_same(known: TurnRecord, record: TurnRecord) -> bool:
    """One that was given, and waits again, has yielded once more."""
    return (round(known.asked_at, 3), known.yielded) == (round(record.asked_at, 3), record.yielded)


def _looked_at(told: Told, sight: Sight) -> Told:
    """Where it stood at the last look, it has stood until now."""
    now, held = sight.world.now, told.held
    if told.record.asks and told.stands_at is not None and now > told.looked_at:
        held = {**held, told.stands_at: held.get(told.stands_at, 0.0) + now - told.looked_at}
    fleets = sight.world.turn.fleets or told.fleets
    return replace(told, fleets=fleets, stands_at=sight.world.turn.stands_at, looked_at=now, held=held)


def _waits_since(sight: Sight, record: TurnRecord, *, watched: bool) -> float | None:
    if not record.asks and watched:
        return None  # it was on its way before any fleet selected it: it has not waited
    if watched:
        return sight.world.now
    asked_for_the_first_time = record.yielded == 0 and record.reason is not MoveReason.PROTOCOL_UPGRADE
    return record.asked_at if asked_for_the_first_time else None


def _id(sight: Sight, record: TurnRecord) -> str:
    """The steps of an upgrade ask with one moment, and each has a turn of its own."""
    upgrade = sight.decided.memory.upgrade
    return sight.fact_id("turn", round(record.asked_at, 3), record.yielded, 1 if upgrade is None else upgrade.step)


def _ended(told: Told, sight: Sight, outcome: TurnOutcome) -> TurnEvent:
    done_at = told.record.done_at
    return _event(told, sight, outcome, sight.world.now if done_at is None else done_at)


def _event(told: Told, sight: Sight, outcome: TurnOutcome, ended_at: float | None = None) -> TurnEvent:
    record, since = told.record, told.waits_since
    waited_until = next(at for at in (record.given_at, ended_at, sight.world.now) if at is not None)
    longest = sorted(told.held.items(), key=lambda each: (-each[1], str(each[0])))[:MOST_HELD]
    body = Turn(
        turn=told.id,
        reason=record.reason,
        outcome=outcome,
        fleets=told.fleets,
        campaign=record.campaign or None,
        asked_at=record.asked_at,
        waits_since=since,
        given_at=record.given_at,
        ended_at=ended_at,
        waited_s=None if since is None else max(0.0, waited_until - since),
        lasted_s=None if record.given_at is None or ended_at is None else max(0.0, ended_at - record.given_at),
        coordinator=record.coordinator,
        held_by=tuple(
            TurnHeld(by=stand.by, fleet=stand.fleet, name=stand.name, place=stand.place, held_s=seconds)
            for stand, seconds in longest
        ),
    )
    which = told.period if outcome is TurnOutcome.WAITS else record.given_at
    return TurnEvent(**sight.envelope("turn", told.id, outcome, which), type=EventType.TURN, turn=body)
