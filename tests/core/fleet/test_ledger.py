"""A ledger that is kept by changes is the one that is made from scratch; and nobody moves beyond what fleets say."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace
from typing import Any, Final

import pytest

from slackwater.api.consumer_fleet import ConsumerFleetSpec, Passes
from slackwater.core.fleet.allocation import HORIZON_S
from slackwater.core.fleet.claim import Cell, Claim, Standing
from slackwater.core.fleet.claims import Fleet, Part, claim_of, part_of
from slackwater.core.fleet.facts import GroupFacts
from slackwater.core.fleet.ledger import Ledger
from slackwater.core.fleet.reservation import STUCK_AFTER_S
from slackwater.core.fleet.times import Gates

BUDGETS: Final[list[dict[str, Any]]] = [
    {"name": "all", "max": 3},
    {"name": "share", "max": "25%", "per": "Namespace"},
    {"name": "coordinators", "max": 1, "per": "Coordinator"},
    {"name": "topics", "max": 2, "per": "Topic"},
]


def fleet(name: str, draw: random.Random) -> Fleet:
    selector = draw.choice([{}, {"matchLabels": {"tier": "0"}}])
    some = draw.sample(BUDGETS, k=draw.randint(0, 3))
    budgets = [{**each, "max": draw.choice([each["max"], 2, "50%"])} for each in some]
    spec = {"selector": selector, "namespaces": ["*"], "budgets": budgets}
    return Fleet("slackwater", name, ConsumerFleetSpec.model_validate(spec), is_of_the_operator=True)


def group(name: str, draw: random.Random) -> GroupFacts:
    return GroupFacts(
        namespace=draw.choice(["a", "b"]),
        name=name,
        labels={"tier": draw.choice("01")},
        topics=tuple(sorted(draw.sample(["orders", "refunds", "clicks"], k=draw.randint(1, 2)))),
        cluster=draw.choice(["k1", "k1", None]),
        coordinator=draw.choice([1, 2, 3, None]),
        replicas=draw.choice([0, 3, 3]),
    )


class Play:
    """Groups ask, and move when they are called; everything else about them and fleets changes at random."""

    def __init__(self, seed: int) -> None:
        self.draw, self.now = random.Random(seed), 1000.0
        self.ledger = Ledger()
        self.groups = {each.key: each for each in (group(f"g{n}", self.draw) for n in range(8))}
        self.fleets = {each.key: each for each in (fleet(name, self.draw) for name in ("one", "two"))}
        self.called: set[str] = set()
        self.ledger.began(self.fleets.values(), self.groups.values(), self.now)

    def step(self) -> None:
        self.now += self.draw.choice([0.0, 1.0, 20.0])
        deed = self.draw.choice([self._moves_on, self._moves_on, self._moves_on, self._other_facts, self._other_fleet])
        deed()

    def _put(self, facts: GroupFacts) -> None:
        self.groups[facts.key] = facts
        self.ledger.changed(facts, self.now)

    def _moves_on(self) -> None:
        facts = self.draw.choice(list(self.groups.values()))
        match facts.standing:
            case Standing.RESTS:
                self._put(replace(facts, standing=Standing.ASKS, asked_at=self.now))
            case Standing.ASKS if self.ledger.allocator.is_called(facts.key):
                self._put(replace(facts, standing=Standing.HAS))
            case Standing.HAS:
                self._put(replace(facts, standing=Standing.RESTS))

    def _other_facts(self) -> None:
        facts = self.draw.choice(list(self.groups.values()))
        other = group(facts.name, self.draw)
        self._put(replace(other, namespace=facts.namespace, standing=facts.standing, asked_at=facts.asked_at))

    def _other_fleet(self) -> None:
        name = self.draw.choice(["one", "two"])
        if self.draw.random() < 0.3:
            self.fleets.pop(f"slackwater/{name}", None)
            self.ledger.remove(f"slackwater/{name}", self.now)
            return
        self.fleets[f"slackwater/{name}"] = fleet(name, self.draw)
        self.ledger.put(self.fleets[f"slackwater/{name}"], self.now)

    def cells(self) -> set[Cell]:
        known: dict[str, set[int]] = {}
        for each in self.groups.values():
            if each.cluster is not None and each.coordinator is not None:
                known.setdefault(each.cluster, set()).add(each.coordinator)
        coordinators = {cluster: frozenset(found) for cluster, found in known.items()}
        selected = {
            key: [each for each in self.fleets.values() if each.selects(facts)] for key, facts in self.groups.items()
        }
        claims = [claim_of(facts, selected[key], coordinators) for key, facts in self.groups.items()]
        return {cell for claim in claims for cell in claim.takes if cell.budget}

    def without_calls(self, ledger: Ledger, cell: Cell) -> tuple[int, int]:
        """The limit, and how many groups have room of the cell by their own standing."""
        limit, used, _ = ledger.allocator.use(cell)
        return limit, used


@pytest.mark.parametrize("seed", range(200))
def test_kept_by_changes_it_is_as_made_from_scratch(seed: int) -> None:
    play = Play(seed)
    for _ in range(60):
        play.step()
    for facts in list(play.groups.values()):
        if facts.standing is Standing.ASKS:  # calls are no part of what is written down
            play._put(replace(facts, standing=Standing.RESTS))
    fresh = Ledger()
    fresh.began(play.fleets.values(), play.groups.values(), play.now)
    cells = play.cells()
    assert {cell: play.without_calls(play.ledger, cell) for cell in cells} == {
        cell: play.without_calls(fresh, cell) for cell in cells
    }


class InSteps(Play):
    """Fleets come and go a few groups at a time, whatever else happens meanwhile."""

    def __init__(self, seed: int) -> None:
        self.left: dict[str, set[str]] = {}
        self.stale: set[str] = set()
        super().__init__(seed)

    def step(self) -> None:
        super().step()
        self.takes_up(self.draw.randint(0, 3))

    def takes_up(self, most: int) -> None:
        waiting = sorted(self.stale.union(*self.left.values()))
        some = self.draw.sample(waiting, min(most, len(waiting)))
        self.ledger.all_changed([self.groups[key] for key in some], self.now, anyway=True)
        self.stale -= {*some}
        for key in [*self.left]:
            self.left[key] -= {*some}
            if not self.left[key]:
                del self.left[key]
                self.ledger.has_come(key, self.now)

    def _other_fleet(self) -> None:
        key = f"slackwater/{self.draw.choice(['one', 'two'])}"
        if self.draw.random() < 0.3:
            self.fleets.pop(key, None)
            self.left.pop(key, None)
            self.stale |= {*self.ledger.leaves(key)}
            return
        self.fleets[key] = fleet(key.partition("/")[2], self.draw)
        self.left[key] = {*self.ledger.concerned(self.fleets[key])}
        self.ledger.comes(self.fleets[key], self.now)

    def is_kept_from_beginning(self, group: GroupFacts) -> bool:
        """By the product: who is to be taken up is, before it is asked; and a fleet that comes is shut."""
        waits = group.key in self.stale.union(*self.left.values())
        return waits or not self.ledger.may_begin(group.key, self.now)


@pytest.mark.parametrize("seed", range(200))
def test_taken_up_in_steps_it_is_as_made_from_scratch(seed: int) -> None:
    play = InSteps(seed)
    for _ in range(60):
        play.step()
        for key in play.left:
            selected = [each for each in play.groups.values() if play.fleets[key].selects(each)]
            assert all(map(play.is_kept_from_beginning, selected))
    while play.stale or play.left:
        play.takes_up(1)
    for facts in list(play.groups.values()):
        if facts.standing is Standing.ASKS:
            play._put(replace(facts, standing=Standing.RESTS))
    fresh = Ledger()
    fresh.began(play.fleets.values(), play.groups.values(), play.now)
    cells = play.cells()
    assert {cell: play.without_calls(play.ledger, cell) for cell in cells} == {
        cell: play.without_calls(fresh, cell) for cell in cells
    }


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often each fleet was asked what it makes of a group."""
    found = Counter[str]()

    def counted(group: GroupFacts, fleet: Fleet, *others: Any) -> Part:
        found[fleet.key] += 1
        return part_of(group, fleet, *others)

    monkeypatch.setattr("slackwater.core.fleet.selection.part_of", counted)
    return found


