"""The allocator against a scan of all who wait, over random histories."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Final

import pytest

from slackwater.core.fleet.allocation import Allocator
from slackwater.core.fleet.calls import FIRST_WAY_BACK_S, LONGEST_WAY_BACK_S
from slackwater.core.fleet.claim import Cell, Cells, Claim, Limit, Standing, in_order
from slackwater.core.fleet.reservation import RESERVES_AFTER_S, STUCK_AFTER_S

CALL_S: Final = 120.0
CELLS: Final = tuple(Cell("slackwater/platform", "coordinators", str(n)) for n in range(4))
SHUT: Final = Cell("slackwater/platform", "windows")
STEP_S: Final = 60.0
"""Longer than any spacing."""


class Scan:
    """What the allocator is to be equal to: after each change it looks at everybody, in order."""

    def __init__(self) -> None:
        self.claims: dict[str, Claim] = {}
        self.limits: dict[Cell, Limit] = {}
        self.calls: dict[str, float] = {}
        self.lapsed: dict[str, int] = {}
        self.back_at: dict[str, float] = {}
        self.begun: dict[Cell, float] = {}
        self.users: dict[Cell, set[tuple[str, bool]]] = {}
        self.changed_at: dict[Cell, float] = {}
        self.admitted: set[str] = set()

    def room(self, cell: Cell, now: float) -> int:
        limit = self.limits.get(cell, Limit(number=0))
        if limit.spacing_s and now < self.begun.get(cell, -1e9) + limit.spacing_s:
            return 0
        return self.unspaced_room(cell)

    def unspaced_room(self, cell: Cell) -> int:
        limit = self.limits.get(cell, Limit(number=0))
        groups = sum(cell in claim.member_of for claim in self.claims.values())
        used = sum(cell in c.takes and (c.standing.counts or c.group in self.calls) for c in self.claims.values())
        return limit.of(groups) - used

    def note_changes(self, now: float) -> None:
        """Who has begun or ended in each cell."""
        for cell in self.limits:
            counted = [c for c in self.claims.values() if c.standing.counts or c.group in self.calls]
            users = {(c.group, c.group in self.calls) for c in counted if cell in c.takes}
            if users != self.users.get(cell, set()):
                self.users[cell], self.changed_at[cell] = users, now

    def is_stuck(self, cell: Cell, now: float) -> bool:
        shut = self.limits.get(cell, Limit(number=0)).shut
        return not shut and self.unspaced_room(cell) <= 0 and now - self.changed_at.get(cell, -1e9) >= STUCK_AFTER_S

    def waiters(self) -> list[Claim]:
        asks = [claim for claim in self.claims.values() if claim.standing is Standing.ASKS]
        waiting = [claim for claim in asks if claim.group not in self.calls and claim.group not in self.back_at]
        return sorted(waiting, key=lambda claim: (claim.order, claim.group))

    def is_late(self, claim: Claim) -> bool:
        """It has a turn that this leader has not given."""
        return claim.standing is Standing.HAS and claim.group not in self.admitted

    def put(self, claim: Claim) -> None:
        known = self.claims.get(claim.group)
        if known == claim:
            return
        if claim.standing is not Standing.HAS:
            self.admitted.discard(claim.group)
        elif claim.group in self.calls:
            self.admitted.add(claim.group)
        if claim.standing is not Standing.ASKS or (known and known.takes != claim.takes):
            self.calls.pop(claim.group, None)
        if claim.standing is not Standing.ASKS:
            self.lapsed.pop(claim.group, None)
            self.back_at.pop(claim.group, None)
        self.claims[claim.group] = claim

    def fold(self, now: float) -> set[str]:
        self.note_changes(now)
        for group, until in list(self.calls.items()):
            if until <= now:
                del self.calls[group]
                self.lapsed[group] = self.lapsed.get(group, 0) + 1
                self.back_at[group] = now + min(FIRST_WAY_BACK_S * 2 ** (self.lapsed[group] - 1), LONGEST_WAY_BACK_S)
        for group, at in list(self.back_at.items()):
            if at <= now:
                del self.back_at[group]
        for claim in list(self.claims.values()):
            if claim.standing is Standing.SETTLES and claim.counts_until <= now:
                self.claims[claim.group] = Claim(claim.group, claim.member_of)
        self.note_changes(now)
        called = set[str]()
        for claim in sorted(self.claims.values(), key=lambda each: (each.order, each.group)):
            others = [each for each in self.claims.values() if self.is_late(each) and each != claim]
            rooms = (self.unspaced_room(cell) + sum(cell in each.takes for each in others) for cell in claim.takes)
            if self.is_late(claim) and all(room >= 0 for room in rooms):
                called.add(claim.group)
                self.admitted.add(claim.group)
        while self._call_one(called, now):
            pass
        return called

    def _call_one(self, called: set[str], now: float) -> bool:
        reserved: Cells = ()
        first = True
        for claim in self.waiters():
            if any(self.limits.get(cell, Limit(number=0)).shut for cell in claim.takes):
                continue
            if all(self.room(cell, now) - (cell in reserved) > 0 for cell in claim.takes):
                called.add(claim.group)
                self.calls[claim.group] = now + CALL_S
                self.begun.update(dict.fromkeys(claim.takes, now))
                self.note_changes(now)
                return True
            waits_for_long = now - claim.asked_at >= RESERVES_AFTER_S
            if waits_for_long and any(self.is_stuck(cell, now) for cell in claim.takes):
                continue
            if first and waits_for_long:
                reserved = claim.takes
            first = False
        return False


def histories(seed: int) -> None:
    """Random groups, limits and times; after each change both have called the same groups. In the end each that asks is
    called."""
    draw = random.Random(seed)
    allocator, scan = Allocator(CALL_S), Scan()
    limits = {cell: _limit(draw) for cell in CELLS} | {SHUT: Limit(number=99)}
    allocator.limited(limits.items())
    scan.limits.update(limits)
    groups = [f"team/{n}" for n in range(draw.choice([3, 8, 20]))]
    now = 1_000.0
    for _ in range(120):
        now += draw.choice([0.0, 1.0, 30.0, 130.0, 600.0])
        if draw.random() < 0.1:
            cell = draw.choice([*CELLS, SHUT])
            limit = Limit(number=draw.choice([0, 99])) if cell == SHUT else _limit(draw)
            allocator.limited([(cell, limit)])
            scan.limits[cell] = limit
        claims = [_claim(draw, scan.claims.get(group), group, now) for group in draw.sample(groups, 2)]
        for claim in claims:
            scan.put(claim)
        # Time first, as the timers of a process fire before what comes later; both see each of them at its moment.
        called, expected = set(allocator.changed(claims, now)), scan.fold(now)
        assert called == expected, (seed, now)
        assert {group for group in groups if allocator.is_called(group)} == set(scan.calls), (seed, now)
        for cell, limit in scan.limits.items():
            size = sum(cell in claim.member_of for claim in scan.claims.values())
            used = limit.of(size) - scan.room(cell, now)
            if not limit.spacing_s:
                assert allocator.use(cell)[:2] == (limit.of(size), used), (seed, now, cell)
    assert drained(allocator, dict(scan.claims), now) == [], seed


def drained(allocator: Allocator, claims: dict[str, Claim], now: float) -> list[str]:
    """Nothing is shut, nobody else asks, and whoever is called has its turn and ends it. Returns who is left."""
    allocator.limited([(SHUT, Limit(number=99))])
    waiting = [group for group, claim in claims.items() if claim.standing is Standing.ASKS]
    for _ in range(4 * len(claims)):
        now += STEP_S
        moved = [_moves_on(claim, allocator, now) for claim in claims.values()]
        allocator.changed(moved, now)
        claims = {claim.group: claim for claim in moved}
        waiting = [group for group, claim in claims.items() if claim.standing is Standing.ASKS]
        if not waiting:
            break
    return waiting


def _moves_on(claim: Claim, allocator: Allocator, now: float) -> Claim:
    if claim.standing is Standing.ASKS and allocator.is_called(claim.group):
        return replace(claim, standing=Standing.HAS)
    ended = claim.standing is Standing.MENDS or claim.standing is Standing.HAS
    if ended or (claim.standing is Standing.SETTLES and claim.counts_until <= now):
        return Claim(claim.group, claim.member_of)
    return claim


def _limit(draw: random.Random) -> Limit:
    spacing_s = draw.choice([0.0, 0.0, 0.0, 45.0])
    return draw.choice([Limit(number=1, spacing_s=spacing_s), Limit(number=2), Limit(percent=25)])


def _claim(draw: random.Random, known: Claim | None, group: str, now: float) -> Claim:
    known = known or Claim(group, in_order(draw.sample(CELLS, draw.choice([1, 1, 2, 3]))))
    cells = known.member_of
    after = {
        Standing.RESTS: (Standing.ASKS, Standing.ASKS, Standing.MENDS, Standing.HAS),
        Standing.ASKS: (Standing.ASKS, Standing.HAS, Standing.RESTS),
        Standing.HAS: (Standing.SETTLES, Standing.RESTS, Standing.ASKS),
        Standing.MENDS: (Standing.SETTLES, Standing.RESTS),
        Standing.SETTLES: (Standing.ASKS, Standing.SETTLES),
    }
    standing = draw.choice(after[known.standing])
    if standing is known.standing:
        return known
    if standing is Standing.ASKS:
        head_start = draw.choice([0.0, 0.0, 1800.0])
        takes = in_order([*cells, SHUT])
        return Claim(group, cells, takes, standing, (now - head_start, draw.randrange(1000)), asked_at=now)
    takes = cells if standing.counts else ()
    return replace(known, takes=takes, standing=standing, counts_until=now + draw.choice([10.0, 400.0]))


@pytest.mark.parametrize("seed", range(300))
def test_it_calls_whom_a_scan_of_all_would_call(seed: int) -> None:
    histories(seed)


def test_whoever_is_never_called_is_found_where_a_scan_calls_nobody_either(monkeypatch: pytest.MonkeyPatch) -> None:
    """Both forget whoever has let a call lapse."""
    for module in ("tests.core.fleet.test_allocation", "slackwater.core.fleet.calls"):
        monkeypatch.setattr(f"{module}.FIRST_WAY_BACK_S", 1e12)
        monkeypatch.setattr(f"{module}.LONGEST_WAY_BACK_S", 1e12)
    with pytest.raises(AssertionError, match="team/"):
        for seed in range(20):
            histories(seed)


@pytest.mark.parametrize("seed", range(50))
def test_some_at_a_time_it_calls_the_same_in_the_same_order(seed: int) -> None:
    draw = random.Random(seed)
    waits = [_claim(draw, None, f"team/{number}", 1_000.0) for number in range(40)]
    limits = {cell: _limit(draw) for cell in CELLS} | {SHUT: Limit(number=0)}
    whole, some = Allocator(CALL_S), Allocator(CALL_S)
    for each in (whole, some):
        each.limited(limits.items())
        each.changed(waits, 1_000.0)
        each.limited([(SHUT, Limit(number=99))])
    some.looks = 3
    called = some.changed((), 2_000.0)
    assert some.is_behind
    while some.is_behind:
        called += some.changed((), 2_000.0)
    assert called == whole.changed((), 2_000.0)


@pytest.mark.slow
@pytest.mark.minutes(5)
def test_so_it_does_in_ten_thousand_histories() -> None:
    for seed in range(1_000, 11_000):
        histories(seed)
