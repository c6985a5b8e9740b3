"""How many groups move in each cell, and how many may."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Set
from dataclasses import dataclass, field
from math import inf

from slackwater.core.fleet.claim import Cell, Cells, Claim, Limit


@dataclass(slots=True)
class _Place:
    limit: Limit = field(default_factory=lambda: Limit(number=0))
    """A cell that no fleet has described lets nobody begin."""
    groups: int = 0
    used: int = 0
    begun_at: float = -inf
    """When the last group began."""
    changed_at: float = -inf
    """When one began or ended there for the last time."""

    @property
    def free_at(self) -> float:
        """When spacing lets the next group begin: any time, where there is none."""
        return self.begun_at + self.limit.spacing_s if self.limit.spacing_s > 0 else -inf

    @property
    def room(self) -> int:
        return self.limit.of(self.groups) - self.used


class Places:
    """Counters by cell, and which of them have gained room since somebody looked."""

    def __init__(self) -> None:
        self._places: dict[Cell, _Place] = {}
        self._freed: set[Cell] = set()
        self.now = -inf
        """Of the last fold."""

    def set_back(self, seconds: float) -> None:
        """The clock was."""
        for place in self._places.values():
            place.begun_at -= seconds
            place.changed_at -= seconds

    def limited(self, cell: Cell, limit: Limit) -> None:
        """What a fleet says of its cell. A lower limit takes nothing back."""
        place = self._at(cell)
        if place.limit != limit:
            place.limit = limit
            self._freed.add(cell)

    def keep_only(self, used: Set[Cell], now: float) -> frozenset[Cell]:
        """And those where spacing lets nobody begin yet. Returns them."""
        kept = {
            cell: place for cell, place in self._places.items() if cell in used or place.used or place.free_at > now
        }
        self._places, self._freed = kept, self._freed & kept.keys()
        return frozenset(kept)

    def joined(self, cells: Iterable[Cell]) -> None:
        for cell in cells:
            self._at(cell).groups += 1
            self._freed.add(cell)

    def left(self, cells: Iterable[Cell]) -> None:
        for cell in cells:
            self._at(cell).groups -= 1

    def taken(self, cells: Iterable[Cell]) -> None:
        for cell in cells:
            place = self._at(cell)
            place.used, place.changed_at = place.used + 1, self.now

    def given_back(self, cells: Iterable[Cell]) -> None:
        for cell in cells:
            place = self._at(cell)
            place.used, place.changed_at = place.used - 1, self.now
            self._freed.add(cell)

    def begun(self, cells: Iterable[Cell], now: float) -> None:
        """A group begins in them."""
        for cell in cells:
            self._at(cell).begun_at = now

    def free_at(self, cell: Cell) -> float:
        """When spacing lets the next group begin: long ago, where none has begun."""
        return self._at(cell).free_at

    def freed(self, cells: Iterable[Cell]) -> None:
        """Somebody who waits there may have room by now."""
        self._freed.update(cells)

    def freed_cells(self) -> tuple[Cell, ...]:
        """The cells that may have gained room since somebody looked."""
        return tuple(self._freed)

    def looked_at(self, cell: Cell) -> None:
        self._freed.discard(cell)

    def room(self, cell: Cell, now: float) -> int:
        place = self._at(cell)
        return place.room if place.free_at <= now else 0

    def stuck_at(self, cell: Cell, after_s: float) -> float:
        """When nobody will have begun or ended for so long in this cell, which has no room; infinite where it has some,
        or is shut."""
        place = self._at(cell)
        return place.changed_at + after_s if place.room <= 0 and not place.limit.shut else inf

    def overfull(self, cells: Iterable[Cell]) -> bool:
        """Whoever moves while a cell is shut had begun before: that it is shut stops nobody."""
        places = (self._at(cell) for cell in cells)
        return any(each.limit.of(each.groups) < each.used for each in places if not each.limit.shut)

    def bear(self, claim: Claim, others: Iterable[Claim]) -> bool:
        """Whether those who move there are no more than may. `others` count only while they move."""
        still = Counter(cell for each in others if not each.moving for cell in each.takes)
        uses = ((cell, *self.use(cell)) for cell in claim.takes if not self.is_shut(cell))
        return all(used - still[cell] <= limit for cell, limit, used in uses)

    def is_spaced(self, cell: Cell) -> bool:
        place = self._at(cell)
        return place.limit.spacing_s > 0 and place.begun_at > -inf

    def is_shut(self, cell: Cell) -> bool:
        return self._at(cell).limit.shut

    def use(self, cell: Cell) -> tuple[int, int]:
        """The limit in force, and how many groups move."""
        place = self._at(cell)
        return place.limit.of(place.groups), place.used

    def takes_up(self, claim: Claim, known: Claim) -> None:
        """What changes between two claims of one group: the cells it belongs to, and those that it counts in."""
        self.left(_without(known.member_of, claim.member_of))
        self.joined(_without(claim.member_of, known.member_of))
        before = known.takes if known.standing.counts else ()
        after = claim.takes if claim.standing.counts else ()
        self.given_back(_without(before, after))
        self.taken(_without(after, before))

    def _at(self, cell: Cell) -> _Place:
        place = self._places.get(cell)
        if place is None:
            place = self._places[cell] = _Place()
        return place


def _without(cells: Cells, others: Cells) -> Cells:
    """Both are in order: what is another one stands between what they begin and end with alike."""
    if cells == others:
        return ()
    first = next((at for at, pair in enumerate(zip(cells, others, strict=False)) if pair[0] != pair[1]), None)
    first = min(len(cells), len(others)) if first is None else first
    without = {*others[first:]}
    return tuple(cell for cell in cells[first:] if cell not in without)
