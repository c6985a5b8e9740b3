"""Many ConsumerFleets of one namespace: the oldest count, no other namespace notices, and all else has its turn."""

from __future__ import annotations

import asyncio
from typing import Any, Final

import pytest

from slackwater.adapters.cluster.paths import CONSUMER_FLEET, CONSUMER_GROUP
from slackwater.core.world.turn import TurnStanding
from slackwater.shell.fleet_keeping import FleetKeeping
from slackwater.shell.fleet_objects import ReadFleet
from slackwater.shell.fleet_places import in_turns
from slackwater.shell.listing import take_in
from slackwater.shell.store import Key
from tests.shell.fakes import KEY, fleet_object, group_object
from tests.shell.fleet_stage import CALM, FleetStage

CALLED, WAITS, NO_FLEET = TurnStanding.CALLED, TurnStanding.WAITS, TurnStanding.NO_FLEET
MOST: Final = 3
EVERY_MINUTE: Final = {"schedule": "* * * * *", "duration": "30s"}


class Stage(FleetStage):
    """Of whose fleets three of each namespace count."""

    def lead(self) -> None:
        super().lead()
        self.fleets.known.places.most = MOST

    def named(self, name: str, namespace: str = KEY.namespace, *, made: int = 0, **spec: Any) -> None:
        obj = fleet_object(self.api.version, name=name, namespace=namespace, **spec)
        obj["metadata"] |= {"creationTimestamp": f"2026-01-01T00:00:{made:02}Z", "uid": f"{namespace}-{name}"}
        self._put(CONSUMER_FLEET, obj)

    def group(self, name: str, namespace: str, phase: str = "Progressing") -> None:
        """It asks."""
        self.fleets.look(Key(namespace, name), CALM)
        obj = group_object(name=name)
        obj["metadata"] |= {"namespace": namespace, "uid": f"{namespace}-{name}"}
        turn = {"reason": "Rollout", "askedAt": "1970-01-12T13:46:40Z"}
        self._put(CONSUMER_GROUP, obj | {"status": {"rollout": {"phase": phase, "turn": turn}}})
        self.fleets.look(Key(namespace, name), CALM)

    def stands(self, name: str, namespace: str) -> TurnStanding:
        key = Key(namespace, name)
        obj = self.store.get(CONSUMER_GROUP, key)
        assert obj is not None
        return self.fleets.turn_of(key, self.fleets.memories.of(key, obj)).standing

    def accepted(self, name: str, namespace: str = KEY.namespace) -> tuple[str, str]:
        status = self.api.objects["ConsumerFleet", namespace, name]["status"]
        found = next(each for each in status["conditions"] if each["type"] == "Accepted")
        return found["status"], found["reason"]

    def remove(self, name: str, namespace: str = KEY.namespace) -> None:
        self.store.drop(CONSUMER_FLEET, self.api.objects.pop(("ConsumerFleet", namespace, name)))


async def crowd(number: int = 2 * MOST) -> Stage:
    """So many fleets of one tenant, of which each selects nobody but the first; and a neighbour's."""
    found = Stage()
    for age in range(number):
        found.named(f"f{age:02}", "evil", made=age, selector={"matchLabels": {"a": "b"}} if age else {})
    found.named("fleet", "good")
    await found.begin()
    for name in ("evil", "good"):
        found.group("first", name)
    return found


async def test_nothing_begins_where_there_are_more_than_count_and_no_other_namespace_notices() -> None:
    found = await crowd()
    assert (found.stands("first", "evil"), found.stands("first", "good")) == (WAITS, CALLED)
    await found.keeping.keep_once()
    oldest = [found.accepted(f"f{age:02}", "evil") for age in range(2 * MOST)]
    assert oldest == [("True", "Accepted")] * MOST + [("False", "TooManyFleets")] * MOST
    assert found.accepted("fleet", "good") == ("True", "Accepted")


@pytest.mark.parametrize("after", ["the first list", "a restart"])
async def test_the_next_one_counts_as_soon_as_one_is_gone(after: str) -> None:
    found = await crowd(MOST + 2)
    if after == "a restart":
        found.lead()
        await found.begin()
        found.group("first", "evil")
    found.remove("f01", "evil")
    assert found.stands("first", "evil") is WAITS
    found.remove("f04", "evil")
    assert found.stands("first", "evil") is CALLED
    found.now += 60.0
    await found.keeping.keep_once()
    assert [found.accepted(f"f{age:02}", "evil")[1] for age in (0, 2, 3)] == ["Accepted"] * 3


async def test_one_that_comes_later_is_over_and_one_that_was_made_earlier_is_not() -> None:
    found = await crowd(MOST)
    assert found.stands("first", "evil") is CALLED
    found.named("a", "evil", made=30)
    assert found.stands("first", "evil") is WAITS
    await found.keeping.keep_once()
    assert found.accepted("a", "evil") == ("False", "TooManyFleets")
    found.remove("a", "evil")
    assert found.stands("first", "evil") is CALLED


async def test_of_those_that_are_over_one_is_asked_of_a_group() -> None:
    found = await crowd(100)
    assert len(found.fleets.ledger.fleets()) == MOST + 1 + 1
    assert len(found.fleets.known) == MOST + 1 + 1