def test_a_fleets_change_asks_that_fleet_alone_and_a_groups_asks_none_where_it_only_moves(asked: Counter[str]) -> None:
    draw = random.Random(1)
    groups = [replace(group(f"g{number}", draw), labels={"tier": "0"}) for number in range(10)]
    fleets = [replace(fleet("one", draw), name=f"f{number}") for number in range(20)]
    ledger = Ledger()
    ledger.began(fleets, groups, 0.0)
    assert {*asked.values()} == {10}
    asked.clear()
    ledger.put(replace(fleet("two", draw), name="f7"), 1.0)
    assert asked == {"slackwater/f7": 10}
    asked.clear()
    ledger.changed(replace(groups[3], standing=Standing.ASKS, asked_at=2.0), 2.0)
    assert not asked
    ledger.changed(replace(groups[4], topics=("others",)), 3.0)
    assert {*asked.values()} == {1}


def test_a_groups_change_asks_no_fleet_of_another_namespace(monkeypatch: pytest.MonkeyPatch) -> None:
    draw = random.Random(1)
    ledger, seen = Ledger(), list[str]()
    here = replace(group("g", draw), standing=Standing.RESTS)
    elsewhere = replace(fleet("one", draw), is_of_the_operator=False)
    ledger.began([replace(elsewhere, namespace=f"n{number}") for number in range(50)], [here], 0.0)
    selects = Fleet.selects

    def counted(self: Fleet, facts: GroupFacts) -> bool:
        seen.append(self.key)
        return selects(self, facts)

    monkeypatch.setattr(Fleet, "selects", counted)
    ledger.changed(replace(here, standing=Standing.ASKS), 1.0)
    assert not seen
    of_all = ConsumerFleetSpec.model_validate({"selector": {}})
    ledger.put(Fleet(here.namespace, "new", of_all), 2.0)
    assert ledger.fleets_of(here.key) == (f"{here.namespace}/new",)


