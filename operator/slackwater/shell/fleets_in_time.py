"""What time changes of fleets: a look at each that is due, and all else has its turn between two of them.

One look takes a twentieth of a second where somebody means it so, and is due again half a minute later.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Callable, Iterator
from math import inf

from slackwater.core.fleet.timers import Elapsed
from slackwater.core.fleet.times import Scope
from slackwater.shell.fleet_places import in_turns
from slackwater.shell.fleet_series import FleetSeries
from slackwater.shell.store import Key, Store
from slackwater.shell.taking_in import AT_ONCE, TakingIn


class FleetsInTime(TakingIn):
    def __init__(
        self, store: Store, wake: Callable[[Key], None], scope: Scope, now: Callable[[], float], elapsed: Elapsed
    ) -> None:
        super().__init__(store, wake, scope, now, elapsed)
        self.series: defaultdict[str, FleetSeries] = defaultdict(FleetSeries)
        """By fleet: what has happened since this process began."""

    def tick(self) -> None:
        """What time has changed."""
        while self._has_more_after(self.ticking()):
            pass

    def _has_more_after(self, steps: Iterator[None]) -> bool:
        for _ in steps:
            pass
        return self.is_behind

    async def tick_in_turns(self) -> None:
        """The same, a fleet at a time."""
        for _ in self.ticking():
            await asyncio.sleep(0)

    def ticking(self) -> Iterator[None]:
        """Namespaces take turns, and who is to be taken up has one after each look. Between two steps all else may
        change; who comes meanwhile has turns at the next tick."""
        due = [each.fleet.key for each in self.ledger.fleets() if each.due_at <= self._now()]
        for key in in_turns(due):
            self._catch_up(key)
            yield
            if self._to_take_up:
                self._take_up_some()
                yield
        for _ in range(sum(1 + len(each) // AT_ONCE for each in self._to_take_up.values())):
            if not self._to_take_up:
                break
            self._take_up_some()
            yield
        self._call(self.ledger.ticked(self._now()))
        for name in self.ledger.allocator.taken_lapses():
            facts = self.ledger.facts(name)
            for fleet in self.ledger.fleets_of(name):
                self.series[fleet].count("lapsed", facts)
            self._touch(self.ledger.fleets_of(name))
        if self.is_behind:
            yield  # and it goes on at the next tick

    def ticks_at(self) -> float:
        """When `tick` has something to do; infinite where nothing is due."""
        if self.is_behind:
            return self._now()
        at = self.ledger.allocator.wakes_at()
        return min([*(kept.due_at for kept in self.ledger.fleets()), inf if at is None else at])

    def is_up_to_date(self, group: str) -> bool:
        """Whether what its fleets say holds at this moment. One of them is looked at, where that is due; where more of
        them are, or one is coming, the group is called as soon as all were."""
        for fleet in self._due_of(group)[:1]:
            self._catch_up(fleet)
        if self._due_of(group):
            self._put_off.add(group)
            return False
        return True

    def _catch_up(self, fleet: str) -> None:
        kept, now = self.ledger.kept(fleet), self._now()
        if kept is None or kept.due_at > now:
            return
        gates = self.known.gates(fleet, now)
        if gates.is_overridden is not kept.fleet.is_overridden:  # its groups are in other cells
            overridden = kept.fleet.overridden(gates.is_overridden)
            self._comes(overridden, gates, kept.halts, concerned=kept.tally.names)
        else:
            self._call(self.ledger.passed(fleet, gates, now))
        self._touch([fleet])
        self._call_put_off()
