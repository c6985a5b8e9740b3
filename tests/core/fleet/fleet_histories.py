"""Random histories of fleets: people, Kafka, nodes and leaders do what they like; then nothing happens any more."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from random import Random
from typing import Any, Final

from slackwater.api.consumer_fleet import ConsumerFleetSpec
from slackwater.core.fleet.claims import Fleet
from slackwater.core.fleet.facts import GroupFacts
from slackwater.core.fleet.kept import Kept
from slackwater.core.fleet.ledger import Ledger
from tests.core.fleet.groups import Groups, Member, OfTheFleet, OneGroup

BAD: Final = ("never-joins", "never-consumes", "crashes", "no-image")
GOOD: Final = ("v1", "v2")
GATES: Final = ("pause", "windows", "freezes", "accepted")


class Play(Groups):
    """One fleet selects all groups, and now and then another one some of them."""

    def __init__(self, members: tuple[OfTheFleet, ...], fleet: dict[str, Any], seed: int) -> None:
        self.draw = Random(seed)
        self.labels = {of.name: {"tier": "0"} for of in members}
        self.others: dict[str, Fleet] = {}
        self.told: list[str] = []
        self.is_there = True
        super().__init__(members, fleet)

    def _all_fleets(self) -> list[Fleet]:
        return [*([self._fleet] if self.is_there else []), *self.others.values()]

    def facts(self, group: OneGroup) -> GroupFacts:
        return replace(super().facts(group), labels=self.labels[group.name])

    def _lead(self) -> None:
        self.ledger = Ledger()
        kept = [Kept(each, self._gates() if each is self._fleet else Kept(each).gates) for each in self._all_fleets()]
        self._wake(self.ledger.began(kept, [self.facts(each) for each in self], self.now))

    def judge_all(self) -> None:
        """Budgets change in the middle here."""

    def judge_beginning(self, group: OneGroup) -> None:
        if self.is_there and self.ledger.fleets_of(f"slackwater/{group.name}"):
            super().judge_beginning(group)

    def relabelled(self, name: str, tier: str) -> None:
        self.labels[name] = {"tier": tier}
        self.takes_in(self[name])
        self[name].again_at = 0.0

    def budgeted(self, budgets: list[dict[str, Any]], **spec: Any) -> None:
        said = {**self.fleet, "budgets": budgets, **spec, "halt": {"failures": 1000, "disturbed": "100%"}}
        self._fleet = Fleet("slackwater", "platform", ConsumerFleetSpec.model_validate({"selector": {}, **said}))
        if self.is_there:
            self._wake(self.ledger.put(self._fleet, self.now, self._gates()))

    def removed(self) -> None:
        if self.is_there:
            self.is_there = False
            self._wake(self.ledger.remove(self._fleet.key, self.now))
            for each in self:
                each.again_at = 0.0

    def made(self) -> None:
        if not self.is_there:
            self.is_there = True
            self._wake(self.ledger.put(self._fleet, self.now, self._gates()))
            for each in self:
                each.again_at = 0.0

    def set_shut(self, gate: str, *, is_shut: bool) -> None:
        self.shut = self.shut | {gate} if is_shut else self.shut - {gate}
        if self.is_there:
            self._wake(self.ledger.passed(self._fleet.key, self._gates(), self.now))

    def second(self, *, there: bool) -> None:
        spec = {"selector": {"matchLabels": {"tier": "1"}}, "budgets": [{"name": "one", "max": 1}]}
        spec["halt"] = {"failures": 1000, "disturbed": "100%"}
        fleet = Fleet("slackwater", "second", ConsumerFleetSpec.model_validate(spec))
        if there:
            self.others[fleet.key] = fleet
            self._wake(self.ledger.put(fleet, self.now))
        elif self.others.pop(fleet.key, None) is not None:
            self._wake(self.ledger.remove(fleet.key, self.now))
        for each in self:
            each.again_at = 0.0

    def dies(self) -> None:
        for group in self:
            group.begin_anew()
        self._lead()

    def is_moved(self, group: OneGroup) -> None:
        """To another coordinator."""
        assert isinstance(group.outside, Member)
        group.outside.coordinator = group.coordinator = self.draw.choice([1, 2, 3])

    def all_get(self, version: str) -> None:
        for each in self:
            each.outside.apply(version)

    def open(self) -> None:
        for each in GATES:
            self.set_shut(each, is_shut=False)

    def any_group(self) -> OneGroup:
        return self.draw.choice(list(self))


def _budgets(draw: Random) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = [
        {"name": "all", "max": draw.choice([1, 2, 3, "50%"])},
        {
            "name": "coordinators",
            "per": "Coordinator",
            "max": draw.choice([1, 2]),
            "spacing": draw.choice(["0s", "5s"]),
        },
    ]
    if draw.random() < 0.4:
        found.append({"name": "scale", "max": 1, "reasons": ["Scale", "Start", "Rollout"]})
    return draw.sample(found, k=draw.randint(0, len(found)))


DEEDS: Final[Mapping[str, tuple[float, Callable[[Play, OneGroup], Any]]]] = {
    "apply": (6, lambda p, g: g.outside.apply(p.draw.choice(GOOD))),
    "apply to all": (2, lambda p, g: p.all_get(p.draw.choice(GOOD))),
    "apply a bad one": (3, lambda p, g: g.outside.apply(p.draw.choice(BAD))),
    "abort": (2, lambda p, g: g.outside.abort()),
    "retry": (2, lambda p, g: g.outside.retry()),
    "restart": (2, lambda p, g: g.outside.restart()),
    "scale": (3, lambda p, g: g.outside.scale(p.draw.choice([0, 1, 2, 3]))),
    "pause": (1, lambda p, g: g.outside.pause()),
    "resume": (1, lambda p, g: g.outside.resume()),
    "evict": (2, lambda p, g: g.outside.evict(p.draw.randrange(2))),
    "crash": (1, lambda p, g: g.outside.crash(p.draw.randrange(2))),
    "kafka away": (1, lambda p, g: g.outside.set_kafka(reachable=False)),
    "kafka back": (1, lambda p, g: g.outside.set_kafka(reachable=True)),
    "stranger": (1, lambda p, g: g.outside.foreign_member(there=True)),
    "no stranger": (1, lambda p, g: g.outside.foreign_member(there=False)),
    "controller stops": (1, lambda p, g: g.outside.stop_controller()),
    "controller starts": (1, lambda p, g: g.outside.start_controller()),
    "room": (1, lambda p, g: setattr(g.outside, "room", p.draw.choice([1, None]))),
    "coordinator": (2, lambda p, g: p.is_moved(g)),
    "shut": (2, lambda p, g: p.set_shut(p.draw.choice(GATES), is_shut=True)),
    "open": (3, lambda p, g: p.open()),
    "stops": (1, lambda p, g: setattr(p, "stops", set(p.draw.sample(GATES, k=2)))),
    "budgets": (3, lambda p, g: p.budgeted(_budgets(p.draw), settleFor=p.draw.choice(["0s", "0s", "30s"]))),
    "fleet gone": (1, lambda p, g: p.removed()),
    "fleet made": (2, lambda p, g: p.made()),
    "second": (1, lambda p, g: p.second(there=p.draw.random() < 0.5)),
    "label": (2, lambda p, g: p.relabelled(g.name, p.draw.choice("01"))),
    "leader dies": (2, lambda p, g: p.dies()),
}


def something_happens(play: Play) -> None:
    name = play.draw.choices(list(DEEDS), [weight for weight, _ in DEEDS.values()])[0]
    group = play.any_group()
    play.told.append(f"{play.now - 1_000_000:.0f} {name} {group.name}")
    DEEDS[name][1](play, group)
    play.takes_in(group)
    group.again_at = 0.0


def all_is_well_again(play: Play) -> None:
    """Nobody is in the way of anybody, and another version is wanted of all."""
    play.told.append(f"{play.now - 1_000_000:.0f} calm")
    play.made()
    play.stops = set()
    play.open()
    for group in play:
        outside = group.outside
        outside.resume()
        outside.set_kafka(reachable=True)
        outside.foreign_member(there=False)
        outside.start_controller()
        outside.room = None
        outside.scale(2)
        outside.apply("v3")
        play.takes_in(group)