@pytest.mark.parametrize("seed", range(200))
def test_whoever_is_called_has_room(seed: int) -> None:
    """A lower limit, and a group that turns out to be elsewhere, take nothing back: what was full may be overfull."""
    play = Play(seed)
    for _ in range(60):
        before = {cell: play.ledger.allocator.use(cell) for cell in play.cells()}
        play._moves_on()
        for cell in before:
            limit, used, _ = play.ledger.allocator.use(cell)
            assert used <= max(limit, before[cell][1]), cell
        play.step()


def one_at_a_time(**budget: Any) -> tuple[Ledger, list[GroupFacts]]:
    """Two groups ask, and one is called."""
    groups = [
        GroupFacts("a", name, standing=Standing.ASKS, asked_at=at) for name, at in (("first", 1.0), ("next", 2.0))
    ]
    spec = {"selector": {}, "namespaces": ["*"], "budgets": [{"name": "all", "max": 1, **budget}], **WINDOWS}
    only = Fleet("slackwater", "platform", ConsumerFleetSpec.model_validate(spec), is_of_the_operator=True)
    ledger = Ledger()
    assert ledger.began([only], groups, 10.0) == ("a/first",)
    return ledger, groups


WINDOWS: Final[dict[str, Any]] = {
    "timeZone": "UTC",
    "windows": [{"name": "nights", "schedule": "0 22 * * *", "duration": "7h"}],
}


def test_a_fleet_that_is_deleted_holds_nobody_back() -> None:
    """Who was called is called again: for less."""
    ledger, _ = one_at_a_time()
    assert ledger.remove("slackwater/platform", 11.0) == ("a/first", "a/next")


def test_a_budget_that_is_for_a_window_holds_nobody_outside_of_it() -> None:
    ledger, _ = one_at_a_time(outside="nights")
    assert ledger.passed("slackwater/platform", Gates(open_windows=frozenset({"nights"})), 11.0) == ("a/next",)


def test_while_a_fleet_is_shut_nobody_is_called() -> None:
    ledger, (first, _) = one_at_a_time()
    assert ledger.passed("slackwater/platform", Gates(frozenset({"pause"})), 11.0) == ()
    assert ledger.changed(replace(first, standing=Standing.RESTS), 12.0) == ()
    assert ledger.passed("slackwater/platform", Gates(), 13.0) == ("a/next",)


def test_who_is_gone_makes_room() -> None:
    ledger, _ = one_at_a_time()
    assert ledger.gone("a/first", 11.0) == ("a/next",)


def nights(*takes_s: float, closes_at: float = 5000.0) -> tuple[Ledger, list[GroupFacts]]:
    """One group at a time, and a window that closes at 5000 s; the groups ask at 900 s in this order."""
    spec = {
        "selector": {},
        "timeZone": "UTC",
        "budgets": [{"name": "all", "max": 1, "spacing": "5m"}],
        "windows": [{"name": "nights", "schedule": "0 0 * * *", "duration": "7h"}],
    }
    ledger = Ledger()
    gates = Gates(open_windows=frozenset({"nights"}), closes_at=closes_at)
    ledger.put(Fleet("a", "f", ConsumerFleetSpec.model_validate(spec)), 900.0, gates)
    groups = [
        GroupFacts("a", f"g{n}", takes_s=each, standing=Standing.ASKS, asked_at=900.0 + n)
        for n, each in enumerate(takes_s)
    ]
    return ledger, groups


