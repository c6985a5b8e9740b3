"""Fleets from which something else can come are kept apart."""

from __future__ import annotations

from dataclasses import replace

import pytest

from slackwater.core.world.memory import LastHolder, Release
from slackwater.core.world.sighting import MemberSighting
from tests.core.coordinator.canonical import key
from tests.core.coordinator.events import faults, natural
from tests.core.coordinator.exploring import settled_fleet
from tests.core.coordinator.fleet import Client, Fleet

ID = "payments-1"


def after(fleet: Fleet, *steps: str) -> Fleet:
    for step in steps:
        fleet = [found for event, found in (*faults(fleet), *natural(fleet)) if event == step][-1]
    return fleet


@pytest.fixture(scope="module", name="fleet")
def _fleet() -> Fleet:
    """Of KIP-848, at rest."""
    return replace(settled_fleet(Client(), "Consumer"), faults=1)


def seen(fleet: Fleet, **changes: object) -> Fleet:
    """The same, but for what was seen of one member."""
    sighting: MemberSighting = replace(fleet.history.members[ID], **changes)  # type: ignore[arg-type]
    return replace(fleet, history=replace(fleet.history, members={**fleet.history.members, ID: sighting}))


def test_a_member_that_was_cut_off_comes_back_as_itself_and_counts_from_then(fleet: Fleet) -> None:
    member_id, known = fleet.history.members[ID].member_id, fleet.memory.holders[ID]
    gone = after(fleet, "cut payments-1 off", "the operator looks")
    assert gone.memory.holders[ID] == known
    assert ID not in gone.history.members
    back = after(gone, "payments-1 joins again", "the operator looks")
    assert back.history.members[ID].member_id == member_id == back.memory.holders[ID].member_id
    assert back.memory.holders[ID].there_by > known.there_by
    assert back.pending is None


@pytest.mark.parametrize("later", [False, True])
def test_whether_a_member_was_absent_after_it_is_known_to_have_been_there(fleet: Fleet, later: bool) -> None:
    there_by = fleet.memory.holders[ID].there_by
    moved = there_by + 1 if later else there_by
    assert (key(seen(fleet, absent_at=moved)) == key(seen(fleet, absent_at=there_by - 1))) is not later


@pytest.mark.parametrize("later", [False, True])
def test_whether_a_member_was_absent_after_its_release(fleet: Fleet, later: bool) -> None:
    """Whatever is known of its holder."""
    member_id, released_at = fleet.history.members[ID].member_id, float(fleet.now)
    holders = {**fleet.memory.holders, ID: LastHolder(member_id, released_at + 9)}
    memory = replace(fleet.memory, holders=holders, released={ID: Release(member_id, released_at)})
    given = replace(fleet, memory=memory)
    moved = released_at + 1 if later else released_at
    assert (key(seen(given, absent_at=moved)) == key(seen(given, absent_at=released_at - 1))) is not later


def test_one_that_is_away_may_be_back_after_the_newest_look(fleet: Fleet) -> None:
    away = seen(fleet, away=True)
    looked_at = fleet.history.observed_at
    assert looked_at is not None
    released = {ID: Release(fleet.history.members[ID].member_id, looked_at)}
    now = replace(away, memory=replace(away.memory, released=released))
    before = replace(released[ID], released_at=looked_at - 1)
    assert key(now) != key(replace(now, memory=replace(now.memory, released={ID: before})))
