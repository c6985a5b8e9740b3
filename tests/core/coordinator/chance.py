"""One way out of all, drawn from a seed: more pods, more faults and more changes of mind than can be explored."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from random import Random
from typing import Final

from tests.core.coordinator.canonical import settled_times
from tests.core.coordinator.events import CHANGES, Change, changes, faults, natural, turned_to
from tests.core.coordinator.exploring import as_asked_or_rolled_back, settled_fleet, waits_for_people
from tests.core.coordinator.fleet import Client, Fleet
from tests.core.coordinator.pilot import Broken, why_not

TROUBLE: Final = 400
"""Events in which faults may be."""
PATIENCE: Final = 4_000
"""Events after them until the fleet has to be where it should be."""
Told = list[str]


def walk(client: Client, targets: Sequence[str], seed: int, replicas: int = 7) -> Told:
    """What happened. Raises Broken, with all of it, when an invariant does not hold or it never ends."""
    random, told = Random(seed), [f"seed {seed}"]
    fleet = settled_fleet(client, targets[0], replicas)
    fleet = replace(fleet, spec=replace(fleet.spec, target=targets[-1]), faults=random.randint(3, 12), changes=4)
    try:
        for _ in range(TROUBLE):
            fleet = _next(fleet, random, told, _any_change(random, targets))
        fleet = replace(fleet, faults=0, changes=0)
        for _ in range(PATIENCE):
            if as_asked_or_rolled_back(fleet) or waits_for_people(fleet):
                return told
            fleet = _next(fleet, random, told, None)
    except Broken as broken:
        raise Broken("\n".join([*told, str(broken)])) from broken
    raise Broken("\n".join([*told[:TROUBLE], "never ends", str(why_not(fleet))]))


def _next(fleet: Fleet, random: Random, told: Told, change: Change | None) -> Fleet:
    chance = random.random()
    events = list(faults(fleet)) if chance < 0.05 else []
    events = list(changes(fleet, change)) if 0.05 <= chance < 0.07 else events
    event, after = random.choice(events or list(natural(fleet)))
    if told[-1] != event:
        told.append(event)
    return settled_times(after)


def _any_change(random: Random, targets: Sequence[str]) -> Change:
    return random.choice([*CHANGES.values(), *(turned_to(target) for target in targets)])