def test_whoever_does_not_fit_into_the_window_takes_no_room_from_those_who_do() -> None:
    ledger, groups = nights(9000.0, 9000.0, 60.0)
    assert ledger.all_changed(groups, 1000.0) == ("a/g2",)
    assert ledger.may_begin("a/g2", 1000.0)


def test_whoever_does_not_end_before_a_freeze_does_not_fit_unless_it_passes_freezes() -> None:
    ledger, groups = nights(600.0, 60.0)
    fleet = ledger.fleets()[0].fleet
    gates = Gates(open_windows=frozenset({"nights"}), closes_at=5000.0, freezes_at=1500.0)
    ledger.put(fleet, 950.0, gates)
    assert ledger.all_changed(groups, 1000.0) == ("a/g1",)
    ledger.changed(replace(groups[1], standing=Standing.RESTS), 1001.0)
    urgent = Fleet("a", "f", fleet.spec.model_copy(update={"urgent": (Passes.FREEZES,)}))
    ledger.put(urgent, 1400.0, gates)
    assert ledger.changed(replace(groups[0], is_urgent=True), 1400.0) == ("a/g0",)


def test_whoever_did_not_fit_is_called_when_another_window_opens() -> None:
    ledger, groups = nights(9000.0)
    assert ledger.all_changed(groups, 1000.0) == ()
    assert ledger.passed("a/f", Gates(shut=frozenset({"windows"})), 5000.0) == ()
    assert ledger.passed("a/f", Gates(open_windows=frozenset({"nights"}), closes_at=99_000.0), 80_000.0) == ("a/g0",)


def test_whoever_did_not_fit_is_called_when_the_window_is_longer_by_now() -> None:
    ledger, groups = nights(9000.0)
    assert ledger.all_changed(groups, 1000.0) == ()
    gates = Gates(open_windows=frozenset({"nights"}), closes_at=20_000.0)
    fleet = ledger.fleets()[0].fleet
    assert ledger.put(fleet, 1001.0, gates) == ("a/g0",)


def test_whoever_did_not_fit_is_called_when_no_fleet_selects_it_any_more_that_has_windows() -> None:
    ledger, groups = nights(9000.0)
    assert ledger.all_changed(groups, 1000.0) == ()
    assert ledger.remove("a/f", 1001.0) == ("a/g0",)


def test_what_others_take_for_a_pod_is_asked_again_when_that_has_changed() -> None:
    ledger, (known, unknown) = nights(9000.0, 60.0)
    unknown = replace(unknown, takes_s=None)
    assert ledger.all_changed([replace(known, standing=Standing.RESTS), unknown], 1000.0) == ()
    ledger.changed(replace(known, standing=Standing.RESTS, takes_s=60.0), 1001.0)
    assert ledger.closes_before_it_ends("a/g1", 1001.0) is None


def test_whoever_did_not_fit_is_called_when_it_takes_less_by_now() -> None:
    """It was scaled down, for instance. Whose place in the line is as before was not looked at."""
    ledger, (slow, other) = nights(9000.0, 9000.0)
    assert ledger.all_changed([slow, other], 1000.0) == ()
    assert ledger.changed(replace(slow, takes_s=900.0, replicas=1), 1001.0) == ("a/g0",)


def in_two_cells() -> Ledger:
    """Two groups may move, and one at each coordinator; one at the first goes back, and waits for a person."""
    spec = {
        "selector": {},
        "budgets": [{"name": "all", "max": 2}, {"name": "coordinators", "per": "Coordinator", "max": 1}],
    }
    ledger = Ledger()
    ledger.put(Fleet("a", "f", ConsumerFleetSpec.model_validate(spec)), 0.0)
    ledger.changed(at_coordinator("stuck", 1, standing=Standing.MENDS), 0.0)
    return ledger


def at_coordinator(name: str, coordinator: int | None, **facts: Any) -> GroupFacts:
    return GroupFacts("a", name, cluster="k", coordinator=coordinator, **facts)


def test_who_waits_for_one_that_is_stuck_keeps_nothing_from_others_for_ever() -> None:
    ledger = in_two_cells()
    ledger.changed(at_coordinator("behind", 1, standing=Standing.ASKS, asked_at=1.0), 1.0)
    ledger.ticked(1000.0)
    assert ledger.changed(at_coordinator("elsewhere", 2, standing=Standing.ASKS, asked_at=1001.0), 1001.0) == ()
    assert ledger.allocator.wakes_at() == STUCK_AFTER_S
    assert ledger.ticked(STUCK_AFTER_S) == ("a/elsewhere",)
    assert ledger.changed(at_coordinator("stuck", 1), 4000.0) == ("a/behind",)


