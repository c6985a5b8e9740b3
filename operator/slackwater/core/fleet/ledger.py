"""All groups and all fleets, as the allocator counts them: kept by changes, in memory, by whoever leads.

A group's change costs as much as there are fleets that select it, a fleet's as much as there are groups.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping

from slackwater.api.fleet_budgets import Budget
from slackwater.core.fleet.allocation import Allocator
from slackwater.core.fleet.claim import Cell, Claim, Limit
from slackwater.core.fleet.claims import GATES, NO_LIMIT, SHUT, Fleet, claim_of
from slackwater.core.fleet.facts import GroupFacts

Called = tuple[str, ...]
"""The groups that may begin now, by `namespace/name`, in order."""


class Ledger:
    def __init__(self, call_s: float = 120.0) -> None:
        self.allocator = Allocator(call_s)
        self._fleets: dict[str, Fleet] = {}
        self._groups: dict[str, GroupFacts] = {}
        self._cells: set[Cell] = set()
        """Those whose limit the allocator knows."""
        self._shut: set[Cell] = set()
        self._open_windows: dict[str, frozenset[str]] = {}
        self._coordinators: defaultdict[str, Counter[int]] = defaultdict(Counter)
        """By Kafka cluster, how many groups each broker is known to coordinate."""

    def began(self, fleets: Iterable[Fleet], groups: Iterable[GroupFacts], now: float) -> Called:
        """As they were listed after the lease was taken."""
        self._fleets = {fleet.key: fleet for fleet in fleets}
        for group in groups:
            self._know(group)
        return self.allocator.began(self._claims(self._groups.values()), now)

    def relisted(self, groups: Iterable[GroupFacts], now: float) -> Called:
        """All groups, as they were listed at `allocator.relist_at` or later."""
        found = list(groups)
        for group in found:
            self._know(group)
        return self.allocator.relisted(self._claims(found), now)

    def changed(self, group: GroupFacts, now: float) -> Called:
        return self.all_changed((group,), now)

    def all_changed(self, groups: Iterable[GroupFacts], now: float) -> Called:
        """At once: of those who ask, the first in order is called first, whichever comes first here."""
        concerned: dict[str, GroupFacts] = {}
        for group in groups:
            if self._groups.get(group.key) != group:
                concerned |= {each.key: each for each in (*self._know(group), group)}
        return self.allocator.changed(self._claims(concerned.values()), now) if concerned else ()

    def gone(self, key: str, now: float) -> Called:
        group = self._groups.pop(key, None)
        if group is None:
            return ()
        self._count(group, -1)
        self.allocator.gone(key)
        return self.allocator.changed((), now)

    def put(self, fleet: Fleet, now: float) -> Called:
        """A fleet that is new, or says something else."""
        before = self._fleets.get(fleet.key)
        self._fleets[fleet.key] = fleet
        self.allocator.limited(self._limits(cell for cell in self._cells if cell.fleet == fleet.key))
        concerned = (g for g in self._groups.values() if fleet.selects(g) or (before is not None and before.selects(g)))
        return self.allocator.changed(self._claims(concerned), now)

    def remove(self, key: str, now: float) -> Called:
        """A fleet that was deleted constrains nobody."""
        fleet = self._fleets.pop(key, None)
        if fleet is None:
            return ()
        self._shut -= {fleet.gate(name) for name in GATES}
        return self.allocator.changed(self._claims(g for g in self._groups.values() if fleet.selects(g)), now)

    def shut(self, key: str, gate: str, now: float, *, is_shut: bool) -> Called:
        """Something keeps every group of the fleet from beginning (`GATES`), or does so no more."""
        cell = Cell(key, "", gate)
        self._shut = self._shut | {cell} if is_shut else self._shut - {cell}
        self.allocator.limited([(cell, SHUT if is_shut else NO_LIMIT)])
        return self.allocator.changed((), now)

    def opened(self, key: str, windows: frozenset[str], now: float) -> Called:
        """Which windows of the fleet are open: budgets may be in force in one, or outside of it."""
        self._open_windows[key] = windows
        self.allocator.limited(self._limits(cell for cell in self._cells if cell.fleet == key))
        return self.allocator.changed((), now)

    def _know(self, group: GroupFacts) -> tuple[GroupFacts, ...]:
        """Returns those whose cells follow from it: nobody knows their coordinator, and another one is known now."""
        before = self._groups.get(group.key)
        known = {cluster: frozenset(+found) for cluster, found in self._coordinators.items()}
        if before is not None:
            self._count(before, -1)
        self._groups[group.key] = group
        self._count(group, +1)
        clusters = {each.cluster for each in (before, group) if each is not None and each.cluster is not None}
        changed = {each for each in clusters if known.get(each, frozenset()) != frozenset(+self._coordinators[each])}
        if not changed:
            return ()
        others = (each for each in self._groups.values() if each.key != group.key)
        return tuple(each for each in others if each.coordinator is None and each.cluster in changed)

    def _count(self, group: GroupFacts, by: int) -> None:
        if group.cluster is not None and group.coordinator is not None:
            self._coordinators[group.cluster][group.coordinator] += by

    def _claims(self, groups: Iterable[GroupFacts]) -> list[Claim]:
        known: Mapping[str, frozenset[int]] = {k: frozenset(+found) for k, found in self._coordinators.items()}
        fleets = tuple(self._fleets.values())
        claims = [claim_of(group, [each for each in fleets if each.selects(group)], known) for group in groups]
        new = {cell for claim in claims for cell in claim.takes | claim.member_of} - self._cells
        self._cells |= new
        self.allocator.limited(self._limits(new))
        return claims

    def _limits(self, cells: Iterable[Cell]) -> list[tuple[Cell, Limit]]:
        return [(cell, self._limit(cell)) for cell in cells]

    def _limit(self, cell: Cell) -> Limit:
        fleet = self._fleets.get(cell.fleet)
        if not cell.budget or fleet is None:
            return SHUT if cell in self._shut else NO_LIMIT
        budget = next((each for each in fleet.spec.budgets if each.name == cell.budget), None)
        if budget is None or not self._is_in_force(fleet, budget):
            return NO_LIMIT
        spacing_s = budget.spacing_ms / 1000
        if isinstance(budget.max, int):
            return Limit(number=budget.max, spacing_s=spacing_s)
        return Limit(percent=int(budget.max.removesuffix("%")), spacing_s=spacing_s)

    def _is_in_force(self, fleet: Fleet, budget: Budget) -> bool:
        windows = self._open_windows.get(fleet.key, frozenset())
        return (budget.during is None or budget.during in windows) and budget.outside not in windows
