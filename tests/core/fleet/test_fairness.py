"""Whoever needs room in many places waits not much longer than the others, though these could pass it for ever."""

from __future__ import annotations

from dataclasses import replace
from heapq import heappop, heappush
from random import Random
from statistics import median
from typing import Final

import pytest

from slackwater.api.consumer_fleet import ConsumerFleetSpec
from slackwater.core.fleet import reservation
from slackwater.core.fleet.claim import Standing
from slackwater.core.fleet.claims import Fleet
from slackwater.core.fleet.facts import GroupFacts
from slackwater.core.fleet.ledger import Ledger

TOPICS: Final = [f"t{n}" for n in range(20)]
BUDGET: Final = {"name": "topics", "per": "Topic", "max": 1}
WIDE: Final = "shop/wide"
HOURS_S: Final = 10 * 3600.0


class Busy:
    """Two hundred groups of one topic, ten at each, that ask again as soon as they are done; and one of all topics."""

    def __init__(self, seed: int) -> None:
        spec = ConsumerFleetSpec.model_validate({"selector": {}, "budgets": [BUDGET]})
        draw = Random(seed)
        narrow = [
            GroupFacts("shop", f"g{n}", f"g{n}", cluster="k", coordinator=1, topics=(TOPICS[n % 20],))
            for n in range(200)
        ]
        wide = GroupFacts("shop", "wide", "wide", cluster="k", coordinator=1, topics=tuple(sorted(TOPICS)))
        self.draw, self.now = draw, 0.0
        self.facts = {each.key: each for each in (*narrow, wide)}
        self.waited: dict[str, list[float]] = {key: [] for key in self.facts}
        self.events: list[tuple[float, str]] = []
        self.ledger = Ledger()
        self.ledger.began([Fleet("shop", "platform", spec)], self.facts.values(), self.now)
        for key in self.facts:
            heappush(self.events, (draw.random() * 60, key))

    def play(self, until: float) -> None:
        while self.events[0][0] < until:
            wakes_at = self.ledger.allocator.wakes_at()
            if wakes_at is not None and wakes_at <= self.events[0][0]:
                self.now = max(self.now, wakes_at)
                self._begin(self.ledger.ticked(self.now))
                continue
            self.now, key = heappop(self.events)
            facts = self.facts[key]
            if facts.standing is Standing.HAS:
                self._put(replace(facts, standing=Standing.RESTS))
                heappush(self.events, (self.now + 1.0, key))
            elif facts.standing is Standing.RESTS:
                self._put(replace(facts, standing=Standing.ASKS, asked_at=self.now))

    def _put(self, facts: GroupFacts) -> None:
        self.facts[facts.key] = facts
        self._begin(self.ledger.changed(facts, self.now))

    def _begin(self, called: tuple[str, ...]) -> None:
        for key in called:
            facts = self.facts[key]
            self.waited[key].append(self.now - facts.asked_at)
            heappush(self.events, (self.now + self.draw.uniform(30, 300), key))
            self._put(replace(facts, standing=Standing.HAS))


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 6))])
def test_a_group_of_twenty_topics_waits_no_longer_than_twice_the_median(seed: int) -> None:
    busy = Busy(seed)
    busy.play(HOURS_S)
    others = [each for key, waits in busy.waited.items() if key != WIDE for each in waits]
    assert len(busy.waited[WIDE]) >= 8
    assert median(busy.waited[WIDE]) <= 2 * median(others)


def test_without_a_reservation_it_would_be_passed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reservation, "RESERVES_AFTER_S", 1e9)
    busy = Busy(0)
    busy.play(HOURS_S)
    others = [each for key, waits in busy.waited.items() if key != WIDE for each in waits]
    assert len(busy.waited[WIDE]) < 8 or median(busy.waited[WIDE]) > 2 * median(others)
