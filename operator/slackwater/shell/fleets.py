"""The allocator of this replica, while it leads: fed by the store and by passes, it wakes the groups that may begin.

Nothing in here waits: what a group's status says is counted before whoever wrote it goes on. What is written of it, and
listed again, is the business of `fleet_keeping`. Without a fleet nothing is counted, and nothing changes.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from math import inf

import structlog

from slackwater.adapters.cluster.paths import CONSUMER_FLEET, CONSUMER_GROUP
from slackwater.api.annotations import CAMPAIGN
from slackwater.api.errors import InvalidSpec
from slackwater.core.fleet.campaign import Order
from slackwater.core.fleet.claims import Fleet
from slackwater.core.fleet.facts import GroupFacts
from slackwater.core.fleet.kept import Kept
from slackwater.core.fleet.layers import Giver, Said
from slackwater.core.fleet.ledger import Ledger
from slackwater.core.fleet.sight import Sight, sight_of
from slackwater.core.fleet.times import Scope
from slackwater.core.world.memory import RolloutMemory
from slackwater.core.world.turn import ALWAYS_ASKS, Turn, TurnStanding
from slackwater.core.world.world import World
from slackwater.ports import Kind
from slackwater.shell.fleet_objects import Json, ReadFleet, facts_of, halts_in, read_fleet
from slackwater.shell.fleet_series import Begun, FleetSeries, counted
from slackwater.shell.memories import Memories
from slackwater.shell.orders import Orders, key_in
from slackwater.shell.store import Key, Store
from slackwater.shell.witnesses import Witness

_log = structlog.get_logger(__name__)


class Fleets(Witness):
    """One in a process. Before `begin` it knows nothing, and nobody asks."""

    def __init__(self, store: Store, wake: Callable[[Key], None], scope: Scope, now: Callable[[], float]) -> None:
        self.ledger = Ledger()
        self.memories = Memories()
        self.series: defaultdict[str, FleetSeries] = defaultdict(FleetSeries)
        """By fleet: what has happened since this process began."""
        self.changed = asyncio.Event()
        """Something is to be written, or is due sooner than it was."""
        self.dirty: set[str] = set()
        """Fleets whose status may say something else by now."""
        self.begun: list[Begun] = []
        """Turns that were given, and not yet said so."""
        self.orders = Orders()
        """Of campaigns."""
        self.without_gone: Callable[[Mapping[str, str]], Mapping[str, str]] = dict
        """A group's commands without those of campaigns that are gone."""
        self.noticed: Callable[[], None] = lambda: None
        """Called when something has changed that campaigns go by."""
        self._store = store
        self._wake = wake
        self._scope = scope
        self._now = now
        self._has_begun = False
        self._read: dict[str, ReadFleet] = {}
        self._commands: dict[str, dict[str, str]] = {}
        self._sights: dict[Key, Sight] = {}
        store.listener = self._told

    def begin(self) -> None:
        """The store has all that was listed after the lease was taken."""
        self._has_begun = True
        now, fleets = self._now(), []
        for key in self._store.keys(CONSUMER_FLEET):
            if (obj := self._store.get(CONSUMER_FLEET, key)) is not None:
                read = self._take_in(obj)
                gates = read.gates(self._scope, now)
                fleets.append(Kept(read.fleet.overridden(gates.is_overridden), gates, halts_in(obj)))
        if fleets:
            facts = self._facts_of(self._store.keys(CONSUMER_GROUP), [kept.fleet for kept in fleets])
            self._call(self.ledger.began(fleets, facts, now))
            self._obey()
            self._touch(each.fleet.key for each in fleets)

    def turn_of(self, key: Key, memory: RolloutMemory) -> Turn:
        """What its fleets say of a group now. `memory`: what its status remembers."""
        name = str(key)
        fleets = self.ledger.fleets_of(name)
        if not fleets:
            return Turn()
        standing = TurnStanding.WAITS
        if memory.turn is not None and memory.turn.is_held:
            standing = TurnStanding.HAS if self.ledger.may_go_on(name) else standing
        elif self.ledger.may_begin(name, self._now()):
            standing = TurnStanding.CALLED
        order = self.order_of(name)
        return Turn(standing, fleets, ALWAYS_ASKS | self.ledger.asks_for(name), "" if order is None else order.campaign)

    def may_write(self, key: Key, world: World, memory: RolloutMemory) -> bool:
        """Whether the turn that `memory` would give, if it does, is still to be had. It is kept for as long as nobody
        knows what became of the request."""
        had, has = world.memory.turn, memory.turn
        gives = has is not None and has.is_held and not (had is not None and had.is_held)
        if not gives or world.turn.standing is not TurnStanding.CALLED:
            return True
        now, name = self._now(), str(key)
        return self.ledger.may_begin(name, now) and self.ledger.allocator.keep_call(name, now)

    def sees(self, key: Key, world: World) -> None:
        if self._read:
            self.look(key, sight_of(world))

    def look(self, key: Key, sight: Sight) -> None:
        """What a pass has seen of a group."""
        if self._read and sight != self._sights.get(key):
            self._sights[key] = sight
            self._look_at(key, self._store.get(CONSUMER_GROUP, key))
            self.noticed()

    def forget(self, key: Key) -> None:
        self._sights.pop(key, None)
        self.memories.forget(key)

    def tick(self) -> None:
        """What time has changed."""
        now = self._now()
        for kept in self.ledger.fleets():
            if kept.due_at <= now:
                key = kept.fleet.key
                self._call(self.ledger.passed(key, self._read[key].gates(self._scope, now), now))
                self._touch([key])
        self._call(self.ledger.ticked(now))
        for name in self.ledger.allocator.taken_lapses():
            facts = self.ledger.facts(name)
            for fleet in self.ledger.fleets_of(name):
                self.series[fleet].count("lapsed", facts)
            self._touch(self.ledger.fleets_of(name))

    def wakes_at(self) -> float:
        """When `tick` has something to do; infinite where nothing is due."""
        due = (self.ledger.allocator.wakes_at(), self.ledger.allocator.relist_at)
        return min([*(kept.due_at for kept in self.ledger.fleets()), *(at for at in due if at is not None), inf])

    def givers_of(self, group: str) -> tuple[Giver, ...]:
        """Fleets that select the group and say something of its defaults."""
        found = (self._read[fleet].giver for fleet in self.ledger.fleets_of(group))
        return tuple(giver for giver in found if giver is not None)

    def names_in(self, fleet: str) -> tuple[str, ...]:
        """The groups that it selects."""
        kept = self.ledger.kept(fleet)
        return () if kept is None else kept.tally.names

    def says(self, fleet: str) -> Said:
        """What it says of its groups' defaults."""
        read = self._read.get(fleet)
        return {} if read is None or read.giver is None else read.giver.says

    @property
    def living(self) -> frozenset[str]:
        """Fleets that are there, and can be read: what one has given stays while a slip makes it unreadable."""
        return frozenset(name for name, read in self._read.items() if read.unread is None)

    def order_of(self, group: str) -> Order | None:
        """What a campaign orders of the group, once that is called."""
        return self.orders.by_group.get(group)

    def ordered(self, orders: Orders) -> None:
        """What campaigns say from now on."""
        concerned = self.orders.differing(orders) | orders.settling(self.ledger).keys()
        is_as_before, self.orders = not concerned and self.orders.limits == orders.limits, orders
        if is_as_before or not self._read:
            return
        facts = self._facts_of(map(key_in, sorted(concerned)), [kept.fleet for kept in self.ledger.fleets()])
        self._call(self.ledger.ordered(orders.limits, facts, self._now()))
        self._touch(fleet for group in concerned for fleet in self.ledger.fleets_of(group))

    def relisted(self) -> None:
        """The store has all groups as they were listed at `relist_at` or later."""
        facts = self._facts_of(self._store.keys(CONSUMER_GROUP), [kept.fleet for kept in self.ledger.fleets()])
        self._call(self.ledger.relisted(facts, self._now()))

    def commands(self, key: str) -> dict[str, str]:
        """The tokens that were obeyed last."""
        return self._commands.get(key, {})

    def _told(self, kind: Kind, key: Key, obj: Json | None) -> None:
        """The store's word, in which a status that was just written is counted."""
        if not self._has_begun:
            return
        if kind is CONSUMER_FLEET:
            self._fleet_is(key, obj)
        elif kind is CONSUMER_GROUP and self._read:
            self._look_at(key, obj)
        self.noticed()

    def _fleet_is(self, key: Key, obj: Json | None) -> None:
        name, now = str(key), self._now()
        before = self._read.get(name)
        if before is not None and (obj is None or before.version[0] != obj["metadata"]["uid"]):
            self._remove(name)
            before = None
        if obj is None:
            return
        read = self._take_in(obj)
        if before is not None and before.version == read.version:
            return
        gates = read.gates(self._scope, now)
        if len(self._read) == 1 and before is None:  # the first one: nobody has been counted so far
            for facts in self._facts_of(self._store.keys(CONSUMER_GROUP), [read.fleet]):
                self.ledger.changed(facts, now)
        selected = set(self.names_in(name))
        called = self.ledger.put(read.fleet.overridden(gates.is_overridden), now, gates, halts_in(obj))
        self._call((*called, *sorted(selected ^ set(self.names_in(name)))))
        self._settle({*selected, *self.names_in(name)})
        self._obey()
        self._touch([name])

    def _remove(self, name: str) -> None:
        del self._read[name]
        self._commands.pop(name, None)
        self.series.pop(name, None)
        self.dirty.discard(name)
        selected, waited = set(self.names_in(name)), self.ledger.waiting_in(name)
        called = self.ledger.remove(name, self._now())
        _log.info("fleet_gone", fleet=name, waited=waited)
        if not self._read:
            self.ledger = Ledger()
            self._sights.clear()  # nobody looks while there is no fleet
        self._call((*called, *sorted(selected)))
        self._settle(selected if self._read else ())

    def _settle(self, groups: Iterable[str]) -> None:
        """For how long those who are done count yet follows from what their fleets say by now."""
        facts = self._facts_of(map(key_in, groups), [kept.fleet for kept in self.ledger.fleets()])
        self._call(self.ledger.all_changed(facts, self._now()))

    def _take_in(self, obj: Json) -> ReadFleet:
        read = read_fleet(obj, self._scope.own)
        name = read.fleet.key
        self._read[name] = read
        if name not in self._commands:
            self._commands[name] = dict((obj.get("status") or {}).get("commands") or {})
        return read

    def _obey(self) -> None:
        """Commands by annotation, each token once."""
        for name, read in self._read.items():
            if read.resume and self._commands[name].get("resume") != read.resume:
                self._commands[name]["resume"] = read.resume
                self._call(self.ledger.resume(name, self._now()))

    def _look_at(self, key: Key, obj: Json | None) -> None:
        name, now = str(key), self._now()
        before, concerned = self.ledger.facts(name), self.ledger.fleets_of(name)
        if obj is None:
            self._call(self.ledger.gone(name, now))
            self._touch(concerned)
            return
        facts = self._facts(key, obj, [kept.fleet for kept in self.ledger.fleets()])
        if facts is None or facts == before:
            return
        let_through = self.ledger.let_through(name)
        called = self.ledger.changed(facts, now)
        fleets = self.ledger.fleets_of(name)
        if bool(fleets) is not bool(concerned):
            called = (*called, name)
        if before is not None:
            begun = counted(self.series, fleets, (before, facts), let_through, now)
            self.begun += [] if begun is None else [begun]
        self._call(called)
        self._touch({*concerned, *fleets})

    def _facts_of(self, keys: Iterable[Key], fleets: Sequence[Fleet]) -> list[GroupFacts]:
        found = ((key, self._store.get(CONSUMER_GROUP, key)) for key in keys)
        facts = (self._facts(key, obj, fleets) for key, obj in found if obj is not None)
        return [each for each in facts if each is not None]

    def _facts(self, key: Key, obj: Json, fleets: Sequence[Fleet]) -> GroupFacts | None:
        """None where its status cannot be read: nothing is done to such a group, and what was known of it stands."""
        try:
            memory = self.memories.of(key, obj)
        except InvalidSpec:
            return None
        facts = facts_of(obj, memory, self._sights.get(key, Sight()), fleets, self._now())
        return self.orders.applied(facts, waits=CAMPAIGN in (obj["metadata"].get("annotations") or {}))

    def _call(self, groups: Iterable[str]) -> None:
        for name in groups:
            self._wake(key_in(name))
            self._touch(self.ledger.fleets_of(name))
            self.changed.set()

    def _touch(self, fleets: Iterable[str]) -> None:
        new = {*fleets} - self.dirty
        if new:
            self.dirty |= new
            self.changed.set()
