"""Fleets that select many groups: a few are taken up in a turn of the event loop, and nothing begins before all are."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from typing import Any, Final

import pytest

from slackwater.adapters.cluster.paths import CONSUMER_FLEET, CONSUMER_GROUP
from slackwater.core.fleet.claim import Cell, Limit
from slackwater.core.world.turn import TurnStanding
from slackwater.shell.known_groups import KnownGroups
from slackwater.shell.orders import Orders
from slackwater.shell.store import Key
from slackwater.shell.taking_in import AT_ONCE
from tests.shell.campaign_stage import CampaignStage
from tests.shell.fakes import KEY, fleet_object
from tests.shell.fleet_stage import CALM, FleetStage

CALLED, HAS, WAITS, NO_FLEET = TurnStanding.CALLED, TurnStanding.HAS, TurnStanding.WAITS, TurnStanding.NO_FLEET
NAMES: Final = tuple(f"g{number:03}" for number in range(3 * AT_ONCE))
ANY: Final[dict[str, Any]] = {"halt": {"failures": "100%", "disturbed": "100%"}}


async def asking(*, moves: str = "", fleet: dict[str, Any] | None = None) -> FleetStage:
    """So many groups ask, all of them looked at, of which one has its turn."""
    found = FleetStage()
    if fleet is not None:
        found.fleet(**fleet)
    for name in NAMES:
        given: dict[str, Any] = {"givenAt": found.now} if name == moves else {}
        found.writes(name, **given)
    await found.begin()
    for name in NAMES:
        found.fleets.look(Key(KEY.namespace, name), CALM)
    await settled(found)
    return found


async def settled(found: FleetStage) -> None:
    await asyncio.sleep(0)
    while found.fleets.is_behind:
        await found.fleets.tick_in_turns()


def standings(found: FleetStage, *names: str) -> set[TurnStanding]:
    return {found.standing(name) for name in names or NAMES}


@contextmanager
def work(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """The groups that were read for fleets, in order."""
    seen: list[str] = []
    facts = KnownGroups.facts

    def counted(self: KnownGroups, key: Key, *given: Any) -> Any:
        seen.append(key.name)
        return facts(self, key, *given)

    with monkeypatch.context() as patched:
        patched.setattr(KnownGroups, "facts", counted)
        yield seen


async def by_turn(seen: list[str], done: asyncio.Task[Any], found: FleetStage) -> list[int]:
    """How many groups were read in each turn of the event loop, until nothing is left to be done."""
    counts = [len(seen)]
    while not done.done() or found.fleets.is_behind:
        await asyncio.sleep(0)
        counts.append(len(seen))
    return [after - before for before, after in pairwise(counts)]


@contextmanager
def keeping_time(found: FleetStage) -> Iterator[None]:
    task = asyncio.create_task(found.keeping.keep_time())
    try:
        yield
    finally:
        task.cancel()


async def changes(found: FleetStage, what: str) -> None:
    if what == "one comes":
        found.fleet(**ANY)
    elif what == "one changes":
        found.fleet(**ANY, budgets=[{"name": "all", "max": 3}])
    elif what == "one goes":
        found.delete(CONSUMER_FLEET, "fleet")
    else:
        found.fleets.ordered(Orders(let_go={f"{KEY.namespace}/{name}": "1" for name in NAMES}), {})


@pytest.mark.parametrize("what", ["one comes", "one changes", "one goes", "orders"])
async def test_a_few_groups_are_taken_up_in_a_turn_of_the_event_loop(
    what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = await asking(fleet=None if what == "one comes" else ANY)
    found._put(CONSUMER_FLEET, fleet_object(found.api.version, name="other", selector={"matchLabels": {"a": "b"}}))
    await settled(found)
    with keeping_time(found), work(monkeypatch) as seen:
        counts = await by_turn(seen, asyncio.create_task(changes(found, what)), found)
    assert {*seen} == {*NAMES}
    assert len(seen) == len(NAMES)
    assert max(counts) <= AT_ONCE


async def test_forty_fleets_that_come_at_once_take_up_each_group_a_few_times_and_few_in_a_turn(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = await asking()

    async def all_come() -> None:
        for number in range(40):
            found._put(CONSUMER_FLEET, fleet_object(found.api.version, name=f"f{number}", **ANY))

    found.fleets.known.places.most = 100
    with keeping_time(found), work(monkeypatch) as seen:
        counts = await by_turn(seen, asyncio.create_task(all_come()), found)
    assert max(counts) <= AT_ONCE
    assert len(seen) <= 2 * len(NAMES)


async def test_small_fleets_that_come_at_once_share_a_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    found = await asking()
    some = {"matchLabels": {"tier": "0"}}
    for name in NAMES[:10]:
        obj = found.api.objects["ConsumerGroup", KEY.namespace, name]
        found._put(CONSUMER_GROUP, {**obj, "metadata": {**obj["metadata"], "labels": {"tier": "0"}}})
    found._put(CONSUMER_FLEET, fleet_object(found.api.version, name="first", selector={"matchLabels": {"a": "b"}}))
    await settled(found)

    async def all_come() -> None:
        for number in range(15):
            obj = fleet_object(found.api.version, name=f"f{number}", selector=some, **ANY)
            found._put(CONSUMER_FLEET, obj)

    with keeping_time(found), work(monkeypatch) as seen:
        counts = await by_turn(seen, asyncio.create_task(all_come()), found)
    assert counts[0] == AT_ONCE
    assert max(counts) <= AT_ONCE
    assert {*seen} == {*NAMES[:10]}


@pytest.mark.parametrize("by_steps", [0, 1, 2])
async def test_nothing_that_a_fleet_selects_begins_until_all_of_it_is_taken_up(by_steps: int) -> None:
    found = await asking()
    assert standings(found) == {NO_FLEET}
    found.fleet(**ANY)
    steps = found.fleets.ticking()
    for _ in range(by_steps):
        next(steps)
    assert found.fleets.is_behind
    assert standings(found, NAMES[0], NAMES[-1]) == {WAITS}
    found.woken.clear()
    await settled(found)
    assert standings(found) == {CALLED}
    assert {NAMES[0], NAMES[-1]} <= {*found.woken}, "who asked meanwhile is looked at again"


async def test_who_moves_counts_before_anybody_is_called() -> None:
    found = await asking(moves=NAMES[-1], fleet=ANY)
    found.fleet(**ANY, budgets=[{"name": "all", "max": 1}])
    assert found.standing(NAMES[0]) is WAITS
    await settled(found)
    assert standings(found, *NAMES[:-1]) == {WAITS}
    assert found.standing(NAMES[-1]) is HAS


async def test_who_moves_in_a_wave_has_room_there_before_anybody_else_is_called() -> None:
    found = await asking(moves=NAMES[-1], fleet=ANY)
    cell, names = Cell("campaign/team-a/restart", "canary"), [f"{KEY.namespace}/{name}" for name in NAMES]
    found.fleets.ordered(Orders(cells={name: frozenset({cell}) for name in names}, limits={cell: Limit(number=1)}), {})
    assert found.fleets.is_behind
    assert found.standing(NAMES[0]) is WAITS


async def test_a_fleet_that_narrows_stops_at_once_and_what_it_lets_go_on_goes_on() -> None:
    found = await asking(moves=NAMES[-1], fleet=ANY)
    found.fleet(**ANY, budgets=[{"name": "all", "max": 9}])
    assert found.fleets.is_behind
    assert found.standing(NAMES[-1]) is HAS, "it goes on while the fleet is taken in"
    found.fleet(**ANY, pause="an incident", windows=[])
    assert standings(found, NAMES[0], NAMES[-1]) == {WAITS}
    assert found.fleets.is_behind


async def test_a_call_that_was_out_is_not_written_while_the_fleet_is_taken_in() -> None:
    found = await asking(fleet=ANY)
    assert found.standing(NAMES[0]) is CALLED
    found.fleet(**ANY, freezes=[])
    assert not found.fleets._may_begin(f"{KEY.namespace}/{NAMES[0]}")
    assert found.standing(NAMES[0]) is WAITS
    found.woken.clear()
    await settled(found)
    assert found.woken.count(NAMES[0]) == 1
    assert found.standing(NAMES[0]) is CALLED


async def test_another_leader_in_the_middle_knows_all() -> None:
    found = await asking(fleet=ANY)
    found.fleet(**ANY, budgets=[{"name": "all", "max": 1}])
    next(found.fleets.ticking())
    assert found.fleets.is_behind
    found.lead()
    await found.begin()
    await settled(found)
    assert [found.standing(name) for name in NAMES].count(CALLED) == 1


@pytest.mark.parametrize("what", ["changes again", "goes"])
async def test_a_fleet_that_is_overtaken_leaves_nothing_behind(what: str) -> None:
    found = await asking(fleet=ANY)
    found.fleet(**ANY, budgets=[{"name": "all", "max": 1}])
    next(found.fleets.ticking())
    if what == "goes":
        found.delete(CONSUMER_FLEET, "fleet")
    else:
        found.fleet(**ANY)
    await settled(found)
    assert standings(found) == {NO_FLEET if what == "goes" else CALLED}
    assert (found.fleets._coming, found.fleets._to_take_up) == ({}, {})


async def test_a_group_that_changes_or_goes_meanwhile_is_as_it_is_by_then() -> None:
    found = await asking()
    found.fleet(**ANY, budgets=[{"name": "all", "max": 1}])
    next(found.fleets.ticking())
    for name in NAMES[:2]:
        found.is_given(name)
    found.delete(CONSUMER_GROUP, NAMES[-1])
    await settled(found)
    assert standings(found, *NAMES[2:-1]) == {WAITS}
    kept = found.fleets.ledger.kept(f"{KEY.namespace}/fleet")
    assert kept is not None
    assert len(kept.tally) == len(NAMES) - 1


async def test_its_status_is_written_when_all_are_counted() -> None:
    found = await asking(fleet=ANY)
    await found.keeping.keep_once()
    found.now += 60.0
    found.fleet(**ANY, budgets=[{"name": "all", "max": 1}])
    next(found.fleets.ticking())
    before = dict(found.status)
    await found.keeping._write()
    assert found.status == before
    await found.keeping.keep_once()
    assert found.status["observedGeneration"] > before["observedGeneration"]
    assert found.status["groups"]["selected"] == len(NAMES)


async def test_a_new_leader_counts_a_few_at_a_time_and_then_what_came_meanwhile(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = await asking(fleet=ANY)
    found.lead()
    await found.list_all()
    with work(monkeypatch) as seen:
        begins = asyncio.create_task(found.fleets.begin_in_turns())
        counts = [0]
        while len(seen) < len(NAMES) // 2:
            before = len(seen)
            await asyncio.sleep(0)
            counts.append(len(seen) - before)
        found._put(CONSUMER_FLEET, fleet_object(found.api.version, name="other", budgets=[{"name": "all", "max": 1}]))
        found.delete(CONSUMER_GROUP, NAMES[-1])
        found.is_given(NAMES[0])
        await begins
        with keeping_time(found):
            counts += await by_turn(seen, begins, found)
    assert max(counts) <= AT_ONCE
    await settled(found)
    for name in NAMES[:-1]:
        found.fleets.look(Key(KEY.namespace, name), CALM)
    assert standings(found, *NAMES[1:-1]) == {WAITS}
    assert found.fleets.ledger.facts(f"{KEY.namespace}/{NAMES[-1]}") is None


async def test_what_is_listed_once_more_is_taken_up_a_few_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    found = FleetStage()
    found.fleet(**ANY, budgets=[{"name": "all", "max": 1}])
    for name in NAMES:
        found.writes(name, givenAt=found.now)
    await found.begin()
    found.now += 80.0
    with work(monkeypatch) as seen:
        counts = await by_turn(seen, asyncio.create_task(found.keeping.keep_once()), found)
    assert {*seen} == {*NAMES}
    assert max(counts) <= AT_ONCE
    assert found.fleets.ledger.allocator.relist_at is None


async def test_a_campaign_is_not_folded_over_a_fleet_whose_groups_are_not_all_known() -> None:
    """It would be over for want of groups."""
    found = CampaignStage()
    await found.begin()
    for name in NAMES:
        found.sees(name)
        found.writes(name, "Complete", doneAt=found.now, givenAt=found.now)
    found.fleet(**ANY)
    found.campaign()
    assert found.fleets.is_behind
    assert found.campaigns.fold() == ()
    await settled(found)
    [folded] = found.campaigns.fold()
    assert len(folded.participants) == len(NAMES)
