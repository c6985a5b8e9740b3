"""All groups and all fleets, as the allocator counts them: kept by changes, in memory, by whoever leads.

A group's change costs as much as there are fleets that select it, a fleet's as much as there are groups. Whatever is
taken up, limits come first and calls last: a group that failed halts its fleet before its room is given to the next.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Set
from dataclasses import replace
from typing import Final

from slackwater.api.fleet_budgets import MoveReason
from slackwater.core.fleet.allocation import Allocator
from slackwater.core.fleet.claim import Cell, Claim, Limit, Standing
from slackwater.core.fleet.claims import HELD, NO_LIMIT, SHUT, Fleet, cells_anywhere, claim_of, sick_place
from slackwater.core.fleet.coordinators import Coordinators
from slackwater.core.fleet.facts import GroupFacts
from slackwater.core.fleet.halts import Halts
from slackwater.core.fleet.kept import Kept
from slackwater.core.fleet.timers import Elapsed
from slackwater.core.fleet.times import Gates

Called = tuple[str, ...]
"""The groups that may begin now, go on or have to stop, by `namespace/name`, in order."""

DROPS_FROM: Final = 1000
"""So many cells more than twice those in use are kept: places, topics and campaigns come and go."""


class Ledger:
    def __init__(self, call_s: float = 120.0, elapsed: Elapsed = None) -> None:
        self.allocator = Allocator(call_s, self.closes_before_it_ends, elapsed)
        self._kept: dict[str, Kept] = {}
        self._groups: dict[str, GroupFacts] = {}
        self._fleets_of: dict[str, tuple[str, ...]] = {}
        self._cells: set[Cell] = set()
        """Those whose limit the allocator knows."""
        self._drop_at = DROPS_FROM
        self._coordinators = Coordinators()
        self._regrouped: set[str] = set()
        """Kafka clusters in which other brokers are known, and the cells of groups at rest not looked at since."""
        self._besides: Mapping[Cell, Limit] = {HELD: SHUT}
        """Limits of cells that are no fleet's."""

    def began(self, fleets: Iterable[Fleet | Kept], groups: Iterable[GroupFacts], now: float) -> Called:
        """As they were listed after the lease was taken."""
        for each in fleets:
            kept = each if isinstance(each, Kept) else Kept(each)
            self._kept[kept.fleet.key] = kept
        for group in groups:
            self._know(group)
        claims = self._taken_up(self._groups.values(), self._kept, now)
        return self.allocator.began(claims, now)

    def relisted(self, groups: Iterable[GroupFacts], now: float) -> Called:
        """All groups, as they were listed at `allocator.relist_at` or later."""
        found = list(groups)
        for group in found:
            self._know(group)
        return self.allocator.relisted(self._taken_up(found, (), now), now)

    def changed(self, group: GroupFacts, now: float) -> Called:
        return self.all_changed((group,), now)

    def all_changed(self, groups: Iterable[GroupFacts], now: float) -> Called:
        """At once: of those who ask, the first in order is called first, whichever comes first here."""
        concerned: dict[str, GroupFacts] = {}
        for group in groups:
            known = self._groups.get(group.key)
            if known is not None and known.takes_s != group.takes_s:
                self.allocator.look_again(
                    group.key
                )  # by its history, or for fewer pods, it may fit into a window by now
            if known != group:
                concerned |= {each.key: each for each in (*self._know(group), group)}
        return self.allocator.changed(self._taken_up(concerned.values(), (), now), now) if concerned else ()

    def ordered(self, limits: Mapping[Cell, Limit], groups: Iterable[GroupFacts], now: float) -> Called:
        """What campaigns say: the limits of their cells, and whose facts are others by that."""
        known, self._besides = self._besides, {**limits, HELD: SHUT}
        cells = [cell for cell in {*known, *self._besides} if known.get(cell) != self._besides.get(cell)]
        self.allocator.limited([(cell, self._limit(cell)) for cell in cells])
        called = self.all_changed(groups, now)
        return (*called, *self.ticked(now)) if cells else called

    def gone(self, key: str, now: float) -> Called:
        group = self._groups.pop(key, None)
        if group is None:
            return ()
        self._regrouped |= self._coordinators.changed(group, None)
        concerned = self._fleets_of.pop(key, ())
        for fleet in concerned:
            self._kept[fleet].tally.drop(key)
        self.allocator.gone(key)
        return self.allocator.changed(self._taken_up((), concerned, now), now)

    def put(self, fleet: Fleet, now: float, gates: Gates | None = None, halts: Halts | None = None) -> Called:
        """A fleet that is new, or says something else. `gates`: what its spec says now; None: as before. `halts`: of
        one that is new, what its status says."""
        kept = self._kept.setdefault(fleet.key, Kept(fleet, halts=halts or Halts()))
        stops = kept.stops
        kept.fleet, kept.gates = fleet, kept.gates if gates is None else gates
        self.allocator.look_again()
        concerned = [g for g in self._groups.values() if fleet.selects(g) or g.key in kept.tally]
        claims = self._taken_up(concerned, [fleet.key], now)
        return (*self.allocator.changed(claims, now), *self._stopped_or_not(kept, stops))

    def remove(self, key: str, now: float) -> Called:
        """A fleet that was deleted constrains nobody."""
        kept = self._kept.pop(key, None)
        if kept is None:
            return ()
        concerned = [g for g in self._groups.values() if g.key in kept.tally]
        self.allocator.look_again()
        return self.allocator.changed(self._taken_up(concerned, (), now), now)

    def passed(self, key: str, gates: Gates, now: float) -> Called:
        """Time has changed what a fleet's spec says. By an override, its groups are in other cells."""
        kept = self._kept[key]
        if gates.is_overridden is not kept.fleet.is_overridden:
            return self.put(kept.fleet.overridden(gates.is_overridden), now, gates)
        stops = kept.stops
        kept.gates = gates
        self.allocator.look_again()
        claims = self._taken_up((), [key], now)
        return (*self.allocator.changed(claims, now), *self._stopped_or_not(kept, stops))

    def ticked(self, now: float) -> Called:
        """What time alone has changed: calls that lapse, spacing."""
        return self.allocator.changed((), now)

    def resume(self, key: str, now: float) -> Called:
        """Somebody has seen what failed, and goes on."""
        kept = self._kept[key]
        stops = kept.stops
        kept.halts.resume(now)
        claims = self._taken_up((), [key], now)
        return (*self.allocator.changed(claims, now), *self._stopped_or_not(kept, stops))

    def kept(self, key: str) -> Kept | None:
        return self._kept.get(key)

    def fleets(self) -> tuple[Kept, ...]:
        return tuple(self._kept.values())

    def fleets_of(self, group: str) -> tuple[str, ...]:
        """Those that select it, by name."""
        return self._fleets_of.get(group, ())

    def asks_for(self, group: str) -> frozenset[MoveReason]:
        """For what budgets of its fleets count it, besides what always asks."""
        fleets = (self._kept[each].fleet for each in self.fleets_of(group))
        return frozenset(reason for fleet in fleets for budget in fleet.spec.budgets for reason in budget.reasons)

    def waiting_in(self, fleet: str) -> int:
        """How many of its groups wait for their turn."""
        return self._kept[fleet].tally.of(Standing.ASKS) if fleet in self._kept else 0

    def facts(self, group: str) -> GroupFacts | None:
        return self._groups.get(group)

    def may_begin(self, group: str, now: float) -> bool:
        """It is called, nothing has shut since, and it ends before the window does. Where it does not, its call lapses,
        and others go."""
        shut = ({HELD}, *(kept.shut for kept in self._of(group)))
        is_called = self.allocator.is_called(group) and not self._meets(group, shut)
        return is_called and self.closes_before_it_ends(group, now) is None

    def closes_before_it_ends(self, group: str, now: float, takes_s: float | None = None) -> float | None:
        """When the window closes, or a freeze begins, that a group would not end before, began it now; None: it would.
        `takes_s`: by its own history when not given."""
        takes, facts = self.allocator.claim_of(group).takes, self._groups.get(group)
        if facts is None:
            return None
        found = (
            at
            for kept in self._of(group)
            for at in kept.ends_by(takes)
            if now + (kept.tally.takes_s(facts) if takes_s is None else takes_s) > at
        )
        return min(found, default=None)

    def may_go_on(self, group: str) -> bool:
        """It has its turn, which is good, and nothing stops it between two pods."""
        return self.allocator.may_act(group) and not self._meets(group, (kept.stops for kept in self._of(group)))

    def let_through(self, group: str) -> tuple[str, ...]:
        """Those of its fleets that keep all others from beginning now."""
        takes, facts = self.allocator.claim_of(group).takes, self._groups.get(group)
        if facts is not None and facts.has_begun:
            return ()  # it only goes on
        return tuple(kept.fleet.key for kept in self._of(group) if kept.shut_to_all.difference(takes))

    def cells_of(self, key: str) -> tuple[Cell, ...]:
        """The cells of a fleet's budgets, in order."""
        return tuple(sorted(cell for cell in self._cells if cell.fleet == key and cell.budget))

    def _of(self, group: str) -> Iterable[Kept]:
        return (self._kept[each] for each in self.fleets_of(group))

    def _meets(self, group: str, cells: Iterable[Set[Cell]]) -> bool:
        takes = self.allocator.claim_of(group).takes
        return any(not each.isdisjoint(takes) for each in cells)

    def _stopped_or_not(self, kept: Kept, before: frozenset[Cell]) -> Called:
        """Who has begun, and has to stop or may go on by now."""
        changed = before ^ kept.stops
        having = kept.tally.having(Standing.HAS) if changed else ()
        return tuple(g.key for g in having if self._meets(g.key, [changed]))

    def _know(self, group: GroupFacts) -> tuple[GroupFacts, ...]:
        """Returns those whose claims follow from it: they ask or move, nobody knows their coordinator, and another
        broker is known now."""
        changed = self._coordinators.changed(self._groups.get(group.key), group)
        self._groups[group.key] = group
        self._regrouped |= changed
        return tuple(self._groups[key] for key in self._coordinators.anywhere(changed) if key != group.key)

    def _taken_up(self, groups: Iterable[GroupFacts], fleets: Iterable[str], now: float) -> list[Claim]:
        """The claims of these groups, after the limits of all cells that they, or these fleets, concern."""
        found = list(groups)
        touched = {*fleets}
        for group in found:
            selected = tuple(sorted(key for key, kept in self._kept.items() if kept.fleet.selects(group)))
            before = self._fleets_of.get(group.key, ())
            for key in before:
                if key not in selected and key in self._kept:
                    self._kept[key].tally.drop(group.key)
            for key in selected:
                self._kept[key].tally.put(group)
            self._fleets_of[group.key] = selected
            touched.update(before, selected)
        sick = {key for fleet in touched & self._kept.keys() for key in self._judge(self._kept[fleet], now)}
        also = (self._groups[key] for key in sorted(sick - {group.key for group in found}))
        claims = self._claims([*found, *also], now)
        self._limit_all({*fleets})
        return claims

    def _judge(self, kept: Kept, now: float) -> set[str]:
        """Returns whom the coordinator that shuts now is not to hold back: they are disturbed, and may be mended."""
        shut, places = kept.shut, kept.halts.shut_places
        kept.halts.judge(kept.fleet.spec.halt, kept.tally, now)
        kept.shut = kept.shut_now()
        self.allocator.limited([(cell, SHUT) for cell in kept.shut - shut])
        self.allocator.limited([(cell, NO_LIMIT) for cell in shut - kept.shut])
        return {key for place in kept.halts.shut_places - places for key in kept.tally.sick_at(place)}

    def _claims(self, groups: Iterable[GroupFacts], now: float) -> list[Claim]:
        claims = []
        for group in groups:
            kept = [self._kept[key] for key in self._fleets_of.get(group.key, ())]
            claim = claim_of(group, [each.fleet for each in kept], self._coordinators.known)
            shut = frozenset(sick_place(each.fleet.key, p) for each in kept for p in each.halts.shut_places)
            takes = tuple(cell for cell in claim.takes if cell not in shut)
            claims.append(replace(claim, takes=takes) if group.is_sick else claim)
        self._use({cell for claim in claims for cell in (*claim.takes, *claim.member_of)}, now)
        return claims

    def _use(self, cells: set[Cell], now: float) -> None:
        """What of these is new gets its limit, and so do the cells of groups at rest that may be at a new broker."""
        cells |= self._anywhere(self._regrouped)
        self._regrouped = set()
        if len(self._cells | cells) > self._drop_at:
            self._cells &= self.allocator.drop_unused(now)
            cells |= self._anywhere(self._coordinators.known)
            self._drop_at = 2 * len(self._cells | cells) + DROPS_FROM
        new = cells - self._cells
        self._cells |= new
        self.allocator.limited([(cell, self._limit(cell)) for cell in new])

    def _anywhere(self, clusters: Iterable[str]) -> set[Cell]:
        """The cells of groups whose coordinator nobody knows, whether they ask or rest."""
        known = self._coordinators.known
        found = [(kept, cluster) for cluster in clusters for kept in self._kept.values()]
        return {
            cell
            for kept, cluster in found
            for cell in cells_anywhere(
                kept.fleet, kept.tally.reasons_anywhere(cluster), cluster, known.get(cluster, ())
            )
        }

    def _limit_all(self, fleets: Collection[str]) -> None:
        """What budgets say may have changed, or whether they are in force."""
        if fleets:
            cells = (cell for cell in self._cells if cell.fleet in fleets)
            self.allocator.limited([(cell, self._limit(cell)) for cell in cells])

    def _limit(self, cell: Cell) -> Limit:
        if cell in self._besides:
            return self._besides[cell]
        kept = self._kept.get(cell.fleet)
        return NO_LIMIT if kept is None else kept.limit_of(cell)
