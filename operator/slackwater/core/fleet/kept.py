"""One fleet as the ledger keeps it: what it says, what has gone wrong in it, and what is known of its groups."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from math import inf

from slackwater.api.fleet_budgets import Budget
from slackwater.api.fleet_times import UnderWay
from slackwater.core.fleet.claim import Cell, Limit
from slackwater.core.fleet.claims import (
    ACCEPTED,
    FREEZES,
    GATES,
    HALTS,
    NO_LIMIT,
    SHUT,
    WINDOWS,
    Fleet,
    gate_of,
    sick_place,
    stop_of,
)
from slackwater.core.fleet.halts import Halts
from slackwater.core.fleet.tally import Tally
from slackwater.core.fleet.times import Gates


@dataclass(slots=True)
class Kept:
    """One fleet, and what is known of its groups."""

    fleet: Fleet
    gates: Gates = field(default_factory=Gates)
    halts: Halts = field(default_factory=Halts)
    tally: Tally = field(default_factory=Tally)
    shut: frozenset[Cell] = frozenset()
    """Its cells that let nobody begin."""
    is_coming: bool = False
    """Not all of its groups have been taken up yet: what is not known lets nobody begin."""

    def shut_now(self) -> frozenset[Cell]:
        key = self.fleet.key
        by_time = {gate_of(key, name) for name in self.gates.shut} | {stop_of(key, name) for name in self.gates.stops}
        places = {sick_place(key, place) for place in self.halts.shut_places}
        coming = {each(key, ACCEPTED) for each in (gate_of, stop_of)} if self.is_coming else ()
        return frozenset({*by_time, *self._halted, *self._stopped_by_halts, *places, *coming})

    @property
    def shut_to_all(self) -> frozenset[Cell]:
        """Those of its cells that keep every group from beginning, but whom something lets through."""
        return self.shut & {gate_of(self.fleet.key, name) for name in GATES}

    @property
    def stops(self) -> frozenset[Cell]:
        """Its cells at which whoever has begun stops as well."""
        key, halted = self.fleet.key, self._halted if self.fleet.spec.halt.under_way is UnderWay.STOP else frozenset()
        by_time = {each(key, name) for name in self.gates.stops for each in (gate_of, stop_of)}
        return frozenset({*by_time, *halted, *self._stopped_by_halts})

    @property
    def _stopped_by_halts(self) -> frozenset[Cell]:
        stops = self.fleet.spec.halt.under_way is UnderWay.STOP and self.halts.by_failures is not None
        return frozenset({stop_of(self.fleet.key, HALTS)} if stops else ())

    def limit_of(self, cell: Cell) -> Limit:
        """What it says of one of its cells now."""
        if not cell.budget:
            return SHUT if cell in self.shut else NO_LIMIT
        budget = next((each for each in self.fleet.spec.budgets if each.name == cell.budget), None)
        if budget is None or not self._is_in_force(budget):
            return NO_LIMIT
        spacing_s = budget.spacing_ms / 1000
        if isinstance(budget.max, int):
            return Limit(number=budget.max, spacing_s=spacing_s)
        return Limit(percent=int(budget.max.removesuffix("%")), spacing_s=spacing_s)

    def _is_in_force(self, budget: Budget) -> bool:
        is_open = self.gates.open_windows
        return (budget.during is None or budget.during in is_open) and budget.outside not in is_open

    def ends_by(self, takes: Collection[Cell]) -> Iterator[float]:
        """The moments before which has to end what begins now, and does not pass them."""
        for gate, at in ((WINDOWS, self.gates.closes_at), (FREEZES, self.gates.freezes_at)):
            if at is not None and gate_of(self.fleet.key, gate) in takes:
                yield at

    @property
    def _halted(self) -> frozenset[Cell]:
        """By what is known to have gone wrong."""
        key, halts = self.fleet.key, self.halts
        by_failures = [gate_of(key, HALTS)] if halts.by_failures is not None else []
        return frozenset({*by_failures, *(sick_place(key, place) for place in halts.by_disturbance)})

    @property
    def due_at(self) -> float:
        """When time alone changes something; infinite: never."""
        return min(at for at in (self.gates.until, self.halts.lifts_at, inf) if at is not None)
