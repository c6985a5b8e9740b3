"""Who is called next: a fold over claims, whose cost grows with what changes and not with how many wait.

Each group that waits is parked at one cell that has no room for it. Only when that cell frees is the group looked at:
it is called, or parked at another of its cells. So all waiters stand where they cannot begin, and a scan of all of
them would call the same (tests/core/fleet/test_allocation.py).
"""

from __future__ import annotations

from collections.abc import Generator, Iterable
from heapq import heappop, heappush
from sys import maxsize
from typing import Final

from slackwater.core.fleet.calls import Calls, PutOff, nobody
from slackwater.core.fleet.claim import Cell, Claim, Limit, Standing
from slackwater.core.fleet.line import Entry, Line
from slackwater.core.fleet.places import Places
from slackwater.core.fleet.reservation import Reservation
from slackwater.core.fleet.steps import AT_ONCE, done
from slackwater.core.fleet.timers import Elapsed, Timers

HORIZON_S: Final = 75.0
"""A request of the leader before may land so long after this one began: the API server gives them up after 60 s."""


class Allocator:
    """The only one of its process, fed from one event loop.

    A turn is good only if it was in the list with which this leader began, or if this leader called it: a leader that
    lost its lease may yet write one. Where more turns are listed than may move, some are such late ones, and which of
    them is moving will be known when no request of an earlier leader can be under way any more: they are listed again
    then (ADR 0017; tests/core/fleet/test_leaders.py explores three leaders).
    """

    def __init__(self, call_s: float = 120.0, put_off: PutOff = nobody, elapsed: Elapsed = None) -> None:
        self._put_off = put_off
        self.looks, self.is_behind = maxsize, False
        """At how many who wait it looks in one piece; and whether more are left, who stand where they are meanwhile."""
        self._claims: dict[str, Claim] = {}
        self._places = Places()
        self._line = Line()
        self._calls = Calls(call_s)
        self._loose: list[Entry] = []
        self._timers = Timers(elapsed)
        self._reservation = Reservation(self._line, self._places, self._timers)
        self._admitted: set[str] = set()
        self._late: set[str] = set()
        """Who has a turn that this leader neither found nor gave: they count, and wait until their cells bear them."""
        self._overfull: frozenset[Cell] = frozenset()
        """The cells in which more was found than may move: nothing begins in them, nor goes on, before `relist_at`."""
        self._found_there: set[str] = set()
        self._relist_at: float | None = None

    def began(self, claims: Iterable[Claim], now: float) -> tuple[str, ...]:
        """All groups, as they were listed after the lease was taken. Returns whom it calls."""
        return done(self.beginning(claims, now))

    def beginning(self, claims: Iterable[Claim], now: float) -> Generator[None, None, tuple[str, ...]]:
        """The same, some groups at a time."""
        listed = list(claims)
        self._set_clock(now)
        has = {claim.group: claim for claim in listed if claim.standing is Standing.HAS}
        self._admitted.update(has)
        for number, claim in enumerate(listed, start=1):
            self._take_up(claim)
            if number % AT_ONCE == 0:
                yield
        self._overfull = frozenset(c for claim in has.values() for c in claim.takes if self._places.overfull((c,)))
        self._found_there = {name for name, claim in has.items() if not self._overfull.isdisjoint(claim.takes)}
        self._admitted -= self._found_there
        self._relist_at = now + HORIZON_S if self._overfull else None
        return self._fold(now)

    @property
    def relist_at(self) -> float | None:
        """When all groups have to be listed again (`relisted`); None where that is not needed."""
        return self._relist_at

    def relisted(self, claims: Iterable[Claim], now: float) -> tuple[str, ...]:
        """All groups, as they were listed at `relist_at` or later. Those that move go on first."""
        self._late |= self._found_there
        self._found_there, self._overfull, self._relist_at = set(), frozenset(), None
        self._places.freed({cell for claim in self._claims.values() for cell in claim.takes})
        return self.changed(claims, now)

    def changed(self, claims: Iterable[Claim], now: float) -> tuple[str, ...]:
        """Take up what has changed, and return whom it calls, in order. With no claims: what time has changed."""
        self._set_clock(now)
        for claim in claims:
            if claim != self._claims.get(claim.group):
                self._take_up(claim)
        return self._fold(now)

    def limited(self, limits: Iterable[tuple[Cell, Limit]]) -> None:
        """What fleets say of their cells."""
        for cell, limit in limits:
            self._places.limited(cell, limit)
            self._wake_when_free(cell)

    def drop_unused(self, now: float) -> frozenset[Cell]:
        """What no group is in, and nobody takes room of, is forgotten; returns the cells that are left. Asks every
        group."""
        used = {cell for each in self._claims.values() for cell in (*each.takes, *each.member_of)}
        return self._places.keep_only(used, now)

    def look_again(self, only: str | None = None) -> None:
        """At those who were put off, or at one of them."""
        for group in self._calls.taken_back(only):
            heappush(self._loose, (self._claims[group].order, group))

    def gone(self, group: str) -> None:
        """It was deleted."""
        self._take_up(Claim(group))
        del self._claims[group]

    def is_called(self, group: str) -> bool:
        return group in self._calls

    def keep_call(self, group: str, now: float) -> bool:
        """Its turn is about to be written: whatever becomes of that request, it is known before the call lapses. False
        where it is called no more."""
        if (until := self._calls.keep(group, now + HORIZON_S)) is not None:
            self._timers.wake(until, group)
        return until is not None

    def taken_lapses(self) -> tuple[str, ...]:
        """The groups whose calls have lapsed since somebody asked."""
        return self._calls.taken_lapses()

    def claim_of(self, group: str) -> Claim:
        """As it was taken up last."""
        return self._claims.get(group, Claim(group))

    def may_act(self, group: str) -> bool:
        """Whether a group that has its turn, by its status, may take a pod away."""
        return group in self._admitted

    def waits_for(self, group: str) -> Cell | None:
        """The cell without room at which a group waits; None where it does not wait, or its own gates held it back."""
        return self._line.cell_of(group)

    def use(self, cell: Cell) -> tuple[int, int, int]:
        """The limit in force, how many move, and how many wait at it."""
        return (*self._places.use(cell), self._line.waiting_at(cell))

    def wakes_at(self) -> float | None:
        """When time alone may change something."""
        return self._timers.next_at

    def _take_up(self, claim: Claim) -> None:
        group = claim.group
        self._end_call(claim)
        self._places.takes_up(claim, self.claim_of(group))
        self._claims[group] = claim
        self._line.leave(group)
        if self._reservation.is_for(group):
            self._reservation.give_up()
        self._calls.changed(group, asks=claim.standing is Standing.ASKS)
        if claim.standing is not Standing.HAS:
            self._admitted.discard(group)
            self._found_there.discard(group)
        self._late.discard(group)
        if claim.standing is Standing.HAS and group not in self._admitted and group not in self._found_there:
            self._late.add(group)
        if claim.standing is Standing.SETTLES:
            self._timers.wake(claim.counts_until, group)
        if self._wants_a_call(claim):
            heappush(self._loose, (claim.order, group))

    def _end_call(self, claim: Claim) -> None:
        """By its turn, or because it asks no more, or for other cells."""
        call = self._calls.of(claim.group)
        if call is None or (claim.standing is Standing.ASKS and claim.takes == call.takes):
            return
        self._calls.end(claim.group)
        self._places.given_back(call.takes)
        if claim.standing is Standing.HAS:
            self._admitted.add(claim.group)

    def _is_loose(self, entry: Entry) -> bool:
        claim = self._claims.get(entry[1])
        waits = claim is not None and claim.order == entry[0] and self._wants_a_call(claim)
        return waits and self._line.cell_of(entry[1]) is None

    def _wants_a_call(self, claim: Claim) -> bool:
        group, asks = claim.group, claim.standing is Standing.ASKS
        return asks and group not in self._calls and not self._calls.is_away(group)

    def _fold(self, now: float) -> tuple[str, ...]:
        self._pass_time(now)
        called = self._admit_late()
        self._reservation.renew(self._first_loose(), self._claims, now)
        self.is_behind = True
        for _ in range(self.looks):
            if (entry := self._next_to_look_at(now)) is None:
                self.is_behind = False
                break
            if self._call_or_park(entry, now):
                called.append(entry[1])
            self._reservation.renew(self._first_loose(), self._claims, now)
        return tuple(called)

    def _admit_late(self) -> list[str]:
        """In order, those that move before all others: what is away has to come back."""
        admitted, late = [], [self._claims[group] for group in self._late]
        for claim in sorted(late, key=lambda each: (not each.moving, each.order, each.group)):
            others = [self._claims[group] for group in self._late if group != claim.group]
            if self._overfull.isdisjoint(claim.takes) and self._places.bear(claim, others):
                self._late.discard(claim.group)
                admitted.append(claim.group)
        self._admitted.update(admitted)
        return admitted

    def _next_to_look_at(self, now: float) -> Entry | None:
        """The first in order of those who are parked nowhere, or at a cell that has room by now."""
        found = [(entry, cell) for cell in self._places.freed_cells() if (entry := self._free_at(cell, now))]
        first, cell = min(found, default=(None, None))
        if (loose := self._first_loose()) is not None and (first is None or loose < first):
            heappop(self._loose)
            return loose
        if cell is not None:
            self._line.take(cell)
        return first

    def _free_at(self, cell: Cell, now: float) -> Entry | None:
        entry = self._line.next_at(cell)
        if entry is not None and self._room(cell, entry[1], now) > 0:
            return entry
        self._places.looked_at(cell)
        return None

    def _first_loose(self) -> Entry | None:
        while self._loose and not self._is_loose(self._loose[0]):
            heappop(self._loose)
        return self._loose[0] if self._loose else None

    def _call_or_park(self, entry: Entry, now: float) -> bool:
        claim = self._claims[entry[1]]
        blocked = self._blocked(claim, now)
        if blocked is not None:
            self._line.park(entry, blocked, shut=self._places.is_shut(blocked))
            return False
        if (until := self._put_off(claim.group, now)) is not None:
            self._calls.put_off(claim.group, until)
            self._timers.wake(until, claim.group)
            return False
        self._places.taken(claim.takes)
        self._timers.wake(self._calls.call(claim.group, claim.takes, now).until, claim.group)
        self._places.begun(claim.takes, now)
        for cell in claim.takes:
            self._wake_when_free(cell)
        if self._reservation.is_for(claim.group):
            self._reservation.give_up()
        return True

    def _blocked(self, claim: Claim, now: float) -> Cell | None:
        """One that is shut before one that is full: who stands there is not the first of those who could begin."""
        without = [cell for cell in claim.takes if self._room(cell, claim.group, now) <= 0]
        return next((cell for cell in without if self._places.is_shut(cell)), without[0] if without else None)

    def _room(self, cell: Cell, group: str, now: float) -> int:
        room = self._places.room(cell, now) - self._reservation.keeps(cell, group)
        return 0 if cell in self._overfull else room

    def _wake_when_free(self, cell: Cell) -> None:
        if self._places.is_spaced(cell):
            self._timers.wake(self._places.free_at(cell), cells=(cell,))

    def _set_clock(self, now: float) -> None:
        if (back_s := self._timers.set_back_s(now)) != 0.0:
            self._places.set_back(back_s)
            self._calls.set_back(back_s)
            self._relist_at = None if self._relist_at is None else self._relist_at - back_s
        self._places.now = now

    def _pass_time(self, now: float) -> None:
        for _, group, cells in self._timers.due(now):
            self._places.freed(cells)
            if (claim := self._claims.get(group)) is None:
                continue
            self._lapse(claim, now)
            if self._calls.come_back(group, now):
                heappush(self._loose, (claim.order, group))
            if claim.standing is Standing.SETTLES and claim.counts_until <= now:
                self._take_up(Claim(group, claim.member_of))
            elif claim.standing is Standing.SETTLES:  # the clock was set back
                self._timers.wake(claim.counts_until, group)

    def _lapse(self, claim: Claim, now: float) -> None:
        """A call that was not used: others go, and the group comes again later each time."""
        call = self._calls.of(claim.group)
        if call is not None and call.until <= now:
            self._places.given_back(call.takes)
            self._timers.wake(self._calls.lapse(claim.group, now), claim.group)
