"""From groups and fleets to what the allocator counts: the cells that each group is in, those that its turn takes, and
how many may be in each.

What lets nobody begin is a cell as well, whose limit is 0 while it holds: that a window opens changes one limit, and
none of the groups.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import lru_cache
from hashlib import blake2b
from itertools import chain
from typing import Final

from slackwater.api.consumer_fleet import ConsumerFleetSpec, Passes
from slackwater.api.fleet_budgets import Budget, CountedPer, MoveReason
from slackwater.core.fleet.claim import Cell, Cells, Claim, Limit, in_order
from slackwater.core.fleet.facts import NOT_KNOWN, GroupFacts

EVERYWHERE: Final = "*"
URGENT_S: Final = 86_400.0
"""The head start of a group that is urgent: a campaign's wave asks as of when it began."""
NO_LIMIT: Final = Limit(number=10**9)
SHUT: Final = Limit(number=0)
CELLS_KEPT: Final = 16_384
"""Made once each: a claim has a dozen, and ten thousand groups have most of them in common."""


@dataclass(frozen=True, slots=True)
class Fleet:
    namespace: str
    name: str
    spec: ConsumerFleetSpec
    is_of_the_operator: bool = False
    """It is in the operator's own namespace, and may name others."""
    is_overridden: bool = False
    """Its override is in force."""
    key: str = field(init=False, repr=False, compare=False)
    """`namespace/name`: kept, since each cell of each group asks for it."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "key", f"{self.namespace}/{self.name}")

    def overridden(self, is_overridden: bool) -> Fleet:
        return replace(self, is_overridden=is_overridden)

    def selects(self, group: GroupFacts) -> bool:
        return self.reaches(group.namespace) and self.spec.selector.matches(group.labels)

    def reaches(self, namespace: str) -> bool:
        """Whether it may select groups there."""
        namespaces = self.spec.namespaces if self.is_of_the_operator else ()
        return EVERYWHERE in namespaces or namespace in (namespaces or (self.namespace,))

    def gate(self, name: str) -> Cell:
        """The cell that is shut while something keeps every group of the fleet from beginning."""
        return gate_of(self.key, name)


@lru_cache(maxsize=CELLS_KEPT)
def _cell(fleet: str, budget: str, place: str) -> Cell:
    """The same one for all groups that are in it."""
    return Cell(fleet, budget, place)


def gate_of(fleet: str, name: str) -> Cell:
    return _cell(fleet, "", name)


def sick_place(fleet: str, place: str) -> Cell:
    """The cell that is shut while too many groups of one coordinator are disturbed."""
    return _cell(fleet, "", f"{HALTS}@{place}")


def stop_of(fleet: str, name: str) -> Cell:
    """The cell that is shut while something keeps also those of the fleet's groups from going on that have begun."""
    return _cell(fleet, "", f"{name}{STOPS}")


STOPS: Final = "!"
HELD: Final = Cell("", "", "campaign")
"""Of a group whose change waits for a campaign's order. It is always shut."""
ACCEPTED: Final = "accepted"
"""Nothing lets a group pass it. Its stop is shut as well while not all of the fleet's groups are taken up."""
HALTS: Final = "halts"
WINDOWS: Final = "windows"
FREEZES: Final = "freezes"
GATES: Final[Mapping[str, Passes | None]] = {
    ACCEPTED: None,
    "pause": None,
    WINDOWS: Passes.WINDOWS,
    FREEZES: Passes.FREEZES,
    HALTS: Passes.HALTS,
}
"""What keeps groups from beginning, and what lets a group pass it all the same."""


@dataclass(frozen=True, slots=True)
class Part:
    """What one fleet makes of one group."""

    member_of: Cells
    takes: Cells
    head_start_s: float


def claim_of(
    group: GroupFacts,
    fleets: Sequence[Fleet],
    coordinators: Mapping[str, frozenset[int]],
    parts: Sequence[Part] | None = None,
) -> Claim:
    """`fleets`: those that select it. `coordinators`: those that are known, by Kafka cluster. `parts`: what the fleets
    make of it, in the order of their names, where somebody knows that already."""
    if parts is None:
        parts = [part_of(group, fleet, coordinators) for fleet in sorted(fleets, key=lambda each: each.key)]
    takes = tuple(chain.from_iterable(part.takes for part in parts))
    belongs = tuple(chain.from_iterable(part.member_of for part in parts))
    return Claim(
        group=group.key,
        member_of=belongs if group.replicas else (),
        takes=in_order((*takes, *group.besides)) if group.besides else takes,
        standing=group.standing,
        order=(group.asked_at - max((part.head_start_s for part in parts), default=0.0), _hash(group)),
        asked_at=group.asked_at,
        moving=group.is_moving,
        counts_until=group.counts_until,
    )


