"""What campaigns order of groups by now, as their last fold has it, and what follows for what is known of a group."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from slackwater.core.fleet.claim import Cell, Limit, Standing
from slackwater.core.fleet.claims import HELD
from slackwater.core.fleet.facts import GroupFacts
from slackwater.core.fleet.held_defaults import HeldDefaults
from slackwater.core.fleet.ledger import Ledger
from slackwater.core.fleet.order import Order
from slackwater.shell.store import Key


@dataclass(frozen=True, slots=True)
class Orders:
    """Groups by `namespace/name`."""

    by_group: Mapping[str, Order] = field(default_factory=dict)
    """Of those that may begin."""
    cells: Mapping[str, frozenset[Cell]] = field(default_factory=dict)
    """Where those count that may begin, or move, in a wave with a `max`."""
    limits: Mapping[Cell, Limit] = field(default_factory=dict)
    let_go: Mapping[str, str] = field(default_factory=dict)
    """Groups whose annotation names a campaign that does not hold them, and the version of each that was folded. All
    others that name one wait: a campaign that is not there lets nobody begin whom it had not called, nor does a change
    that came since."""
    held: tuple[HeldDefaults, ...] = ()
    """Defaults that deploys of groups' own do not bring yet."""

    def applied(self, facts: GroupFacts, *, waits_at: str) -> GroupFacts:
        """`waits_at`: the version of a group whose annotation names a campaign; empty: it names none."""
        besides, order = self.cells.get(facts.key, frozenset()), self.by_group.get(facts.key)
        if waits_at and self.let_go.get(facts.key) != waits_at and not facts.has_a_turn:
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
        return orders | cells | {key for key, _ in self.let_go.items() ^ other.let_go.items()}


def version_of(group: Mapping[str, Any]) -> str:
    """Of the object, as it is written: what a fold has seen of it."""
    return f"{group['metadata']['uid']}/{group['metadata']['resourceVersion']}"


def key_in(name: str) -> Key:
    """Of `namespace/name`."""
    namespace, _, group = name.partition("/")
    return Key(namespace, group)
