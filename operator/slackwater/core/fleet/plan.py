"""What would be, from a moment on: the ledger and its allocator run forward over what rollouts have taken so far.

Nothing is guessed but durations: who is called next, windows, spacing and reservations are those of the product. Each
group is taken to move as soon as it is called, and to end well.
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from heapq import heappop, heappush
from math import inf
from typing import Final, NamedTuple

from slackwater.core.fleet.claim import Cell, Claim, Limit, Standing
from slackwater.core.fleet.claims import Fleet, claim_of
from slackwater.core.fleet.cron import LOOKS_AHEAD_S
from slackwater.core.fleet.facts import GroupFacts
from slackwater.core.fleet.kept import Kept
from slackwater.core.fleet.ledger import Ledger
from slackwater.core.fleet.times import Gates, Scope, gates_of

BY_TIME: Final = frozenset({"windows", "freezes"})
"""The gates that open by themselves: pauses and halts are taken to be over."""
TRIES: Final = 14
"""Openings at which a group has not fitted, after which it is said to fit into none."""


class Pace(NamedTuple):
    """How long a group's rollout takes, in seconds."""

    takes_s: float
    fits_s: float
    """What has to be left of a window that only lets begin what fits: nine of ten took less."""


@dataclass(frozen=True, slots=True)
class Wave:
    name: str
    groups: tuple[str, ...]
    soak_s: float = 0.0
    """The next wave begins so long after this one's last group is done."""


@dataclass(frozen=True, slots=True)
class Outset:
    """Groups that wait already come in their own order among those of the waves; those that move go on."""

    fleets: tuple[Fleet, ...]
    groups: tuple[GroupFacts, ...]
    paces: Mapping[str, Pace]
    """By group's key; of a group that moves, of what is left."""
    limits: Mapping[Cell, Limit] = field(default_factory=dict)
    """Of cells that are no fleet's: a campaign's waves have a `max` of their own."""


class WaveRan(NamedTuple):
    name: str
    groups: int
    begins_at: float | None
    """When its first group begins; None: none does."""
    ends_at: float | None
    """When its last group is done; None: not all of them begin."""


@dataclass(frozen=True, slots=True)
class Ran:
    """Times in seconds since the epoch."""

    begins_at: Mapping[str, float]
    ends_at: Mapping[str, float]
    waves: tuple[WaveRan, ...]
    closed_s: float
    """For how long windows and freezes let nobody begin, until the last one did."""


class Bottleneck(NamedTuple):
    cell: Cell
    limit: int
    groups: int
    """How many have to go through it."""
    needs_s: float
    """How long that takes at least: all that they take, by how many may move at a time."""


def run(outset: Outset, waves: Sequence[Wave], at: float) -> Ran:
    """From `at` on, for as long as a calendar looks ahead."""
    play = _Play(outset, at)
    ran = tuple(play.wave(wave) for wave in waves)
    play.go_on()
    return Ran(play.begins_at, play.ends_at, ran, play.closed_s)


def bottleneck(outset: Outset, groups: Iterable[str], at: float) -> Bottleneck | None:
    """The cell that needs the longest time for those of `groups` that are in it; None without any budget."""
    allocator, known = _Play(outset, at).ledger.allocator, coordinators_of(outset.groups)
    asked, loads = set(groups), defaultdict[Cell, list[float]](list)
    for group in outset.groups:
        if group.key in asked:
            fleets = [fleet for fleet in outset.fleets if fleet.selects(group)]
            for cell in claim_of(group, fleets, known).takes:
                loads[cell].append(outset.paces[group.key].takes_s)
    found = [
        Bottleneck(cell, limit, len(each), sum(each) / limit)
        for cell, each in loads.items()
        if cell.budget and (limit := allocator.use(cell)[0]) > 0
    ]
    return max(found, key=lambda each: (each.needs_s, each.cell), default=None)


def coordinators_of(groups: Iterable[GroupFacts]) -> dict[str, frozenset[int]]:
    """Those that are known, by Kafka cluster."""
    found = defaultdict[str, set[int]](set)
    for group in groups:
        if group.cluster is not None and group.coordinator is not None:
            found[group.cluster].add(group.coordinator)
    return {cluster: frozenset(each) for cluster, each in found.items()}


