"""Turns at the event loop: who computes for long does so alone in an iteration of it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from slackwater.adapters.cluster.paths import CONSUMER_GROUP, KAFKA_CONNECTION
from slackwater.core.decision.decision import Decision
from slackwater.core.plan import plan
from slackwater.core.world.world import World
from slackwater.shell import sayings
from slackwater.shell.store import Key
from slackwater.shell.turns import Turns
from slackwater.shell.witnesses import Witness
from tests.shell.fakes import FakeApi, connection_object, group_object
from tests.shell.reconciler_stage import Stage


class Iterations:
    """Of the event loop."""

    def __init__(self) -> None:
        self.now = 0

    @contextmanager
    def counted(self) -> Iterator[None]:
        async def count() -> None:
            while True:
                self.now += 1
                await asyncio.sleep(0)

        counting = asyncio.create_task(count())
        try:
            yield
        finally:
            counting.cancel()


async def test_one_has_its_turn_in_each_iteration_of_the_loop() -> None:
    turns, iterations, had = Turns(), Iterations(), list[int]()

    async def take() -> None:
        await turns.next()
        had.append(iterations.now)

    with iterations.counted():
        await asyncio.gather(*(take() for _ in range(20)))
    assert len(set(had)) == 20


class Clock:
    now = 50.0

    def __call__(self) -> float:
        return self.now


@pytest.mark.parametrize(("takes_s", "waits", "same"), [(0.0, False, True), (1.0, False, False), (0.0, True, False)])
async def test_who_has_a_turn_goes_on_unless_it_took_long_or_waited(takes_s: float, waits: bool, same: bool) -> None:
    clock, iterations = Clock(), Iterations()
    turns = Turns(clock)
    with iterations.counted():
        await turns.mine()
        clock.now += takes_s
        if waits:
            await asyncio.sleep(0)
        before = iterations.now
        await turns.mine()
    assert (iterations.now == before) is same


async def test_one_who_gives_up_keeps_nobody_waiting() -> None:
    turns = Turns()
    waiting = [asyncio.create_task(turns.mine()) for _ in range(3)]
    await asyncio.sleep(0)
    for each in waiting[:2]:
        each.cancel()
    await asyncio.gather(*waiting, return_exceptions=True)
    assert [each.cancelled() for each in waiting] == [True, True, False]


GROUPS = 16


async def test_passes_whose_answers_come_at_once_compute_one_after_the_other(monkeypatch: pytest.MonkeyPatch) -> None:
    """A plan of a large spec takes a tenth of a second: sixteen of them in one iteration kept probes waiting."""
    iterations, waiting, come = Iterations(), list[None](), asyncio.Event()
    computed: dict[str, list[tuple[int, str]]] = {"plan": [], "decided": [], "saw": []}

    def compute(what: str, world: World) -> None:
        computed[what].append((iterations.now, world.group.name))

    def planned(world: World) -> Decision:
        compute("plan", world)
        return plan(world)

    class Watched(Witness):
        def decided(self, _: Key, world: World, *__: Any) -> None:
            compute("decided", world)

        def saw(self, _: Key, world: World, *__: Any) -> None:
            compute("saw", world)

    answered = FakeApi.apply_status

    async def at_once(api: FakeApi, *given: Any) -> Any:
        """All answers come in one and the same iteration."""
        waiting.append(None)
        if len(waiting) == GROUPS:
            come.set()
        await come.wait()
        return await answered(api, *given)

    monkeypatch.setattr(sayings, "plan", planned)
    monkeypatch.setattr(FakeApi, "apply_status", at_once)
    stage = Stage()
    stage.reconciler._witnesses = (Watched(),)
    names = [f"evil-{number}" for number in range(GROUPS)]
    for name in names:
        stage.see(stage.api.add(CONSUMER_GROUP, group_object(name=name)))
    connection = connection_object() | {"status": {}}
    stage.store.put(KAFKA_CONNECTION, stage.api.add(KAFKA_CONNECTION, connection))
    with iterations.counted():
        await asyncio.gather(*(stage.reconciler.reconcile(Key("default", name)) for name in names))
    for what, done in computed.items():
        assert len(done) >= GROUPS, what
    together = {each for done in computed.values() for each in done}
    assert len({iteration for iteration, _ in together}) == len(together)
