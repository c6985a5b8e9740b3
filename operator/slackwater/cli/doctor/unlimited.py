"""How many groups may move at once, since no ConsumerFleet selects them; and at which broker those would meet. Pure.

That is no fault: static members come back to their partitions. A fleet is for whoever wants a limit.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final

from slackwater.api.resources import ConsumerGroup
from slackwater.cli.doctor.findings import Finding, Mark
from slackwater.core.decision.words import listing

MOST_NAMED: Final = 3
"""Brokers, those with most of the groups first."""


def unlimited_finding(
    subject: str, groups: Sequence[ConsumerGroup], selected: frozenset[str], coordinators: Mapping[str, int]
) -> Finding | None:
    """`groups`: of one Kafka cluster. `selected`: those that fleets select, by `namespace/name`. `coordinators`: by
    group id, as far as known. None where a single group at most would move by itself."""
    free = [group for group in groups if f"{group.namespace}/{group.name}" not in selected]
    if len(free) < 2:
        return None
    by_broker = Counter(coordinators[group.group_id] for group in free if group.group_id in coordinators)
    busiest = sorted(by_broker.items(), key=lambda each: (-each[1], each[0]))[:MOST_NAMED]
    where = listing(f"{count} at broker {broker}" for broker, count in busiest)
    met = f"; by coordinator: {where}" if where else ""
    message = f"no ConsumerFleet selects {len(free)} groups, so that all of them may move at once{met}"
    return Finding(Mark.OK, f"{subject}: groups without a fleet", message)
