"""What the allocator is told of each cell: by the fleet whose it is, or by a campaign.

The cells in use are kept by fleet: that one says something else costs nothing for the cells of all others.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from typing import Final

from slackwater.core.fleet.allocation import Allocator
from slackwater.core.fleet.claim import Cell, Limit
from slackwater.core.fleet.claims import HELD, NO_LIMIT, SHUT, cells_anywhere
from slackwater.core.fleet.coordinators import Coordinators
from slackwater.core.fleet.selection import Selection

DROPS_FROM: Final = 1000
"""So many cells more than twice those in use are kept: places, topics and campaigns come and go."""


class Limits:
    def __init__(self, allocator: Allocator, selection: Selection, coordinators: Coordinators) -> None:
        self._allocator, self._selection, self._coordinators = allocator, selection, coordinators
        self._cells: set[Cell] = set()
        """Those whose limit the allocator knows."""
        self._of_fleet: defaultdict[str, set[Cell]] = defaultdict(set)
        self._drop_at = DROPS_FROM
        self._besides: Mapping[Cell, Limit] = {HELD: SHUT}
        """Limits of cells that are no fleet's."""

    def besides(self, limits: Mapping[Cell, Limit]) -> bool:
        """What campaigns say of their cells. False: nothing else than before."""
        known, self._besides = self._besides, {**limits, HELD: SHUT}
        cells = [cell for cell in {*known, *self._besides} if known.get(cell) != self._besides.get(cell)]
        self._tell(cells)
        return bool(cells)

    def use(self, cells: set[Cell], regrouped: Collection[str], now: float) -> None:
        """What of these is new gets its limit, and so do the cells of groups at rest that may be at a new broker of the
        `regrouped` Kafka clusters."""
        cells = cells | self._anywhere(regrouped) if regrouped else cells
        if len(self._cells) + len(cells - self._cells) > self._drop_at:
            self._keep_only(self._allocator.drop_unused(now))
            cells |= self._anywhere(self._coordinators.known)
            self._drop_at = 2 * len(self._cells | cells) + DROPS_FROM
        new = cells - self._cells
        self._cells |= new
        for cell in new:
            self._of_fleet[cell.fleet].add(cell)
        self._tell(new)

    def say(self, fleets: Iterable[str]) -> None:
        """What the budgets of these fleets say may have changed, or whether they are in force."""
        for fleet in fleets:
            self._tell(self._of_fleet.get(fleet, ()))

    def cells_of(self, fleet: str) -> tuple[Cell, ...]:
        """The cells of a fleet's budgets, in order."""
        return tuple(sorted(cell for cell in self._of_fleet.get(fleet, ()) if cell.budget))

    def _tell(self, cells: Iterable[Cell]) -> None:
        self._allocator.limited([(cell, self._limit(cell)) for cell in cells])

    def _keep_only(self, cells: frozenset[Cell]) -> None:
        self._cells &= cells
        self._of_fleet.clear()
        for cell in self._cells:
            self._of_fleet[cell.fleet].add(cell)

    def _anywhere(self, clusters: Iterable[str]) -> set[Cell]:
        """The cells of groups whose coordinator nobody knows, whether they ask or rest."""
        known = self._coordinators.known
        found = [(kept, cluster) for cluster in clusters for kept in self._selection.kept.values()]
        return {
            cell
            for kept, cluster in found
            for cell in cells_anywhere(
                kept.fleet, kept.tally.reasons_anywhere(cluster), cluster, known.get(cluster, ())
            )
        }

    def _limit(self, cell: Cell) -> Limit:
        if cell in self._besides:
            return self._besides[cell]
        kept = self._selection.kept.get(cell.fleet)
        return NO_LIMIT if kept is None else kept.limit_of(cell)
