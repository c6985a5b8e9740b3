"""What has happened in one fleet since this process began, and how it is now, as Prometheus is told."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Final

from slackwater.core.fleet.claim import Standing
from slackwater.core.fleet.facts import GroupFacts
from slackwater.shell.store import Key

WAIT_BUCKETS_S: Final = (10.0, 60.0, 300.0, 900.0, 3_600.0, 4 * 3_600.0, 86_400.0)
TURN_BUCKETS_S: Final = (10.0, 30.0, 60.0, 120.0, 300.0, 600.0, 1_800.0, 3_600.0)


@dataclass(slots=True)
class Durations:
    """A histogram."""

    bounds_s: tuple[float, ...]
    counts: list[int] = field(init=False)
    sum_s: float = 0.0

    def __post_init__(self) -> None:
        self.counts = [0] * (len(self.bounds_s) + 1)

    def add(self, took_s: float) -> None:
        self.sum_s += took_s
        self.counts[sum(bound < took_s for bound in self.bounds_s)] += 1

    def buckets(self) -> list[tuple[str, float]]:
        return list(zip((*map(str, self.bounds_s), "+Inf"), accumulate(self.counts), strict=True))


@dataclass(slots=True)
class FleetSeries:
    turns: Counter[tuple[str, str]] = field(default_factory=Counter)
    """(reason, result): given, lapsed, yielded, let_through."""
    waits: Durations = field(default_factory=lambda: Durations(WAIT_BUCKETS_S))
    """From when a group asked to when it was given its turn."""
    lengths: Durations = field(default_factory=lambda: Durations(TURN_BUCKETS_S))
    """From when a turn was given to when it was done."""

    def count(self, result: str, group: GroupFacts | None) -> None:
        if group is not None:
            self.turns[group.reason.value, result] += 1

    def began(self, group: GroupFacts, waited_s: float, *, let_through: bool) -> None:
        self.count("given", group)
        if let_through:
            self.count("let_through", group)
        self.waits.add(waited_s)

    def ended(self, group: GroupFacts, took_s: float | None) -> None:
        """`took_s`: None where the group gave way and asks again."""
        if took_s is None:
            self.count("yielded", group)
        else:
            self.lengths.add(max(0.0, took_s))


@dataclass(frozen=True, slots=True)
class Begun:
    """A group that was given its turn, for people to read."""

    group: Key
    fleets: tuple[str, ...]
    waited_s: float
    let_through: tuple[str, ...]
    """Fleets that let nobody else begin just now."""


def counted(
    series: Mapping[str, FleetSeries],
    fleets: tuple[str, ...],
    change: tuple[GroupFacts, GroupFacts],
    let_through: tuple[str, ...],
    now: float,
) -> Begun | None:
    """What the change of one group of `fleets` means to those who read metrics and Events; a turn that was given."""
    before, facts = change
    if before.standing is Standing.ASKS and facts.standing is Standing.HAS:
        waited_s = max(0.0, now - facts.asked_at)
        for fleet in fleets:
            series[fleet].began(facts, waited_s, let_through=fleet in let_through)
        return Begun(Key(facts.namespace, facts.name), fleets, waited_s, let_through)
    has = (Standing.HAS, Standing.STANDS)
    if before.standing in has and facts.standing not in has:
        ended = facts.standing is not Standing.ASKS
        for fleet in fleets:
            series[fleet].ended(facts, now - before.begun_at if ended else None)
    return None
