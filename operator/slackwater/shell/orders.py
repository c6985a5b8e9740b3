"""What campaigns order of groups by now, as their last fold has it, and what follows for what is known of a group."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from slackwater.core.fleet.campaign import Order
from slackwater.core.fleet.claim import Cell, Limit, Standing
from slackwater.core.fleet.claims import HELD
from slackwater.core.fleet.facts import GroupFacts
from slackwater.core.fleet.ledger import Ledger
from slackwater.shell.store import Key


@dataclass(frozen=True, slots=True)
class Orders:
    """Groups by `namespace/name`."""

    by_group: Mapping[str, Order] = field(default_factory=dict)
    """Of those that may begin."""
    cells: Mapping[str, frozenset[Cell]] = field(default_factory=dict)
    """Where those count that may begin, or move, in a wave with a `max`."""
    limits: Mapping[Cell, Limit] = field(default_factory=dict)
    let_go: frozenset[str] = frozenset()
    """Groups whose annotation names a campaign that does not hold them. All others that name one wait, so that one
    which is not folded yet, or is not there, lets nobody begin."""

    def applied(self, facts: GroupFacts, *, waits: bool) -> GroupFacts:
        """`waits`: its annotation names a campaign."""
        besides, order = self.cells.get(facts.key, frozenset()), self.by_group.get(facts.key)
        if waits and facts.key not in self.let_go and not facts.has_a_turn:
            besides |= {HELD}
        if order is not None and facts.standing is Standing.RESTS:
            facts = replace(facts, standing=Standing.ASKS, reason=order.reason, asked_at=order.asked_at)
        return replace(facts, besides=besides) if besides else facts

    def settling(self, ledger: Ledger) -> dict[str, float]:
        """Who may begin and settles still, from a turn before, and until when that counts."""
        found = {key: ledger.facts(key) for key in self.by_group}
        return {k: f.counts_until for k, f in found.items() if f is not None and f.standing is Standing.SETTLES}

    def differing(self, other: Orders) -> set[str]:
        """The groups for which they say different things."""
        orders = {key for key in {*self.by_group, *other.by_group} if self.by_group.get(key) != other.by_group.get(key)}
        cells = {key for key in {*self.cells, *other.cells} if self.cells.get(key) != other.cells.get(key)}
        return orders | cells | (self.let_go ^ other.let_go)


def key_in(name: str) -> Key:
    """Of `namespace/name`."""
    namespace, _, group = name.partition("/")
    return Key(namespace, group)
