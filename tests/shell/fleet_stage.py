"""Fleets over a cluster in memory: groups as their statuses say, a clock that a test moves, and who was woken."""

from __future__ import annotations

from typing import Any

from slackwater.adapters.cluster.paths import CONSUMER_FLEET, CONSUMER_GROUP
from slackwater.api.annotations import RESUME
from slackwater.api.timestamps import timestamp
from slackwater.core.fleet.sight import Sight
from slackwater.core.fleet.times import Scope
from slackwater.core.world.turn import Stand, Turn, TurnStanding
from slackwater.shell.fleet_keeping import FleetKeeping
from slackwater.shell.fleets import Fleets
from slackwater.shell.store import Key, Store
from tests.shell.fakes import KEY, FakeApi, fleet_object, group_object

CALM = Sight("lkc-7f", 1, disturbed=False)
START = 1_000_000.0


class FleetStage:
    """One leader. Whatever groups write stands in the API server, and comes to the store as an answer does."""

    def __init__(self, api: FakeApi | None = None, scope: Scope | None = None, now: float = START) -> None:
        self.api = api or FakeApi()
        self.now = now
        self.scope = scope or Scope("operations")
        self.lead()

    def lead(self) -> None:
        """Another process takes the lease, and lists everything."""
        self.woken: list[str] = []
        self.store = Store(lambda: self.now)
        self.fleets = Fleets(self.store, lambda key: self.woken.append(key.name), self.scope, lambda: self.now)
        api: Any = self.api
        self.keeping = FleetKeeping(api, self.store, self.fleets, self.list_all, lambda: self.now)

    async def list_all(self) -> None:
        for kind in (CONSUMER_FLEET, CONSUMER_GROUP):
            listed, version = await self.api.list_all(kind, None)
            self.store.replace(kind, listed, version)

    async def begin(self) -> None:
        await self.list_all()
        self.fleets.begin()
        for key in self.store.keys(CONSUMER_GROUP):
            self.sees(key.name)
        self.woken.clear()

    def sees(self, name: str, sight: Sight = CALM) -> None:
        """A pass has looked at the group."""
        self.fleets.look(Key(KEY.namespace, name), sight)

    def fleet(self, **spec: Any) -> dict[str, Any]:
        """Somebody applies it."""
        obj = fleet_object(self.api.version, **spec)
        there = self.api.objects.get(("ConsumerFleet", obj["metadata"]["namespace"], obj["metadata"]["name"]), {})
        return self._put(CONSUMER_FLEET, obj | {part: there[part] for part in ("status",) if part in there})

    def resume(self, token: str) -> None:
        obj = self.api.objects["ConsumerFleet", KEY.namespace, "fleet"]
        self._put(CONSUMER_FLEET, {**obj, "metadata": {**obj["metadata"], "annotations": {RESUME: token}}})

    def delete(self, kind: Any, name: str) -> None:
        self.store.drop(kind, self.api.objects.pop((kind.name, KEY.namespace, name)))

    def writes(self, name: str, phase: str = "Progressing", asked_at: float | None = None, **turn: Any) -> None:
        """The group's status says so, by a write of this leader."""
        asks = {"reason": "Rollout", "askedAt": timestamp(asked_at or self.now), **turn}
        for moment in ("givenAt", "doneAt"):
            if isinstance(asks.get(moment), float):
                asks[moment] = timestamp(asks[moment])
        there = self.api.objects.get(("ConsumerGroup", KEY.namespace, name), {})
        known = there.get("status", {}).get("rollout", {})
        kept = {part: known[part] for part in ("took",) if part in known}
        rollout = {"phase": phase, "turn": asks, **kept}
        self._put(CONSUMER_GROUP, group_object(name=name) | {"status": {"rollout": rollout}})

    def asks(self, *names: str) -> None:
        """A group that was looked at before, as any that is at rest."""
        for name in names:
            self.sees(name)
            self.writes(name)
            self.sees(name)

    def is_given(self, name: str) -> None:
        asked_at = self.store.get(CONSUMER_GROUP, Key(KEY.namespace, name))
        assert asked_at is not None
        at = asked_at["status"]["rollout"]["turn"]["askedAt"]
        self.writes(name, givenAt=self.now, askedAt=at)

    def is_done(self, name: str, phase: str = "Complete") -> None:
        self.writes(name, phase, givenAt=self.now, doneAt=self.now)

    def standing(self, name: str) -> TurnStanding:
        return self._turn(name).standing

    def stands_at(self, name: str) -> Stand | None:
        return self._turn(name).stands_at

    def _turn(self, name: str) -> Turn:
        key = Key(KEY.namespace, name)
        obj = self.store.get(CONSUMER_GROUP, key)
        assert obj is not None
        return self.fleets.turn_of(key, self.fleets.memories.of(key, obj))

    def passes(self, seconds: float) -> None:
        self.now += seconds
        self.fleets.tick()

    @property
    def status(self) -> dict[str, Any]:
        found: dict[str, Any] = self.api.objects["ConsumerFleet", KEY.namespace, "fleet"].get("status", {})
        return found

    def condition(self, kind: str) -> tuple[str, str]:
        found = next(each for each in self.status["conditions"] if each["type"] == kind)
        return found["status"], found["reason"]

    def events(self) -> list[str]:
        return [event["reason"] for event in self.api.events]

    def _put(self, kind: Any, obj: dict[str, Any]) -> dict[str, Any]:
        stored = self.api._store(kind, obj)
        self.store.put(kind, stored)
        return stored