def part_of(group: GroupFacts, fleet: Fleet, coordinators: Mapping[str, frozenset[int]]) -> Part:
    belongs, passed = set[Cell](), passes(fleet, group)
    takes = {*_gates(fleet.key, passed, has_begun=group.has_begun)}
    if Passes.HALTS not in passed and not group.has_begun:
        takes.update(sick_place(fleet.key, place) for place in _coordinated(group, coordinators))
    for budget in fleet.spec.budgets:
        cells = [_cell(fleet.key, budget.name, place) for place in _places(budget, group, coordinators)]
        belongs.update(cells if _is_known_in(budget, group) else ())
        takes.update(cells if group.reason in budget.reasons else ())
    return Part(in_order(belongs), in_order(takes), _given_s(group, fleet, passed))


@lru_cache(maxsize=CELLS_KEPT)
def _gates(fleet: str, passed: frozenset[Passes], *, has_begun: bool) -> Cells:
    """Who has begun, and gave its turn back, finishes, unless whoever has begun is to stop."""
    gate = stop_of if has_begun else gate_of
    return tuple(gate(fleet, name) for name, passed_by in GATES.items() if passed_by not in passed)


def _coordinated(group: GroupFacts, coordinators: Mapping[str, frozenset[int]]) -> Iterator[str]:
    cluster = group.cluster or NOT_KNOWN
    known = {group.coordinator} if group.coordinator is not None else coordinators.get(cluster, frozenset())
    return _at(cluster, known)


def _at(cluster: str, brokers: Collection[int]) -> Iterator[str]:
    yield from (f"{cluster}/{broker}" for broker in sorted(brokers)) if brokers else (f"{cluster}/{NOT_KNOWN}",)


def cells_anywhere(fleet: Fleet, reasons: Set[MoveReason], cluster: str, brokers: Collection[int]) -> set[Cell]:
    """The cells of its budgets that groups take room of whose coordinator nobody knows, for these reasons."""
    budgets = [each for each in fleet.spec.budgets if each.per is CountedPer.COORDINATOR]
    counted = [each for each in budgets if not reasons.isdisjoint(each.reasons)]
    return {_cell(fleet.key, budget.name, place) for budget in counted for place in _at(cluster, brokers)}


def _places(budget: Budget, group: GroupFacts, coordinators: Mapping[str, frozenset[int]]) -> Iterator[str]:
    """Where nobody knows which it is, it may be any."""
    cluster = group.cluster or NOT_KNOWN
    match budget.per:
        case CountedPer.FLEET:
            yield ""
        case CountedPer.NAMESPACE:
            yield group.namespace
        case CountedPer.LABEL:
            yield group.labels.get(budget.label or "", "")
        case CountedPer.KAFKA_CLUSTER:
            yield cluster
        case CountedPer.TOPIC:
            yield from (f"{cluster}/{topic}" for topic in group.topics)
        case CountedPer.COORDINATOR:
            yield from _coordinated(group, coordinators)


def _is_known_in(budget: Budget, group: GroupFacts) -> bool:
    """Who may be at any coordinator takes room at each, and raises no share: else as many might move at each of them as
    if it had all of those."""
    return budget.per is not CountedPer.COORDINATOR or group.coordinator is not None


def passes(fleet: Fleet, group: GroupFacts) -> frozenset[Passes]:
    """What of this fleet does not hold the group back: by an override, as urgent, or as the fix of what has failed."""
    override = fleet.spec.override if fleet.is_overridden else None
    let_through = override is not None and override.selector.matches(group.labels)
    urgent = fleet.spec.urgent if group.is_urgent else ()
    fixes = (Passes.HALTS,) if group.is_a_fix else ()
    return frozenset({*urgent, *fixes, *(override.passes if override is not None and let_through else ())})


def _given_s(group: GroupFacts, fleet: Fleet, passed: frozenset[Passes]) -> float:
    """The head start: by the first entry that selects the group."""
    found = (each.head_start_ms / 1000 for each in fleet.spec.order if each.selector.matches(group.labels))
    return max(next(found, 0.0), URGENT_S if Passes.ORDER in passed else 0.0)


def _hash(group: GroupFacts) -> int:
    """Spreads those who ask at once over namespaces and coordinators; the same after a restart."""
    return int.from_bytes(blake2b(f"{group.uid}/{group.key}".encode(), digest_size=6).digest())
