"""All groups and all fleets, as the allocator counts them: kept by changes, in memory, by whoever leads.

A group's change costs as much as there are fleets that select it, a fleet's as much as there are groups. Whatever is
taken up, limits come first and calls last: a group that failed halts its fleet before its room is given to the next.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Mapping, Set
from dataclasses import replace
from sys import maxsize

from slackwater.api.fleet_budgets import MoveReason
from slackwater.core.fleet.allocation import Allocator
from slackwater.core.fleet.claim import Cell, Claim, Limit, Standing
from slackwater.core.fleet.claims import HELD, NO_LIMIT, SHUT, Fleet, claim_of, sick_place
from slackwater.core.fleet.coordinators import Coordinators
from slackwater.core.fleet.facts import GroupFacts
from slackwater.core.fleet.halts import Halts
from slackwater.core.fleet.kept import Kept
from slackwater.core.fleet.limits import Limits
from slackwater.core.fleet.selection import Selection
from slackwater.core.fleet.steps import AT_ONCE, done, in_parts
from slackwater.core.fleet.timers import Elapsed
from slackwater.core.fleet.times import Gates

Called = tuple[str, ...]
"""The groups that may begin now, go on or have to stop, by `namespace/name`, in order."""


class Ledger:
    def __init__(self, call_s: float = 120.0, elapsed: Elapsed = None, looks: int = maxsize) -> None:
        self.allocator = Allocator(call_s, self.closes_before_it_ends, elapsed)
        self.allocator.looks = looks
        self._groups: dict[str, GroupFacts] = {}
        self._selection = Selection()
        self._coordinators = Coordinators()
        self._limits = Limits(self.allocator, self._selection, self._coordinators)
        self._regrouped: set[str] = set()
        """Kafka clusters in which other brokers are known, and the cells of groups at rest not looked at since."""

    def began(self, fleets: Iterable[Fleet | Kept], groups: Iterable[GroupFacts], now: float) -> Called:
        """As they were listed after the lease was taken."""
        return done(self.beginning(fleets, groups, now))

    def beginning(
        self, fleets: Iterable[Fleet | Kept], groups: Iterable[GroupFacts], now: float
    ) -> Generator[None, None, Called]:
        """The same, some groups at a time: before the last step nobody is called, and nothing else may be asked."""
        for each in fleets:
            self._selection.put(each if isinstance(each, Kept) else Kept(each))
        for number, group in enumerate(groups, start=1):
            self._know(group)
            if number % AT_ONCE == 0:
                yield
        parts, claims = list(in_parts(tuple(self._groups.values()))), list[Claim]()
        for part in parts:
            for group in part:
                self._selection.select(group)
            yield
        for kept in self._selection.kept.values():
            self._judge(kept, now)
        for part in parts:
            claims += self._claims(part, now)
            yield
        self._limits.say(self._selection.kept)
        return (yield from self.allocator.beginning(claims, now))

    def relisted(self, groups: Iterable[GroupFacts], now: float) -> Called:
        """All groups, as they were listed at `allocator.relist_at` or later, but for those known so already."""
        found = list(groups)
        for group in found:
            self._know(group)
        return self.allocator.relisted(self._taken_up(found, (), now), now)

    def changed(self, group: GroupFacts, now: float) -> Called:
        return self.all_changed((group,), now)

    def all_changed(self, groups: Iterable[GroupFacts], now: float, *, anyway: bool = False) -> Called:
        """At once: of those who ask, the first in order is called first, whichever comes first here. `anyway`: also who
        is known so already, since fleets say something else of it."""
        concerned: dict[str, GroupFacts] = {}
        for group in groups:
            known = self._groups.get(group.key)
            if known is not None and known.takes_s != group.takes_s:
                self.allocator.look_again(
                    group.key
                )  # by its history, or for fewer pods, it may fit into a window by now
            if known != group:
                concerned |= {each.key: each for each in (*self._know(group), group)}
            elif anyway:
                concerned[group.key] = self._groups[group.key]
        return self.allocator.changed(self._taken_up(concerned.values(), (), now), now) if concerned else ()

    def ordered(self, limits: Mapping[Cell, Limit], groups: Iterable[GroupFacts], now: float) -> Called:
        """What campaigns say: the limits of their cells, and whose facts are others by that."""
        is_other = self._limits.besides(limits)
        called = self.all_changed(groups, now)
        return (*called, *self.ticked(now)) if is_other else called

    def gone(self, key: str, now: float) -> Called:
        group = self._groups.pop(key, None)
        if group is None:
            return ()
        self._regrouped |= self._coordinators.changed(group, None)
        concerned = self._selection.gone(key)
        self.allocator.gone(key)
        return self.allocator.changed(self._taken_up((), concerned, now), now)

    def put(self, fleet: Fleet, now: float, gates: Gates | None = None, halts: Halts | None = None) -> Called:
        """A fleet that is new, or says something else. `gates`: what its spec says now; None: as before. `halts`: of
        one that is new, what its status says."""
        kept, stops = self._said(fleet, gates, halts)
        claims = self._taken_up([self._groups[name] for name in self.concerned(fleet)], [fleet.key], now)
        return (*self.allocator.changed(claims, now), *self._stopped_or_not(kept, stops))

    def concerned(self, fleet: Fleet) -> tuple[str, ...]:
        """The groups that it selects, or selected by what it said before."""
        kept, groups = self._selection.kept.get(fleet.key), self._groups.items()
        before = () if kept is None else kept.tally
        return tuple(key for key, group in groups if fleet.selects(group) or key in before)

    def comes(self, fleet: Fleet, now: float, gates: Gates | None = None, halts: Halts | None = None) -> Called:
        """As `put`, but its groups are taken up later, some at a time (`all_changed` with `anyway`): it is shut to all
        until `has_come`. What it stops is stopped at once, of those that it selected before."""
        kept, stops = self._said(fleet, gates, halts)
        kept.is_coming = True
        self._shut(kept)
        self._limits.say([fleet.key])
        return (*self.allocator.changed((), now), *self._stopped_or_not(kept, stops))

    def has_come(self, key: str, now: float) -> Called:
        """All that it selects, and all that it selected before, have been taken up."""
        kept = self._selection.kept[key]
        kept.is_coming = False
        self.allocator.look_again()
        return self.allocator.changed(self._taken_up((), [key], now), now)

    def remove(self, key: str, now: float) -> Called:
        """A fleet that was deleted constrains nobody."""
        concerned = [self._groups[name] for name in self.leaves(key)]
        return self.allocator.changed(self._taken_up(concerned, (), now), now)

    def leaves(self, key: str) -> tuple[str, ...]:
        """As `remove`, but its groups are taken up later, some at a time. Returns them."""
        if key not in self._selection.kept:
            return ()
        self.allocator.look_again()
        return self._selection.leave(key)

    def _said(self, fleet: Fleet, gates: Gates | None, halts: Halts | None) -> tuple[Kept, frozenset[Cell]]:
        """Returns what it stopped before, too."""
        kept = self._selection.kept.get(fleet.key) or Kept(fleet, halts=halts or Halts())
        stops = kept.stops
        kept.fleet, kept.gates = fleet, kept.gates if gates is None else gates
        self._selection.put(kept)
        self.allocator.look_again()
        return kept, stops

    def passed(self, key: str, gates: Gates, now: float) -> Called:
        """Time has changed what a fleet's spec says. By an override, its groups are in other cells."""
        kept = self._selection.kept[key]
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
        kept = self._selection.kept[key]
        stops = kept.stops
        kept.halts.resume(now)
        claims = self._taken_up((), [key], now)
        return (*self.allocator.changed(claims, now), *self._stopped_or_not(kept, stops))

    def kept(self, key: str) -> Kept | None:
        return self._selection.kept.get(key)

    def fleets(self) -> tuple[Kept, ...]:
        return tuple(self._selection.kept.values())

    def fleets_of(self, group: str) -> tuple[str, ...]:
        """Those that select it, by name."""
        return self._selection.fleets_of(group)

    def asks_for(self, group: str) -> frozenset[MoveReason]:
        """For what budgets of its fleets count it, besides what always asks."""
        fleets = (kept.fleet for kept in self._selection.of(group))
        return frozenset(reason for fleet in fleets for budget in fleet.spec.budgets for reason in budget.reasons)

    def waiting_in(self, fleet: str) -> int:
        """How many of its groups wait for their turn."""
        return kept.tally.of(Standing.ASKS) if (kept := self._selection.kept.get(fleet)) is not None else 0

    def facts(self, group: str) -> GroupFacts | None:
        return self._groups.get(group)

    def may_begin(self, group: str, now: float) -> bool:
        """It is called, nothing has shut since, and it ends before the window does. Where it does not, its call lapses,
        and others go."""
        shut = ({HELD}, *(kept.shut for kept in self._selection.of(group)))
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
            for kept in self._selection.of(group)
            for at in kept.ends_by(takes)
            if now + (kept.tally.takes_s(facts) if takes_s is None else takes_s) > at
        )
        return min(found, default=None)

    def may_go_on(self, group: str) -> bool:
        """It has its turn, which is good, and nothing stops it between two pods."""
        return self.allocator.may_act(group) and not self._meets(
            group, (kept.stops for kept in self._selection.of(group))
        )

    def let_through(self, group: str) -> tuple[str, ...]:
        """Those of its fleets that keep all others from beginning now."""
        takes, facts = self.allocator.claim_of(group).takes, self._groups.get(group)
        if facts is not None and facts.has_begun:
            return ()  # it only goes on
        return tuple(kept.fleet.key for kept in self._selection.of(group) if kept.shut_to_all.difference(takes))

    def cells_of(self, key: str) -> tuple[Cell, ...]:
        """The cells of a fleet's budgets, in order."""
        return self._limits.cells_of(key)

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
        found, listed = list(groups), {*fleets}
        touched = listed.union(*(self._selection.select(group) for group in found))
        kept = self._selection.kept
        sick = {key for fleet in touched & kept.keys() for key in self._judge(kept[fleet], now)}
        also = (self._groups[key] for key in sorted(sick - {group.key for group in found}))
        claims = self._claims([*found, *also], now)
        self._limits.say(listed)
        return claims

    def _judge(self, kept: Kept, now: float) -> set[str]:
        """Returns whom the coordinator that shuts now is not to hold back: they are disturbed, and may be mended. Where
        not all of its groups are known yet, it is shut anyway."""
        if kept.is_coming:
            return set()
        places = kept.halts.shut_places
        kept.halts.judge(kept.fleet.spec.halt, kept.tally, now)
        self._shut(kept)
        return {key for place in kept.halts.shut_places - places for key in kept.tally.sick_at(place)}

    def _shut(self, kept: Kept) -> None:
        shut, kept.shut = kept.shut, kept.shut_now()
        self.allocator.limited([(cell, SHUT) for cell in kept.shut - shut])
        self.allocator.limited([(cell, NO_LIMIT) for cell in shut - kept.shut])

    def _claims(self, groups: Iterable[GroupFacts], now: float) -> list[Claim]:
        known = self._coordinators.known
        claims = [self._claim(group, known) for group in groups]
        regrouped, self._regrouped = self._regrouped, set()
        self._limits.use({cell for claim in claims for cell in (*claim.takes, *claim.member_of)}, regrouped, now)
        return claims

    def _claim(self, group: GroupFacts, known: Mapping[str, frozenset[int]]) -> Claim:
        kept = tuple(self._selection.of(group.key))
        claim = claim_of(group, [each.fleet for each in kept], known, self._selection.parts(group, known))
        if not group.is_sick:
            return claim
        shut = frozenset(sick_place(each.fleet.key, place) for each in kept for place in each.halts.shut_places)
        return replace(claim, takes=tuple(cell for cell in claim.takes if cell not in shut))