def test_one_at_an_unknown_coordinator_raises_nobodys_share() -> None:
    spec = {"selector": {}, "budgets": [{"name": "coordinators", "per": "Coordinator", "max": "25%"}]}
    ledger = Ledger()
    ledger.put(Fleet("a", "f", ConsumerFleetSpec.model_validate(spec)), 0.0)
    ledger.all_changed([at_coordinator(f"g{n}", 1) for n in range(4)], 0.0)
    ledger.all_changed([at_coordinator(f"u{n}", None) for n in range(12)], 0.0)
    assert ledger.allocator.use(Cell("a/f", "coordinators", "k/1"))[0] == 1


@pytest.mark.parametrize("back_s", [0.01, 3600.0])
def test_a_clock_that_is_set_back_keeps_nobody_waiting(back_s: float) -> None:
    """Neither a group that asks then, nor one that waits for the spacing, nor those behind a call that is not used."""
    spec = {"selector": {}, "budgets": [{"name": "all", "max": 1, "spacing": "5m"}], "halt": {"disturbed": "100%"}}
    ledger, now = Ledger(), 10_000.0
    ledger.put(Fleet("a", "f", ConsumerFleetSpec.model_validate(spec)), now)
    first, second = (at_coordinator(n, 1, standing=Standing.ASKS, asked_at=now) for n in ("first", "second"))
    assert ledger.changed(first, now) == ("a/first",)
    ledger.changed(replace(first, standing=Standing.HAS), now)
    ledger.changed(replace(first, standing=Standing.RESTS), now + 1.0)
    now += 1.0 - back_s
    assert ledger.changed(replace(second, asked_at=now), now) == ()
    assert ledger.ticked(now + 300.0) == ("a/second",)
    assert ledger.changed(replace(first, asked_at=now + 301.0), now + 301.0) == ()
    now += 301.0 - back_s
    ledger.ticked(now)
    assert ledger.ticked(now + 300.0) == ("a/first",), "the call was not used"


def held(name: str, **facts: Any) -> GroupFacts:
    return GroupFacts("a", name, standing=Standing.HAS, cluster="k1", coordinator=1, **facts)


@pytest.mark.parametrize("jump_s", [3600.0, -3600.0])
def test_a_clock_that_is_set_does_not_change_the_horizon(jump_s: float) -> None:
    """More turns are found than may move; which of them are late is known 75 s later, whatever the clock says."""
    elapsed = [50.0]
    ledger = Ledger(elapsed=lambda: elapsed[0])
    one = Fleet("a", "one", ConsumerFleetSpec.model_validate({"selector": {}, "budgets": [{"name": "all", "max": 1}]}))
    ledger.began([one], [held("first"), held("second")], 1000.0)
    elapsed[0] += 5.0
    ledger.ticked(1005.0 + jump_s)
    assert ledger.allocator.relist_at == pytest.approx(1000.0 + jump_s + HORIZON_S)
    elapsed[0] += 5.0
    ledger.ticked(1010.0 + jump_s)
    assert ledger.allocator.relist_at == pytest.approx(1000.0 + jump_s + HORIZON_S)


def test_a_call_lasts_as_long_where_the_clock_jumps_forward() -> None:
    elapsed = [0.0]
    ledger = Ledger(elapsed=lambda: elapsed[0])
    one = Fleet("a", "one", ConsumerFleetSpec.model_validate({"selector": {}, "budgets": [{"name": "all", "max": 1}]}))
    asks = replace(held("first"), standing=Standing.ASKS, asked_at=1000.0)
    assert ledger.began([one], [asks], 1000.0) == ("a/first",)
    ledger.ticked(5000.0)
    assert ledger.allocator.is_called("a/first")
    elapsed[0] += 121.0
    ledger.ticked(5121.0)
    assert not ledger.allocator.is_called("a/first")


