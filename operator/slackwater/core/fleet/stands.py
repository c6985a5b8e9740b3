"""Where a group stands in line, from the allocator's cells to words that people and the telemetry have."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Final

from slackwater.api.telemetry.words import HeldBy
from slackwater.core.fleet.claim import CAMPAIGN, Cell
from slackwater.core.fleet.claims import CELLS_KEPT, FREEZES, HALTS, HELD, STOPS, WINDOWS
from slackwater.core.world.turn import Stand

_GATES: Final[Mapping[str, HeldBy]] = {
    "accepted": HeldBy.NOT_ACCEPTED,
    "pause": HeldBy.PAUSE,
    WINDOWS: HeldBy.WINDOW,
    FREEZES: HeldBy.FREEZE,
    HALTS: HeldBy.HALT,
}
"""By the names of `claims.GATES`."""


def stand_at(cell: Cell | None) -> Stand | None:
    """None: the group stands nowhere."""
    return None if cell is None else _stand(cell)


@lru_cache(maxsize=CELLS_KEPT)
def _stand(cell: Cell) -> Stand:
    """One value for all groups that stand there."""
    if cell == HELD:
        return Stand(HeldBy.ORDER)
    if cell.fleet.startswith(CAMPAIGN):
        return Stand(HeldBy.WAVE, cell.fleet.removeprefix(CAMPAIGN), cell.budget)
    if cell.budget:
        return Stand(HeldBy.BUDGET, cell.fleet, cell.budget, cell.place or None)
    gate, _, place = cell.place.removesuffix(STOPS).partition("@")
    return Stand(_GATES[gate], cell.fleet, place=place or None)