async def test_what_was_obeyed_of_one_that_is_over_stays_written() -> None:
    found = await crowd(MOST + 2)
    obj = found.api.objects["ConsumerFleet", "evil", "f04"]
    found._put(CONSUMER_FLEET, {**obj, "status": {"commands": {"resume": "1"}, "resumedAt": "2026-01-01T00:00:00Z"}})
    found.now += 60.0
    await found.keeping.keep_once()
    status = found.api.objects["ConsumerFleet", "evil", "f04"]["status"]
    assert (status["commands"], status["resumedAt"]) == ({"resume": "1"}, "2026-01-01T00:00:00Z")


async def test_in_the_operators_own_namespace_all_count() -> None:
    found = Stage()
    for age in range(2 * MOST):
        found.named(f"f{age}", found.scope.own, made=age, namespaces=["*"])
    await found.begin()
    found.group("first", "good")
    assert found.stands("first", "good") is CALLED
    await found.keeping.keep_once()
    assert {found.accepted(f"f{age}", found.scope.own) for age in range(2 * MOST)} == {("True", "Accepted")}


def looks(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Whose calendar was looked at."""
    seen: list[str] = []
    gates = ReadFleet.gates

    def counted(self: ReadFleet, *given: Any) -> Any:
        seen.append(self.fleet.key)
        return gates(self, *given)

    monkeypatch.setattr(ReadFleet, "gates", counted)
    return seen


async def busy(number: int = MOST) -> Stage:
    """Each opens every minute; the neighbour's, too."""
    found = Stage()
    for age in range(number):
        found.named(f"f{age}", "evil", made=age, timeZone="UTC", windows=[{"name": "w", **EVERY_MINUTE, "fit": False}])
    found.named("fleet", "good", timeZone="UTC", windows=[{"name": "w", **EVERY_MINUTE, "fit": False}])
    await found.begin()
    return found


async def test_the_clock_looks_at_one_fleet_at_a_time_and_namespaces_take_turns(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = await busy()
    found.now += 60.0
    seen = looks(monkeypatch)
    assert [len(seen) for _ in found.fleets.ticking()] == [1, 2, 3, 4]
    assert seen[:2] == ["evil/f0", "good/fleet"]
    assert found.fleets.ticks_at() > found.now


@pytest.mark.parametrize("part", ["keep_time", "keep_once"])
async def test_all_else_has_its_turn_between_two_looks(part: str, monkeypatch: pytest.MonkeyPatch) -> None:
    found = await busy()
    found.now += 60.0
    seen, between = looks(monkeypatch), set[int]()
    keeping: FleetKeeping = found.keeping
    task = asyncio.create_task(getattr(keeping, part)())
    for _ in range(20):
        between.add(len(seen))
        await asyncio.sleep(0)
    task.cancel()
    assert {1, 2, 3, 4} <= between


async def test_a_group_waits_for_a_look_at_each_of_its_fleets_that_is_due_and_is_called_then() -> None:
    """A freeze may have begun."""
    found = await busy()
    found.now += 80.0  # 13:48:00, where all of them are open
    found.fleets.tick()
    found.group("first", "evil")
    found.woken.clear()
    found.now += 60.0
    assert found.stands("first", "evil") is WAITS
    found.fleets.tick()
    assert found.woken == ["first"]
    assert found.stands("first", "evil") is CALLED


async def test_one_fleet_that_is_due_is_looked_at_before_its_group_begins(monkeypatch: pytest.MonkeyPatch) -> None:
    found = await busy(1)
    found.now += 80.0
    found.fleets.tick()
    found.group("first", "evil")
    seen = looks(monkeypatch)
    found.now += 30.0
    assert found.stands("first", "evil") is WAITS, "the window has closed"
    assert seen == ["evil/f0"]


async def test_the_first_list_looks_at_one_fleet_at_a_time_and_the_beginning_at_none(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = await busy()
    seen, between = looks(monkeypatch), set[int]()
    found.lead()

    async def all_else() -> None:
        while True:
            between.add(len(seen))
            await asyncio.sleep(0)

    other = asyncio.create_task(all_else())
    listed, version = await found.api.list_all(CONSUMER_FLEET, None)
    await take_in(found.store, CONSUMER_FLEET, listed, version)
    other.cancel()
    assert {1, 2, 3, 4} <= between
    found.now += 60.0
    found.fleets.begin()
    assert len(seen) == 4
    assert found.fleets.ticks_at() <= found.now, "what has passed since is due"


async def test_a_list_that_comes_youngest_first_looks_at_no_more_than_count(monkeypatch: pytest.MonkeyPatch) -> None:
    found = Stage()
    for age in range(10 * MOST):
        found.named(f"f{99 - age}", "evil", made=age)
    seen = looks(monkeypatch)
    found.lead()
    listed, version = await found.api.list_all(CONSUMER_FLEET, None)
    await take_in(found.store, CONSUMER_FLEET, sorted(listed, key=lambda obj: str(obj["metadata"]["name"])), version)
    found.fleets.begin()
    assert len(seen) == MOST + 1


def test_turns() -> None:
    assert in_turns(["a/1", "a/2", "a/3", "b/1", "c/1", "c/2"]) == ("a/1", "b/1", "c/1", "a/2", "c/2", "a/3")
