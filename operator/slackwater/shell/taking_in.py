"""Groups that fleets or campaigns say something else of are taken up a few at a time, and all else has its turn between
two steps: whoever may write one fleet may select ten thousand groups by it.

Until all that a fleet selects is taken up, the fleet is shut: what is not known lets nobody begin. Whoever asks is
taken up first, so that what a fleet stops is stopped at once, and remedies ask nobody. Nothing of it is written down: a
process that begins lists everything again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator
from typing import Final

from slackwater.adapters.cluster.paths import CONSUMER_GROUP
from slackwater.core.fleet.claim import Standing
from slackwater.core.fleet.claims import Fleet
from slackwater.core.fleet.facts import GroupFacts
from slackwater.core.fleet.halts import Halts
from slackwater.core.fleet.ledger import Ledger
from slackwater.core.fleet.steps import in_parts
from slackwater.core.fleet.timers import Elapsed
from slackwater.core.fleet.times import Gates, Scope
from slackwater.shell.known_fleets import KnownFleets
from slackwater.shell.known_groups import KnownGroups
from slackwater.shell.memories import Memories
from slackwater.shell.orders import key_in
from slackwater.shell.store import Key, Store

AT_ONCE: Final = 50
"""Groups of a step, and of one turn of the event loop, whatever comes in it: some milliseconds."""
LOOKS_AT_ONCE: Final = 500
"""At those who wait, once a fleet with thousands of them opens: some milliseconds."""
TOPICS_OF_ONE: Final = 16
"""Whoever consumes more counts as several groups: each topic may be a cell of each budget."""


class TakingIn:
    def __init__(
        self, store: Store, wake: Callable[[Key], None], scope: Scope, now: Callable[[], float], elapsed: Elapsed
    ) -> None:
        self.ledger = Ledger(elapsed=elapsed, looks=LOOKS_AT_ONCE)
        self.known = KnownFleets(scope)
        self.memories = Memories()
        self.changed = asyncio.Event()
        """Something is to be written, or is due sooner than it was."""
        self.stirred = asyncio.Event()
        """What is due by the clock may be due sooner than it was."""
        self.dirty: set[str] = set()
        """Fleets whose status may say something else by now."""
        self._store = store
        self._groups = KnownGroups(store, self.memories, now)
        self._wake = wake
        self._now = now
        self._put_off: set[str] = set()
        """Groups that asked while one of their fleets was due, or coming: they are called once it was looked at."""
        self._to_take_up: dict[str, dict[str, None]] = {}
        """Groups by namespace, whose turn is next first: fleets or campaigns say something else of them."""
        self._coming: dict[str, set[str]] = {}
        """By fleet, who has to be taken up before it counts as known."""
        self._taken_in_turn = 0
        """Groups, in this iteration of the event loop."""

    @property
    def is_behind(self) -> bool:
        """Somebody is to be taken up yet, or looked at by the allocator."""
        return bool(self._to_take_up) or self.ledger.allocator.is_behind

    def is_coming(self, fleet: str) -> bool:
        """Not all that it selects is known yet."""
        return fleet in self._coming

    def relisted(self) -> None:
        """The store has all groups as they were listed at `relist_at` or later."""
        for _ in self.relisting():
            pass

    def relisting(self) -> Iterator[None]:
        """The same; all else may change between two steps."""
        for names in in_parts([str(key) for key in self._store.keys(CONSUMER_GROUP)], AT_ONCE):
            self._take_up(names)
            yield
        self._call(self.ledger.relisted((), self._now()))
        self.stirred.set()

    def is_coming_in(self, namespace: str) -> bool:
        """That is so of a fleet there."""
        return any(key_in(fleet).namespace == namespace for fleet in self._coming)

    def _comes(self, fleet: Fleet, gates: Gates, halts: Halts, *, concerned: Iterable[str]) -> None:
        """It is new, or says something else. `concerned`: whom it selects, or selected."""
        self._call(self.ledger.comes(fleet, self._now(), gates, halts))
        self._coming[fleet.key] = left = {*concerned}
        self._touch([fleet.key])
        self._take_up_later(left)
        if not left:
            self._ends_coming()

    def _take_up_later(self, groups: Iterable[str]) -> None:
        """Or at once, where they are few. Who moves comes before who asks, in their order, and before all others."""
        groups = sorted(groups, key=self._first)
        if self._may_take_now(groups):
            self._take_up(groups)
            return
        for name in groups:
            self._to_take_up.setdefault(key_in(name).namespace, {})[name] = None
        self.stirred.set()

    def _first(self, group: str) -> tuple[bool, bool, tuple[float, int], str]:
        claim = self.ledger.allocator.claim_of(group)
        return not claim.standing.counts, claim.standing is not Standing.ASKS, claim.order, group

    def _may_take_now(self, groups: list[str]) -> bool:
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            return True  # nobody else has turns
        taken = self._taken_in_turn + sum(map(self._weight, groups))
        if taken > AT_ONCE:
            return False
        if not self._taken_in_turn:
            loop.call_soon(self._turn_ends)
        self._taken_in_turn = taken
        return True

    def _turn_ends(self) -> None:
        self._taken_in_turn = 0

    def _weight(self, group: str) -> int:
        facts = self.ledger.facts(group)
        return 1 if facts is None else 1 + len(facts.topics) // TOPICS_OF_ONE

    def _take_up_some(self) -> None:
        """The next of one namespace; then the next one has its turn."""
        namespace = next(iter(self._to_take_up))
        waiting, names, weight = self._to_take_up.pop(namespace), list[str](), 0
        while waiting and weight < AT_ONCE:
            names.append(name := next(iter(waiting)))
            del waiting[name]
            weight += self._weight(name)
        if waiting:
            self._to_take_up[namespace] = waiting
        self._take_up(names)

    def _take_up(self, groups: Iterable[str]) -> None:
        """Those of them whose statuses cannot be read stay as they are known."""
        groups, fleets = list(groups), [kept.fleet for kept in self.ledger.fleets()]
        before = {name: self.ledger.fleets_of(name) for name in groups}
        read = {facts.key: facts for facts in self._groups.facts_of(map(key_in, groups), fleets)}
        self._takes_up([facts for name in groups if (facts := read.get(name) or self.ledger.facts(name)) is not None])
        self._call(name for name in groups if self.ledger.fleets_of(name) != before[name])
        self._are_taken_up(groups)

    def _takes_up(self, facts: Iterable[GroupFacts]) -> None:
        self._call(self.ledger.all_changed(facts, self._now(), anyway=True))

    def _take_up_first(self, group: str) -> None:
        """Who asks does not wait for its step."""
        if self._is_to_be_taken_up(group):
            self._take_up([group])

    def _is_to_be_taken_up(self, group: str) -> bool:
        return group in self._to_take_up.get(key_in(group).namespace, ())

    def _are_taken_up(self, groups: Iterable[str]) -> None:
        """Or gone."""
        for name in groups:
            namespace = key_in(name).namespace
            if (waiting := self._to_take_up.get(namespace)) is not None:
                waiting.pop(name, None)
                if not waiting:
                    del self._to_take_up[namespace]
            for left in self._coming.values():
                left.discard(name)
        self._ends_coming()

    def _ends_coming(self) -> None:
        for fleet in [fleet for fleet, left in self._coming.items() if not left]:
            del self._coming[fleet]
            self._call(self.ledger.has_come(fleet, self._now()))
            self.dirty.add(fleet)
            self.changed.set()
            self._call_put_off()
            self._has_come()

    def _has_come(self) -> None:
        """Whoever goes by fleets may go on."""

    def _forget_fleet(self, name: str) -> tuple[str, ...]:
        """It is gone. Returns whom it selected."""
        self._coming.pop(name, None)
        return self.ledger.leaves(name)

    def _call_put_off(self) -> None:
        ready = {group for group in self._put_off if not self._due_of(group)}
        self._put_off -= ready
        self._call(sorted(ready))

    def _due_of(self, group: str) -> list[str]:
        """Its fleets that are to be looked at before it begins, or taken in."""
        kept, now = [self.ledger.kept(each) for each in self.ledger.fleets_of(group)], self._now()
        return [each.fleet.key for each in kept if each is not None and (each.is_coming or each.due_at <= now)]

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