def test_what_comes_and_goes_leaves_nothing_behind() -> None:
    """Topics and coordinators of groups that are gone, and those who waited there."""
    budgets = [{"name": "all", "max": 1}, {"name": "topics", "max": 1, "per": "Topic"}]
    ledger = Ledger()
    fleet = Fleet("a", "one", ConsumerFleetSpec.model_validate({"selector": {}, "budgets": budgets}))
    ledger.began([fleet], [held("first")], 1000.0)
    kept = ledger.kept("a/one")
    assert kept is not None
    for n in range(2500):
        asks = replace(held("second", topics=(f"t{n}",)), standing=Standing.ASKS, asked_at=1000.0)
        ledger.changed(replace(asks, coordinator=n), 1001.0)
    assert len(ledger.cells_of("a/one")) < 1100
    assert len(ledger.allocator._places._places) < 1100
    assert ledger.allocator._line.entries < 2100
    assert len(list(kept.tally._places)) == len(ledger._coordinators.known["k1"]) == 2
    assert ledger.changed(replace(held("first"), standing=Standing.RESTS), 1002.0) == ("a/second",)


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How many claims were made of each group."""
    found = Counter[str]()

    def counted(group: GroupFacts, *others: Any) -> Claim:
        found[group.key] += 1
        return claim_of(group, *others)

    monkeypatch.setattr("slackwater.core.fleet.ledger.claim_of", counted)
    return found


PLACES: Final = tuple(Cell("a/f", "coordinators", f"k/{broker}") for broker in (1, 2, 3))


def nobody_knows_where(**facts: Any) -> Ledger:
    """A thousand groups of one cluster, as a leader that has just begun lists them."""
    ledger = in_two_cells()
    ledger.all_changed([at_coordinator(f"g{n}", None, **facts) for n in range(1000)], 0.0)
    return ledger


def test_a_broker_that_becomes_known_costs_nothing_for_groups_at_rest(made: Counter[str]) -> None:
    ledger = nobody_knows_where()
    made.clear()
    for broker in range(2, 14):
        ledger.changed(at_coordinator(f"g{broker}", broker), 1.0)
    ledger.changed(at_coordinator("g2", None), 2.0)
    ledger.changed(at_coordinator("g3", 4), 2.0)
    assert made == Counter([*(f"a/g{broker}" for broker in range(2, 14)), "a/g2", "a/g3"])


def of_topics_and_coordinators() -> Ledger:
    """Its only group may be at any broker, and three are known, from groups of no fleet."""
    budgets = [{"name": "coordinators", "per": "Coordinator", "max": 1}, {"name": "topics", "max": 1, "per": "Topic"}]
    spec = {"selector": {"matchLabels": {"tier": "0"}}, "budgets": budgets}
    ledger = Ledger()
    rests = at_coordinator("rests", None, labels={"tier": "0"})
    ledger.began([Fleet("a", "f", ConsumerFleetSpec.model_validate(spec))], [rests], 0.0)
    for broker in (1, 2, 3):
        ledger.changed(at_coordinator(f"other{broker}", broker), 1.0)
    return ledger


def test_a_fleet_counts_at_brokers_that_only_groups_at_rest_may_be_at() -> None:
    ledger = of_topics_and_coordinators()
    assert {*PLACES} <= {*ledger.cells_of("a/f")}
    assert {ledger.allocator.use(cell) for cell in PLACES} == {(1, 0, 0)}


def test_and_does_so_when_what_is_unused_was_dropped() -> None:
    ledger = of_topics_and_coordinators()
    for n in range(2500):
        ledger.changed(at_coordinator("moves", 1, labels={"tier": "0"}, topics=(f"t{n}",)), 2.0)
    assert len(ledger.cells_of("a/f")) < 1100
    assert {*PLACES} <= {*ledger.cells_of("a/f")}


def test_whoever_asks_takes_room_at_each_broker_that_is_known_by_then() -> None:
    """Also at those that became known while it was at rest, and while it asks."""
    ledger = nobody_knows_where()
    for broker in (2, 3):
        ledger.changed(at_coordinator(f"g{broker}", broker), 1.0)
    ledger.changed(at_coordinator("g9", None, standing=Standing.ASKS, asked_at=2.0), 2.0)
    assert ledger.allocator.waits_for("a/g9") == Cell("a/f", "coordinators", "k/1"), "somebody moves there"
    ledger.changed(at_coordinator("g4", 4, standing=Standing.MENDS), 3.0)
    assert ledger.changed(at_coordinator("stuck", 1), 4.0) == ()
    assert ledger.allocator.waits_for("a/g9") == Cell("a/f", "coordinators", "k/4")
    assert ledger.changed(at_coordinator("g4", 4), 5.0) == ("a/g9",)
    assert ledger.allocator.use(Cell("a/f", "coordinators", "k/3"))[1] == 1
