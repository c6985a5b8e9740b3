"""Who waits, and where: each at one cell that has no room for it, so that it is looked at only when that cell frees."""

from __future__ import annotations

from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from typing import Final

from slackwater.core.fleet.claim import Cell

Entry = tuple[tuple[float, int], str]
"""A waiting group's order, and its name."""
SORTED_OUT_FROM: Final = 1000
"""So many entries more than twice those who wait."""


@dataclass(frozen=True, slots=True)
class _Stand:
    entry: Entry
    cell: Cell
    shut: bool


class Line:
    """Heaps by cell. Entries of groups that have moved on stay until they come up, and are dropped then; or when there
    are more of them than of those who wait."""

    def __init__(self) -> None:
        self._stands: dict[str, _Stand] = {}
        self._parked: dict[Cell, list[Entry]] = {}
        self._in_order: list[Entry] = []
        self._pushed = 0
        """Entries since they were sorted out for the last time."""
        self.stuck: set[Cell] = set()
        """Cells at which nobody is taken for the first of those who could begin."""

    def park(self, entry: Entry, cell: Cell, *, shut: bool) -> None:
        """Where its cell is shut, it is not the first of those who could begin."""
        self._stands[entry[1]] = _Stand(entry, cell, shut)
        heappush(self._parked.setdefault(cell, []), entry)
        self._pushed += 1
        if self._pushed > 2 * len(self._stands) + SORTED_OUT_FROM:
            self._sort_out()
        if not shut and cell not in self.stuck:
            heappush(self._in_order, entry)

    def stick(self, cell: Cell) -> None:
        self.stuck.add(cell)

    def free(self, cell: Cell) -> None:
        """Whoever is parked there is one of those who could begin again."""
        self.stuck.discard(cell)
        for entry in self._parked.get(cell, ()):
            heappush(self._in_order, entry)
            self._pushed += 1

    def leave(self, group: str) -> None:
        self._stands.pop(group, None)

    def take(self, cell: Cell) -> None:
        """The first one of `cell` goes on."""
        self.leave(heappop(self._parked[cell])[1])

    def cell_of(self, group: str) -> Cell | None:
        """Where it is parked."""
        stand = self._stands.get(group)
        return None if stand is None else stand.cell

    def next_at(self, cell: Cell) -> Entry | None:
        """The first of those who are parked at `cell`."""
        parked = self._parked.get(cell, [])
        while parked and not self._stands_at(parked[0], cell):
            heappop(parked)
        return parked[0] if parked else None

    def first(self) -> Entry | None:
        """The first in order of all who wait for room."""
        while self._in_order and not self._waits_for_room(self._in_order[0]):
            heappop(self._in_order)
        return self._in_order[0] if self._in_order else None

    def waiting_at(self, cell: Cell) -> int:
        """How many are parked at `cell`."""
        return len({entry for entry in self._parked.get(cell, ()) if self._stands_at(entry, cell)})

    def _sort_out(self) -> None:
        """Only those who wait are left, each once."""
        self._parked = {}
        for stand in self._stands.values():
            self._parked.setdefault(stand.cell, []).append(stand.entry)
        for parked in self._parked.values():
            heapify(parked)
        self._in_order = [each.entry for each in self._stands.values() if self._waits_for_room(each.entry)]
        heapify(self._in_order)
        self._pushed = len(self._stands)

    @property
    def entries(self) -> int:
        """How many are kept."""
        return len(self._in_order) + sum(map(len, self._parked.values()))

    def _stands_at(self, entry: Entry, cell: Cell) -> bool:
        stand = self._stands.get(entry[1])
        return stand is not None and (stand.entry, stand.cell) == (entry, cell)

    def _waits_for_room(self, entry: Entry) -> bool:
        stand = self._stands.get(entry[1])
        return stand is not None and stand.entry == entry and not stand.shut and stand.cell not in self.stuck
