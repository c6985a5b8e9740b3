"""Whoever is the first in order for long keeps what comes free in its cells: those who need fewer would pass it for
ever.

Not while one of its cells is stuck, such as by a group that cannot go back and waits for a person: what is kept then is
kept for nobody, and all others of the fleet would wait for that one group.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import inf
from typing import Final

from slackwater.core.fleet.claim import Cell, Claim
from slackwater.core.fleet.line import Entry, Line
from slackwater.core.fleet.places import Places
from slackwater.core.fleet.timers import Timers

RESERVES_AFTER_S: Final = 900.0
STUCK_AFTER_S: Final = 3600.0
"""Nobody has begun or ended in a full cell for so long. Longer than nearly all rollouts take: who waits for several
cells, of which each is held for longer, may be passed."""


class Reservation:
    def __init__(self, line: Line, places: Places, timers: Timers) -> None:
        self._line, self._places, self._timers = line, places, timers
        self._head: Claim | None = None
        self._watched: tuple[str, float] | None = None
        """For whom a timer stands, and when it ends."""

    def is_for(self, group: str) -> bool:
        return self._head is not None and self._head.group == group

    def keeps(self, cell: Cell, group: str) -> bool:
        """From this group."""
        return self._head is not None and self._head.group != group and cell in self._head.takes

    def give_up(self) -> None:
        if self._head is not None:
            self._places.freed(self._head.takes)
            self._head = None

    def renew(self, loose: Entry | None, claims: Mapping[str, Claim], now: float) -> None:
        """`loose`: the first of those who stand nowhere."""
        head = self._first(loose, claims, now)
        if self._head is not None and (head is None or head.group != self._head.group):
            self.give_up()
        if head is None:
            return
        waits_until = head.asked_at + RESERVES_AFTER_S
        if waits_until <= now:
            self._head = head
            waits_until = min((self._places.stuck_at(cell, STUCK_AFTER_S) for cell in head.takes), default=now)
        self._watch(head.group, waits_until, now)

    def _first(self, loose: Entry | None, claims: Mapping[str, Claim], now: float) -> Claim | None:
        """In order, of those who could begin some time."""
        for cell in tuple(self._line.stuck):
            if self._places.stuck_at(cell, STUCK_AFTER_S) > now:
                self._line.free(cell)
        while (
            first := min((each for each in (self._line.first(), loose) if each is not None), default=None)
        ) is not None:
            claim = claims[first[1]]
            if now - claim.asked_at < RESERVES_AFTER_S:
                return claim
            stuck = next((c for c in claim.takes if self._places.stuck_at(c, STUCK_AFTER_S) <= now), None)
            if stuck is None or first == loose:
                return claim
            self._line.leave(first[1])
            self._line.stick(stuck)
            self._line.park(first, stuck, shut=False)
        return None

    def _watch(self, group: str, until: float, now: float) -> None:
        if now < until < inf and self._watched != (group, until):
            self._watched = (group, until)
            self._timers.wake(until)