class _Play:
    def __init__(self, outset: Outset, at: float) -> None:
        self.ledger = Ledger()
        self.begins_at: dict[str, float] = {}
        self.ends_at: dict[str, float] = {}
        self.closed_s = 0.0
        self._outset, self._began_at, self._now = outset, at, at
        # The ledger puts nobody off: how long a group takes is in the paces, and how often none fitted is counted here.
        self._facts = {group.key: replace(group, takes_s=0.0) for group in outset.groups}
        self._fleets_of = {group.key: [f for f in outset.fleets if f.selects(group)] for group in outset.groups}
        self._fleets = {fleet.key: fleet for fleet in outset.fleets}
        self._gates = {fleet.key: _by_time(fleet, at) for fleet in outset.fleets}
        self._moving: list[tuple[float, str]] = []
        self._waiting: set[str] = set()
        self._unfit: Counter[str] = Counter()
        """Who waits for another window, and how often none had room."""
        self._wave: set[str] = set()
        """What is left of it."""
        for group in outset.groups:
            if group.standing is Standing.HAS:
                heappush(self._moving, (at + outset.paces[group.key].takes_s, group.key))
            elif group.standing is Standing.ASKS:
                self._waiting.add(group.key)
        if outset.limits:
            self.ledger.ordered(outset.limits, (), at)
        fleets = [each.overridden(self._gates[each.key].is_overridden) for each in outset.fleets]
        called = self.ledger.began([Kept(each, self._gates[each.key]) for each in fleets], self._facts.values(), at)
        self._claims: dict[str, Claim] = self._claimed()
        self._begin(called)

    def wave(self, wave: Wave) -> WaveRan:
        """Its groups ask now; returns when it has soaked, or nothing goes on any more. Who has begun of itself does not
        move once more."""
        begun_before = self.begins_at.keys() & set(wave.groups)
        self._wave, opened_at = {*wave.groups} - (begun_before & self.ends_at.keys()), self._now
        asking = [
            key for key in wave.groups if self._facts[key].standing is not Standing.HAS and key not in begun_before
        ]
        self._waiting.update(asking)
        asked = [replace(self._facts[key], standing=Standing.ASKS, asked_at=self._now) for key in asking]
        self._begin(self._put(*asked))
        while self._wave and self._step():
            pass
        begun = [max(self.begins_at[key], opened_at) for key in wave.groups if key in self.begins_at]
        if self._wave:
            return WaveRan(wave.name, len(wave.groups), min(begun, default=None), None)
        ends_at = max((self.ends_at[key] for key in wave.groups), default=self._now)
        while self._step(ends_at + wave.soak_s):
            pass
        self._now = max(self._now, ends_at + wave.soak_s)
        return WaveRan(wave.name, len(wave.groups), min(begun, default=None), max(ends_at, opened_at))

    def go_on(self) -> None:
        """Until nobody waits and nobody moves."""
        while (self._waiting or self._moving) and self._step():
            pass

    def _step(self, until: float = inf) -> bool:
        """To the next moment at which anything may be otherwise. False: there is none, or none before `until`."""
        moments = (
            self._moving[0][0] if self._moving else None,
            self.ledger.allocator.wakes_at(),
            self.ledger.allocator.relist_at,
            min((each.until for each in self._gates.values() if each.until is not None), default=None),
        )
        at = min((each for each in moments if each is not None), default=inf)
        if at > until or at - self._began_at > LOOKS_AHEAD_S:
            return False
        at = max(at, self._now)
        if self._waiting and any(each.shut for each in self._gates.values()):
            self.closed_s += at - self._now
        self._now = at
        self._end()
        self._begin(self._look_at_the_clock())
        if (relist_at := self.ledger.allocator.relist_at) is not None and relist_at <= at:
            self._begin(self.ledger.relisted(self._facts.values(), at))
        self._begin(self.ledger.allocator.changed((), at))
        return True

    def _end(self) -> None:
        while self._moving and self._moving[0][0] <= self._now:
            at, key = heappop(self._moving)
            self.ends_at[key] = at
            self._wave.discard(key)
            settles_s = max((fleet.spec.settle_for_ms / 1000 for fleet in self._fleets_of[key]), default=0.0)
            standing = Standing.SETTLES if settles_s else Standing.RESTS
            self._begin(self._put(replace(self._facts[key], standing=standing, counts_until=at + settles_s)))

    def _begin(self, calls: Iterable[str]) -> None:
        """Whoever is called does so at once, or waits for a window that is long enough."""
        called = deque(calls)
        while called:
            key = called.popleft()
            if not self.ledger.allocator.is_called(key):
                continue
            if self.ledger.closes_before_it_ends(key, self._now, self._outset.paces[key].fits_s) is None:
                self._waiting.discard(key)
                self.begins_at.setdefault(key, self._now)
                heappush(self._moving, (self._now + self._outset.paces[key].takes_s, key))
                called += self._put(replace(self._facts[key], standing=Standing.HAS))
            else:
                self._unfit[key] += 1
                called += self._put(replace(self._facts[key], standing=Standing.RESTS))

    def _look_at_the_clock(self) -> tuple[str, ...]:
        due = [key for key, gates in self._gates.items() if gates.until is not None and gates.until <= self._now]
        calls: list[str] = []
        for key in due:
            before, self._gates[key] = self._gates[key], _by_time(self._fleets[key], self._now)
            is_flipped = before.is_overridden is not self._gates[key].is_overridden
            if is_flipped:  # its groups are in other cells, by their facts
                self.ledger.all_changed(self._facts.values(), self._now)
            calls += self.ledger.passed(key, self._gates[key], self._now)
            self._claims = self._claimed() if is_flipped else self._claims
        if due:
            again = [key for key, tries in self._unfit.items() if tries < TRIES and key in self._waiting]
            calls += self._put(*(replace(self._facts[key], standing=Standing.ASKS) for key in again))
        return tuple(calls)

    def _put(self, *changed: GroupFacts) -> Sequence[str]:
        """Only how they stand has changed: making their claims again would take half of the time that a plan takes."""
        for facts in changed:
            claim = self._claims[facts.key]
            asked_later_s = facts.asked_at - claim.asked_at
            self._facts[facts.key] = facts
            self._claims[facts.key] = replace(
                claim,
                standing=facts.standing,
                asked_at=facts.asked_at,
                order=(claim.order[0] + asked_later_s, claim.order[1]),
                counts_until=facts.counts_until,
            )
        return self.ledger.allocator.changed([self._claims[facts.key] for facts in changed], self._now)

    def _claimed(self) -> dict[str, Claim]:
        return {key: self.ledger.allocator.claim_of(key) for key in self._facts}


def _by_time(fleet: Fleet, at: float) -> Gates:
    gates = gates_of(fleet, Scope(), at)
    return replace(gates, shut=gates.shut & BY_TIME)
