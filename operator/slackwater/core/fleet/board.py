"""Who waits where, and for whom, as whoever reads the objects can tell: the leader keeps no list that others read.

Calls are in the leader's memory only. Whoever has room here is called there, or will be within a moment.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median
from typing import Final

from slackwater.core.fleet.claim import Cell, Claim, Standing
from slackwater.core.fleet.claims import Fleet, claim_of
from slackwater.core.fleet.facts import GroupFacts
from slackwater.core.fleet.kept import Kept
from slackwater.core.fleet.ledger import Ledger
from slackwater.core.fleet.plan import Outset, Pace, coordinators_of
from slackwater.core.fleet.seen import FleetSeen, Seen, settled
from slackwater.core.fleet.surplus import Surplus, surplus_of

ASSUMED_POD_S: Final = 60.0
"""What a pod takes in a fleet of which no group has been rolled out yet."""
STILL: Final = 0.1
"""The share of its time that is left to a group that has moved for longer than it usually does."""


@dataclass(frozen=True, slots=True)
class Wait:
    """Where one group waits."""

    cell: Cell | None
    """The cell that has no room, or is shut; None: it is called, or about to be."""
    limit: int = 0
    """How many groups may move there at a time; 0: it is shut."""
    place: int = 1
    """In the line of those who need room there; 1: the first."""
    waiting: int = 1
    """How many stand in that line."""
    closes_at: float | None = None
    """When the window closes, or a freeze begins, before which it would not end: so it is not called."""
    holders: tuple[str, ...] = ()
    """The groups that count there, by `namespace/name`, those first that have had their turn for the longest."""


class Board:
    """Of one moment. `fleets` and `groups`: all that can be read."""

    def __init__(self, fleets: Sequence[FleetSeen], groups: Sequence[Seen], now: float) -> None:
        self.now, self._seen = now, tuple(fleets)
        self.fleets = tuple(each.fleet for each in fleets)
        self.groups = {each.key: each for each in groups}
        self.paces = paces(groups, now)
        """How long each usually takes; of one that moves, what is left of that."""
        self._facts = {each.key: self._settled(each) for each in groups}
        known = coordinators_of(self._facts.values())
        self._claims = {
            key: claim_of(facts, [each for each in self.fleets if each.selects(facts)], known)
            for key, facts in self._facts.items()
        }
        self._ledger = Ledger()
        kept = [Kept(each.fleet, replace(each.gates, shut=each.gates.shut | each.shut)) for each in fleets]
        self._ledger.began(kept, self._facts.values(), now)

    def with_group(self, group: Seen) -> Board:
        """The same, with this one as it is known better."""
        return Board(self._seen, tuple({**self.groups, group.key: group}.values()), self.now)

    def of(self, fleet: Fleet) -> list[Seen]:
        """The groups that it selects."""
        return [each for each in self.groups.values() if fleet.selects(each.facts)]

    def surplus_in(self, namespace: str) -> Surplus | None:
        """None: the namespace has no more fleets than count."""
        return surplus_of(namespace, self._seen)

    def is_selected(self, key: str) -> bool:
        return any(fleet.selects(self._facts[key]) for fleet in self.fleets)

    def wait_of(self, key: str) -> Wait | None:
        """None where it waits for no turn."""
        if self._facts[key].standing is not Standing.ASKS:
            return None
        cell = self._ledger.allocator.waits_for(key)
        if cell is None:
            fits_s = self.paces[key].fits_s
            return Wait(None, closes_at=self._ledger.closes_before_it_ends(key, self.now, fits_s))
        line = sorted(claim.order for claim in self._in(cell) if claim.standing is Standing.ASKS)
        holders = sorted((each for each in self._in(cell) if each.standing.counts), key=self._since)
        limit, *_ = self._ledger.allocator.use(cell)
        place = 1 + sum(order < self._claims[key].order for order in line)
        return Wait(cell, limit, place, len(line), holders=tuple(each.group for each in holders))

    def waiting_at(self) -> Mapping[tuple[str, str], int]:
        """How many groups wait at the cells of each budget, by fleet and budget; at gates, by fleet and ""."""
        found: defaultdict[tuple[str, str], int] = defaultdict(int)
        for key, facts in self._facts.items():
            if facts.standing is Standing.ASKS and (cell := self._ledger.allocator.waits_for(key)) is not None:
                found[cell.fleet, cell.budget] += 1
        return found

    def outset(self, fleets: Sequence[Fleet] | None = None, *, slow: bool = False) -> Outset:
        """For a plan of how all of that goes on. `fleets`: instead of those that there are. `slow`: each takes as long
        as nine of ten of its rollouts do at most."""
        return Outset(
            self.fleets if fleets is None else tuple(fleets),
            tuple(self._facts.values()),
            paces(self.groups.values(), self.now, slow=True) if slow else self.paces,
        )

    def _in(self, cell: Cell) -> Iterable[Claim]:
        return (claim for claim in self._claims.values() if cell in claim.takes)

    def _since(self, claim: Claim) -> tuple[float, str]:
        return self.groups[claim.group].given_at or 0.0, claim.group

    def _settled(self, group: Seen) -> GroupFacts:
        longest = max(
            (each.spec.settle_for_ms / 1000 for each in self.fleets if each.selects(group.facts)), default=0.0
        )
        return settled(group, longest, self.now)


def paces(groups: Iterable[Seen], now: float, *, slow: bool = False) -> dict[str, Pace]:
    """By what the rollouts of each have taken; without any, by the median of the others', for as many pods."""
    known = list(groups)
    usual = [(took.p50 / took.pods, took.p90 / took.pods) for each in known if (took := each.memory.took) is not None]
    others = (median(p50 for p50, _ in usual), median(p90 for _, p90 in usual)) if usual else (ASSUMED_POD_S,) * 2
    return {each.key: _pace(each, others, now, slow=slow) for each in known}


def _pace(group: Seen, others: tuple[float, ...], now: float, *, slow: bool) -> Pace:
    pods, took = max(group.facts.replicas, 1), group.memory.took
    per_pod = others if took is None else (took.p50 / took.pods, took.p90 / took.pods)
    p50, p90 = (each * pods for each in per_pod)
    takes_s = p90 if slow else p50
    if group.given_at is not None:
        takes_s = max(takes_s - (now - group.given_at), STILL * takes_s)
    return Pace(takes_s, p90)
