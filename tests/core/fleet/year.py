"""A year of a fleet with windows and freezes: groups deploy when they like, and begin when the ledger says so.

What is held against that is worked out a second time, from what a clock on the wall shows: nights that begin at 22:00
and last seven hours, and days that are frozen.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from heapq import heappop, heappush
from math import inf
from typing import Any, Final
from zoneinfo import ZoneInfo

from slackwater.api.consumer_fleet import ConsumerFleetSpec
from slackwater.core.fleet.claim import Standing
from slackwater.core.fleet.claims import Fleet
from slackwater.core.fleet.facts import GroupFacts
from slackwater.core.fleet.kept import Kept
from slackwater.core.fleet.ledger import Ledger
from slackwater.core.fleet.times import Gates, Scope, gates_of

NIGHT_S: Final = 7 * 3600.0
OPENS_AT: Final = 22
FREEZES: Final = (("2026-04-02T00:00", "2026-04-07T00:00"), ("2026-11-26T00:00", "2026-12-01T00:00"))
BUDGETS: Final = [{"name": "all", "max": "2%"}, {"name": "coordinators", "per": "Coordinator", "max": "5%"}]
YEAR_S: Final = 365 * 86_400.0
PASS_S: Final = 5.0
"""At most so long after its call a group begins."""
P90_TO_MEDIAN: Final = 1.6
"""Of how long rollouts take."""


@dataclass(frozen=True, slots=True)
class Began:
    group: str
    at: float
    ends_at: float
    fits: bool
    """It did not begin by an override."""


@dataclass
class Year:
    """One fleet, from January to December."""

    zone: ZoneInfo
    groups: int
    deploys: int
    """How many there are in the year, of all groups together."""
    seed: int = 0
    fit: bool = True
    """Of its windows."""
    override: tuple[str, str] | None = None
    """From when to when everything may begin, as the fleet's spec says at the first moment."""
    began: list[Began] = field(default_factory=list)
    most: Counter[str] = field(default_factory=Counter)
    """How many moved at the same time, at most, by budget and place."""

    def __post_init__(self) -> None:
        self._draw = random.Random(self.seed)
        self._begins_at = datetime(2026, 1, 1, tzinfo=self.zone).timestamp()
        self.now = self._begins_at
        self._events: list[tuple[float, int, Callable[[str], None], str]] = []
        self._number = 0
        self._ledger = Ledger()
        self._moving: Counter[str] = Counter()
        self._asking = 0
        self._facts = {each.key: each for each in map(self._group, range(self.groups))}
        self._fleet = self._said()
        kept = Kept(self._fleet, gates_of(self._fleet, Scope("slackwater"), self.now))
        self._called(self._ledger.began([kept], self._facts.values(), self.now))

    def play(self) -> Year:
        """To its end, and until nobody waits any more."""
        names = list(self._facts)
        for _ in range(self.deploys):
            self._due(self._begins_at + self._draw.random() * YEAR_S, self._deploys, self._draw.choice(names))
        for said_at in self.override or ():
            self._due(self._local(said_at), self._says, "")
        while (at := min(self._events[0][0] if self._events else inf, self._by_itself())) < inf:
            self.now = at
            if self._by_itself() <= at:
                self._ticks()
            else:
                _, _, deed, group = heappop(self._events)
                deed(group)
        return self

    @property
    def waits(self) -> list[str]:
        return [key for key, facts in self._facts.items() if facts.standing is not Standing.RESTS]

    def is_open(self, at: float) -> bool:
        """By the clock on the wall."""
        local = datetime.fromtimestamp(at, self.zone)
        evening = local.replace(hour=OPENS_AT, minute=0, second=0, microsecond=0, fold=0)
        opened = evening if local >= evening else evening - timedelta(days=1)  # days of the calendar
        is_night = at < opened.timestamp() + NIGHT_S
        written = local.replace(tzinfo=None).isoformat()
        return is_night and not any(begins <= written < ends for begins, ends in FREEZES)

    def is_overridden(self, at: float) -> bool:
        return self.override is not None and self._local(self.override[0]) <= at < self._local(self.override[1])

    def _group(self, number: int) -> GroupFacts:
        took = self._draw.choice([None, 60.0, 300.0, 1800.0, 7200.0])
        broker = self._draw.randrange(12)
        name, labels = f"g{number}", {"tier": str(number % 3)}
        return GroupFacts("shop", name, name, labels, 3, cluster="k", coordinator=broker, takes_s=took)

    def _said(self) -> Fleet:
        spec: dict[str, Any] = {
            "selector": {},
            "namespaces": ["*"],
            "timeZone": self.zone.key,
            "budgets": BUDGETS,
            "windows": [{"name": "nights", "schedule": f"0 {OPENS_AT} * * *", "duration": "7h", "fit": self.fit}],
            "freezes": [{"name": f"f{n}", "from": a, "to": b} for n, (a, b) in enumerate(FREEZES)],
        }
        if self.override is not None and self.now >= self._local(self.override[0]):
            passes = ["Windows", "Freezes"]
            spec["override"] = {"until": self.override[1], "reason": "INC-4711", "passes": passes}
        return Fleet("slackwater", "platform", ConsumerFleetSpec.model_validate(spec), is_of_the_operator=True)

    def _local(self, text: str) -> float:
        return datetime.fromisoformat(text).replace(tzinfo=self.zone).timestamp()

    def _due(self, at: float, deed: Callable[[str], None], group: str) -> None:
        self._number += 1
        heappush(self._events, (at, self._number, deed, group))

    def _by_itself(self) -> float:
        """When time alone changes something, as `shell.fleets` asks; infinite where nobody is left to wait for it."""
        kept = self._ledger.kept(self._fleet.key)
        if kept is None or not (self._events or self._asking):
            return inf
        wakes_at = self._ledger.allocator.wakes_at()
        return max(self.now, min(kept.due_at, inf if wakes_at is None else wakes_at))

    def _ticks(self) -> None:
        kept = self._ledger.kept(self._fleet.key)
        assert kept is not None
        if kept.due_at <= self.now:
            self._called(self._ledger.passed(self._fleet.key, self._gates(), self.now))
        self._called(self._ledger.ticked(self.now))

    def _gates(self) -> Gates:
        return gates_of(self._fleet, Scope("slackwater"), self.now)

    def _says(self, _: str) -> None:
        self._fleet = self._said()
        self._called(self._ledger.put(self._fleet, self.now, self._gates()))
        self._called(self._ledger.passed(self._fleet.key, self._gates(), self.now))

    def _called(self, groups: Iterable[str]) -> None:
        for each in groups:
            if self._facts[each].standing is Standing.ASKS:
                self._due(self.now + self._draw.random() * PASS_S, self._begins, each)

    def _put(self, facts: GroupFacts) -> None:
        self._asking += (facts.standing is Standing.ASKS) - (self._facts[facts.key].standing is Standing.ASKS)
        self._facts[facts.key] = facts
        self._called(self._ledger.changed(facts, self.now))

    # What happens.
    def _deploys(self, group: str) -> None:
        facts = self._facts[group]
        if facts.standing is Standing.RESTS:
            self._put(replace(facts, standing=Standing.ASKS, asked_at=self.now, is_well=False))

    def _begins(self, group: str) -> None:
        facts = self._facts[group]
        if facts.standing is not Standing.ASKS or not self._ledger.may_begin(group, self.now):
            return
        p90 = facts.takes_s or 600.0
        takes_s = p90 / P90_TO_MEDIAN * self._draw.lognormvariate(0.0, 0.37)
        self.began.append(Began(group, self.now, self.now + takes_s, not self.is_overridden(self.now)))
        self._due(self.now + takes_s, self._ends, group)
        for place in ("all", str(facts.coordinator)):
            self._moving[place] += 1
            self.most[place] = max(self.most[place], self._moving[place])
        self._put(replace(facts, standing=Standing.HAS, begun_at=self.now))

    def _ends(self, group: str) -> None:
        facts = self._facts[group]
        for place in ("all", str(facts.coordinator)):
            self._moving[place] -= 1
        self._put(replace(facts, standing=Standing.RESTS, is_well=True))
