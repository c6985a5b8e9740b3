"""Who is let in where a few are at a time."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterable

import pytest

from slackwater.adapters.telemetry.gate import Gate


class Stage:
    """Each keeps its place for as many seconds as its tenant is given, by a clock of the test's own."""

    def __init__(self, places: int, **keeps_s: float) -> None:
        self.now, self.keeps_s = 0.0, keeps_s
        self.gate = Gate(places, lambda: self.now)
        self.inside: Counter[str] = Counter()
        self.most: Counter[str] = Counter()
        self.order: list[str] = []
        self._until: list[tuple[float, asyncio.Event]] = []

    async def visit(self, tenant: str) -> None:
        async with self.gate.place(tenant):
            self.order.append(tenant)
            self.inside[tenant] += 1
            self.most[tenant] = max(self.most[tenant], self.inside[tenant])
            over = asyncio.Event()
            self._until.append((self.now + self.keeps_s[tenant], over))
            await over.wait()
            self.inside[tenant] -= 1

    async def play(self, tenants: Iterable[str]) -> None:
        visits = [asyncio.create_task(self.visit(tenant)) for tenant in tenants]
        while not all(each.done() for each in visits):
            for _ in range(5):
                await asyncio.sleep(0)
            if self._until:
                self._until.sort(key=lambda each: each[0])
                self.now, over = self._until.pop(0)
                over.set()


async def test_no_more_are_inside_than_there_are_places() -> None:
    stage = Stage(3, a=1.0)
    await stage.play("a" * 10)
    assert stage.most == {"a": 3}
    assert len(stage.order) == 10


async def test_who_comes_later_has_the_next_place_before_those_who_have_some() -> None:
    stage = Stage(2, evil=3.0, good=0.1)
    await stage.play(["evil"] * 8 + ["good"] * 10)
    assert stage.order[:2] == ["evil", "evil"]
    assert stage.order.index("good") == 2
    assert Counter(stage.order[:13])["good"] == 10, "two places were taken, and a third once both had been kept"


async def test_of_those_who_have_as_many_places_who_keeps_them_shortest_comes_first() -> None:
    """Else each short answer would wait for a long one of each tenant who has others let theirs drip."""
    stage = Stage(2, evil=3.0, worse=3.0, good=0.1)
    await stage.play(["evil"] * 8 + ["worse"] * 8 + ["good"] * 20)
    last = len(stage.order) - stage.order[::-1].index("good")
    assert last - 20 <= 4, "drips that were let in before the last of the good ones"


async def test_one_tenant_alone_has_all_places() -> None:
    stage = Stage(4, good=1.0)
    await stage.play(["good"] * 4)
    assert stage.most["good"] == 4


@pytest.mark.parametrize("when", ["waiting", "just let in"])
async def test_who_gives_up_leaves_his_place_to_others(when: str) -> None:
    gate, leave = Gate(1), asyncio.Event()

    async def visit() -> None:
        async with gate.place("a"):
            await leave.wait()

    first, second = (asyncio.create_task(visit()) for _ in range(2))
    await asyncio.sleep(0)
    if when == "just let in":
        leave.set()
        await first
        second.cancel()
    else:
        second.cancel()
        await asyncio.sleep(0)
        leave.set()
    await asyncio.gather(first, second, return_exceptions=True)
    async with gate.place("b"):
        assert gate._free == 0
    assert (gate._free, gate._waiting, dict(gate._inside), gate._had_s) == (1, {}, {}, {})
