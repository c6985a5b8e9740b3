"""What the allocator knows of a group, and of the cells of budgets that it counts in."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, NamedTuple


class Cell(NamedTuple):
    """One place in which a budget counts, such as one coordinator. A budget of `per: Fleet` has a single one.

    A tuple, since whatever is counted is looked up by it: that is most of what a turn's end costs.
    """

    fleet: str
    """`namespace/name`."""
    budget: str
    place: str = ""


CAMPAIGN: Final = "campaign/"
"""What the cells of campaigns have before `namespace/name`: no fleet is called so."""


@dataclass(frozen=True, slots=True)
class Limit:
    """How many groups of a cell may move at a time: a number, or else a share of all that are in it.

    0 shuts the cell: so a pause or a window that is closed is a cell like any other.
    """

    number: int | None = None
    percent: int = 0
    spacing_s: float = 0.0
    """The time between two groups that begin."""

    @property
    def shut(self) -> bool:
        return self.number == 0

    def of(self, groups: int) -> int:
        """A share is rounded down, and is 1 at least: less would let nobody begin, for which there is `pause`."""
        return max(1, groups * self.percent // 100) if self.number is None else self.number


class Standing(StrEnum):
    """Where a group is on its way."""

    RESTS = "Rests"
    ASKS = "Asks"
    HAS = "Has"
    """Its turn is written in its status."""
    MENDS = "Mends"
    """It moves by a remedy, which is counted and asks nobody."""
    STANDS = "Stands"
    """Its remedy has made no step for long: it counts nowhere until it makes one, which asks nobody."""
    SETTLES = "Settles"
    """It is done, and counts for a while yet."""

    @property
    def counts(self) -> bool:
        return self in (Standing.HAS, Standing.MENDS, Standing.SETTLES)


Cells = tuple[Cell, ...]
"""In order, each once. Ten thousand groups have two of these each, and a set would take five times the memory."""


def in_order(cells: Iterable[Cell]) -> Cells:
    return tuple(sorted({*cells}))


@dataclass(frozen=True, slots=True)
class Claim:
    """A group as the allocator sees it. An equal claim changes nothing."""

    group: str
    """`namespace/name`."""
    member_of: Cells = ()
    """All cells that it belongs to: shares are of these."""
    takes: Cells = ()
    """The cells that its turn takes room of, for the reason that it moves for."""
    standing: Standing = Standing.RESTS
    order: tuple[float, int] = (0.0, 0)
    """When it asked less its head start, and a hash for those who asked at once. It does not change while the group
    waits: whoever asks later by more than the longest head start comes later, so that nobody waits for ever."""
    asked_at: float = 0.0
    """In seconds since the epoch, as all times here."""
    moving: bool = False
    """A pod of it is away, by its turn."""
    counts_until: float = 0.0
    """When a group that settles stops counting."""
