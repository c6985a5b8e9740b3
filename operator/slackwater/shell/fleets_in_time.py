"""What time changes of fleets: a look at each that is due, and all else has its turn between two of them.

One look takes a twentieth of a second where somebody means it so, and is due again half a minute later.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from math import inf

from slackwater.core.fleet.ledger import Ledger
from slackwater.core.fleet.timers import Elapsed
from slackwater.core.fleet.times import Scope
from slackwater.shell.fleet_places import in_turns
from slackwater.shell.fleet_series import FleetSeries
from slackwater.shell.known_fleets import KnownFleets
from slackwater.shell.orders import key_in
from slackwater.shell.store import Key


class FleetsInTime:
    def __init__(self, wake: Callable[[Key], None], scope: Scope, now: Callable[[], float], elapsed: Elapsed) -> None:
        self.ledger = Ledger(elapsed=elapsed)
        self.known = KnownFleets(scope)
        self.series: defaultdict[str, FleetSeries] = defaultdict(FleetSeries)
        """By fleet: what has happened since this process began."""
        self.changed = asyncio.Event()
        """Something is to be written, or is due sooner than it was."""
        self.dirty: set[str] = set()
        """Fleets whose status may say something else by now."""
        self._wake = wake
        self._now = now
        self._put_off: set[str] = set()
        """Groups that asked while one of their fleets was due: they are called once it was looked at."""

    def tick(self) -> None:
        """What time has changed."""
        for _ in self.ticking():
            pass

    async def tick_in_turns(self) -> None:
        """The same, a fleet at a time."""
        for _ in self.ticking():
            await asyncio.sleep(0)

    def ticking(self) -> Iterator[None]:
        """Namespaces take turns. Between two steps all else may change."""
        due = [each.fleet.key for each in self.ledger.fleets() if each.due_at <= self._now()]
        for key in in_turns(due):
            self._catch_up(key)
            yield
        self._call(self.ledger.ticked(self._now()))
        for name in self.ledger.allocator.taken_lapses():
            facts = self.ledger.facts(name)
            for fleet in self.ledger.fleets_of(name):
                self.series[fleet].count("lapsed", facts)
            self._touch(self.ledger.fleets_of(name))

    def ticks_at(self) -> float:
        """When `tick` has something to do; infinite where nothing is due."""
        at = self.ledger.allocator.wakes_at()
        return min([*(kept.due_at for kept in self.ledger.fleets()), inf if at is None else at])

    def is_up_to_date(self, group: str) -> bool:
        """Whether what its fleets say holds at this moment. One of them is looked at, where that is due; where more of
        them are, the group is called as soon as all were."""
        for fleet in self._due_of(group)[:1]:
            self._catch_up(fleet)
        if self._due_of(group):
            self._put_off.add(group)
            return False
        return True

    def _due_of(self, group: str) -> list[str]:
        kept, now = [self.ledger.kept(each) for each in self.ledger.fleets_of(group)], self._now()
        return [each.fleet.key for each in kept if each is not None and each.due_at <= now]

    def _catch_up(self, fleet: str) -> None:
        kept, now = self.ledger.kept(fleet), self._now()
        if kept is None or kept.due_at > now:
            return
        self._call(self.ledger.passed(fleet, self.known.gates(fleet, now), now))
        self._touch([fleet])
        ready = {group for group in self._put_off if not self._due_of(group)}
        self._put_off -= ready
        self._call(sorted(ready))

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
