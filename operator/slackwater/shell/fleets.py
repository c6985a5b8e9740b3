"""The allocator of this replica, while it leads: fed by the store and by passes, it wakes the groups that may begin.

Nothing in here waits: what a group's status says is counted before whoever wrote it goes on. What is written of it, and
listed again, is the business of `fleet_keeping`. Without a fleet nothing is counted, and nothing changes.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Iterator, Mapping

import structlog

from slackwater.adapters.cluster.paths import CONSUMER_FLEET, CONSUMER_GROUP
from slackwater.core.fleet.halts import Halts
from slackwater.core.fleet.layers import Giver
from slackwater.core.fleet.ledger import Ledger
from slackwater.core.fleet.sight import Sight, sight_of
from slackwater.core.fleet.stands import stand_at
from slackwater.core.fleet.timers import Elapsed
from slackwater.core.fleet.times import Scope
from slackwater.core.world.memory import RolloutMemory
from slackwater.core.world.turn import ALWAYS_ASKS, Turn, TurnStanding
from slackwater.core.world.world import World
from slackwater.ports import Kind
from slackwater.shell.fleet_objects import Json, ReadFleet, halts_in, kept_of
from slackwater.shell.fleet_places import Place
from slackwater.shell.fleet_series import Begun, counted
from slackwater.shell.fleets_in_time import FleetsInTime
from slackwater.shell.orders import Orders
from slackwater.shell.store import Key, Store
from slackwater.shell.taking_in import LOOKS_AT_ONCE
from slackwater.shell.witnesses import Witness

_log = structlog.get_logger(__name__)


class Fleets(FleetsInTime, Witness):
    """One in a process. Before `begin` it knows nothing, and nobody asks."""

    def __init__(
        self, store: Store, wake: Callable[[Key], None], scope: Scope, now: Callable[[], float], elapsed: Elapsed = None
    ) -> None:
        super().__init__(store, wake, scope, now, elapsed)
        self._elapsed = elapsed
        self.begun: list[Begun] = []
        """Turns that were given, and not yet said so."""
        self.without_gone: Callable[[Mapping[str, str]], Mapping[str, str]] = dict
        """A group's commands without those of campaigns that are gone."""
        self.noticed: Callable[[], None] = lambda: None
        """Called when something has changed that campaigns go by."""
        self._store = store
        self._has_begun = False
        self._missed: dict[tuple[Kind, Key], None] | None = None
        """What the store told while all groups were counted for the first time."""
        store.listener = self._told

    def begin(self) -> None:
        """The store has all that was listed after the lease was taken."""
        for _ in self._beginning():
            pass

    async def begin_in_turns(self) -> None:
        """The same, and all else has its turn between two steps."""
        for _ in self._beginning():
            await asyncio.sleep(0)

    def _beginning(self) -> Iterator[None]:
        self._missed = {}
        now, there, places = self._now(), self._store.keys(CONSUMER_FLEET), self.known.places
        for key in (*there, *there):  # whose place it is, is known once all have come
            self.known.listed(key, self._store.get(CONSUMER_FLEET, key), now)
            yield
        self._touch(str(key) for key in there if places.of(key) is Place.OVER)
        found = (self._store.get(CONSUMER_FLEET, key) for key in there if places.of(key) is not Place.OVER)
        reads = [(self.known.take_in(obj), halts_in(obj)) for obj in found if obj is not None]
        reads += [(read, Halts()) for read in self.known.hidden]
        fleets = [kept_of(read, halts, self.known.gates_at_first(read.fleet.key, now)) for read, halts in reads]
        if fleets:
            groups = self._groups.each_of(self._store.keys(CONSUMER_GROUP), [kept.fleet for kept in fleets])
            self._call((yield from self.ledger.beginning(fleets, groups, now)))
            self._obey()
            self._touch(each.fleet.key for each in fleets)
        self._has_begun, missed, self._missed = True, self._missed, None
        for kind, key in missed:
            self._told(kind, key, self._store.get(kind, key))

    def turn_of(self, key: Key, memory: RolloutMemory) -> Turn:
        """What its fleets say of a group now. `memory`: what its status remembers."""
        name = str(key)
        self._take_up_first(name)
        selecting = self.ledger.fleets_of(name)
        if not selecting:
            return Turn()
        standing = TurnStanding.WAITS
        is_up_to_date = self.is_up_to_date(name)
        if memory.turn is not None and memory.turn.is_held:
            standing = TurnStanding.HAS if self.ledger.may_go_on(name) else standing
        elif is_up_to_date and self._may_begin(name):
            standing = TurnStanding.CALLED
        order, (fleets, unread) = self.orders.by_group.get(name), self.known.told_apart(selecting)
        campaign = "" if order is None else order.campaign
        at = self.ledger.allocator.waits_for(name)
        stands_at = None if at is not None and self.is_coming(at.fleet) else stand_at(at)
        return Turn(standing, fleets, ALWAYS_ASKS | self.ledger.asks_for(name), campaign, unread, stands_at)

    def may_write(self, key: Key, world: World, memory: RolloutMemory) -> bool:
        """Whether the turn that `memory` would give, if it does, is still to be had. It is kept for as long as nobody
        knows what became of the request."""
        had, has = world.memory.turn, memory.turn
        gives = has is not None and has.is_held and not (had is not None and had.is_held)
        if not gives or world.turn.standing is not TurnStanding.CALLED:
            return True
        self._take_up_first(str(key))
        is_good = self.is_up_to_date(str(key)) and self._may_begin(str(key))
        return is_good and self.ledger.allocator.keep_call(str(key), self._now())

    def _may_begin(self, name: str) -> bool:
        return self.ledger.may_begin(name, self._now()) and not self._groups.waits_for_campaigns(name)

    def sees(self, key: Key, world: World) -> None:
        if self.known:
            self.look(key, sight_of(world))

    def look(self, key: Key, sight: Sight) -> None:
        """What a pass has seen of a group."""
        if self.known and self._groups.sees(key, sight):
            self._look_at(key, self._store.get(CONSUMER_GROUP, key))
            self._stir()

    def forget(self, key: Key) -> None:
        self._groups.forget(key)
        self.memories.forget(key)

    def givers_of(self, group: str) -> tuple[Giver, ...]:
        """Fleets that select the group and say something of its defaults."""
        found = map(self.known.giver, self.ledger.fleets_of(group))
        return tuple(giver for giver in found if giver is not None)

    def names_in(self, fleet: str) -> tuple[str, ...]:
        """The groups that it selects."""
        kept = self.ledger.kept(fleet)
        return () if kept is None else kept.tally.names

    @property
    def name_campaigns(self) -> bool:
        return self._groups.name_campaigns

    @property
    def orders(self) -> Orders:
        return self._groups.orders

    @property
    def failures(self) -> int:
        """How many groups have failed since this process began."""
        return self._groups.failures

    def ordered(self, orders: Orders, counted: Mapping[str, int]) -> None:
        """What campaigns say from now on. `counted`: by namespace, how many failures they have counted."""
        concerned = self.orders.differing(orders) | orders.settling(self.ledger).keys()
        self._call(filter(self.ledger.allocator.is_called, self._groups.counted(counted)))
        is_as_before = not concerned and self.orders.limits == orders.limits
        self._groups.orders = orders
        if is_as_before:
            return
        self._call(self.ledger.ordered(orders.limits, (), self._now()))
        counting = [name for name in concerned if self.ledger.allocator.claim_of(name).standing.counts]
        self._take_up(counting)  # who moves has room in a wave before anybody else is called there
        self._take_up_later(concerned.difference(counting))
        self._touch(fleet for group in concerned for fleet in self.ledger.fleets_of(group))
        self.stirred.set()

    def hide(self, namespaces: Collection[str]) -> None:
        """ConsumerFleets of these namespaces may not be read, and those of all others are in the store."""
        is_first, over = not self.known, self.known.no_longer_hidden(namespaces)
        for read in self.known.hide(namespaces):
            _log.error("fleets_not_read", namespace=read.fleet.namespace, effect="nothing new begins there")
            if self._has_begun:
                self._put(read, Halts(), is_first=is_first)
            is_first = False
        for fleet in over:
            _log.info("fleets_read_again", namespace=fleet.namespace)
            self._remove(fleet.key)
        self._stir()

    def _told(self, kind: Kind, key: Key, obj: Json | None) -> None:
        """The store's word, in which a status that was just written is counted."""
        if self._missed is not None:
            self._missed[kind, key] = None
            return
        if not self._has_begun:
            if kind is CONSUMER_FLEET:
                self.known.listed(key, obj, self._now())
            return
        if kind is CONSUMER_FLEET:
            self._fleet_is(key, obj)
        elif kind is CONSUMER_GROUP and self.known:
            self._look_at(key, obj)
        self._stir()

    def _fleet_is(self, key: Key, obj: Json | None) -> None:
        name = str(key)
        before = self.known.get(name)
        if before is not None and (obj is None or before.version[0] != obj["metadata"]["uid"]):
            self._gone(name)
        self.dirty -= set() if obj is not None else {name}
        for each in self.known.moves(key, obj):
            self._take_place(each)

    def _take_place(self, key: Key) -> None:
        """It is new, or says something else; or it counts by now, or no longer."""
        name, obj = str(key), self._store.get(CONSUMER_FLEET, key)
        before, is_first = self.known.get(name), not self.known
        if obj is None:
            return
        if self.known.places.of(key) is Place.OVER:
            if before is not None:
                self._remove(name)
            self._touch([name])
            return
        read = self.known.take_in(obj)
        if before is None or before.version != read.version:
            self._put(read, halts_in(obj), is_first=is_first)

    def _put(self, read: ReadFleet, halts: Halts, *, is_first: bool) -> None:
        """`is_first`: nobody has been counted so far."""
        name, now = read.fleet.key, self._now()
        kept = kept_of(read, halts, self.known.gates(name, now))
        found = map(str, self._store.keys(CONSUMER_GROUP)) if is_first else self.ledger.concerned(kept.fleet)
        self._comes(kept.fleet, kept.gates, kept.halts, concerned=found)
        self._obey()
        self._touch([name])

    def _gone(self, name: str) -> None:
        _log.info("fleet_gone", fleet=name, waited=self.ledger.waiting_in(name))
        self._remove(name)

    def _remove(self, name: str) -> None:
        self.known.drop(name)
        self.series.pop(name, None)
        self.dirty.discard(name)
        selected = self._forget_fleet(name)
        if not self.known:
            self.ledger = Ledger(elapsed=self._elapsed, looks=LOOKS_AT_ONCE)
            self.ledger.ordered(self.orders.limits, (), self._now())
            self._groups.forget_sights()
            self._to_take_up.clear()
        self._call(sorted(selected))
        if self.known:
            self._call(self.ledger.ticked(self._now()))
            self._take_up_later(selected)
            self._call_put_off()

    def _obey(self) -> None:
        """Commands by annotation, each token once."""
        for name in self.known.newly_resumed():
            self._call(self.ledger.resume(name, self._now()))

    def _look_at(self, key: Key, obj: Json | None) -> None:
        name, now = str(key), self._now()
        before, concerned = self.ledger.facts(name), self.ledger.fleets_of(name)
        if obj is None:
            self._call(self.ledger.gone(name, now))
            self._touch(concerned)
            self._are_taken_up([name])
            return
        is_behind = self._is_to_be_taken_up(name)
        facts = self._groups.facts(key, obj, [kept.fleet for kept in self.ledger.fleets()])
        if facts is None or (facts == before and not is_behind):
            return
        self._groups.has_changed(before, facts)
        let_through = self.ledger.let_through(name)
        called = self.ledger.all_changed([facts], now, anyway=is_behind)
        fleets = self.ledger.fleets_of(name)
        if bool(fleets) is not bool(concerned):
            called = (*called, name)
        if before is not None:
            begun = counted(self.series, fleets, (before, facts), let_through, now)
            self.begun += [] if begun is None else [begun]
        self._call(called)
        self._touch({*concerned, *fleets})
        if is_behind:
            self._are_taken_up([name])

    def _has_come(self) -> None:
        self._stir()

    def _stir(self) -> None:
        self.stirred.set()
        self.noticed()
