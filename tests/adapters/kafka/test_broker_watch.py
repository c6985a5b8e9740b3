"""When brokers are asked about themselves, what stays known when they are silent. Time is skipped, not slept."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import replace

import pytest

from slackwater.adapters.kafka.broker_watch import BrokerWatch
from slackwater.adapters.kafka.errors import KafkaFailed, KafkaUnreachable
from tests.adapters.kafka.fake_facts import FACTS, FakeFacts
from tests.adapters.kafka.skipping_loop import run_skipping


class Scene:
    def __init__(self) -> None:
        self.brokers = FakeFacts()
        self.told = 0
        self.watch = BrokerWatch(self.brokers, self._note)
        self.task = asyncio.ensure_future(self.watch.run())

    def _note(self) -> None:
        self.told += 1

    async def end(self) -> None:
        self.task.cancel()
        with suppress(asyncio.CancelledError):
            await self.task


def test_brokers_are_asked_at_once_and_every_five_minutes() -> None:
    async def scenario() -> None:
        scene = Scene()
        await asyncio.sleep(1000)
        await scene.end()

        began_at = scene.brokers.asked_at[0]
        assert [round(at - began_at) for at in scene.brokers.asked_at] == [0, 300, 600, 900]
        assert scene.told == 1

    run_skipping(scenario())


def test_changed_facts_are_told_and_unchanged_ones_are_only_newer() -> None:
    async def scenario() -> None:
        scene = Scene()
        await asyncio.sleep(301)
        assert scene.watch.facts is not None
        assert scene.watch.facts.read_at == scene.brokers.asked_at[1]
        scene.brokers.facts = replace(FACTS, group_version=0)
        await asyncio.sleep(300)
        await scene.end()

        assert scene.told == 2
        assert scene.watch.facts.group_version == 0

    run_skipping(scenario())


def test_asking_is_answered_soon_however_often_it_comes() -> None:
    async def scenario() -> None:
        scene = Scene()
        await asyncio.sleep(100)
        for _ in range(200):
            scene.watch.refresh()
            await asyncio.sleep(0.1)
        await asyncio.sleep(6)
        await scene.end()

        gaps = [
            after - before for before, after in zip(scene.brokers.asked_at, scene.brokers.asked_at[1:], strict=False)
        ]
        assert gaps[0] == pytest.approx(100, abs=0.2)
        assert 4 <= len(gaps[1:]) <= 5
        assert min(gaps[1:]) >= 5

    run_skipping(scenario())


def test_what_was_known_stays_known_in_an_outage_and_is_asked_for_more_often() -> None:
    async def scenario() -> None:
        scene = Scene()
        await asyncio.sleep(299)
        scene.brokers.failure = KafkaUnreachable("no broker answers")
        await asyncio.sleep(32)
        assert scene.watch.facts == replace(FACTS, read_at=scene.brokers.asked_at[0])
        assert isinstance(scene.watch.failure, KafkaFailed)
        assert len(scene.brokers.asked_at) == 4
        scene.brokers.failure = None
        await asyncio.sleep(15)
        await scene.end()

        assert scene.watch.failure is None
        assert scene.watch.facts.read_at == scene.brokers.asked_at[-1]

    run_skipping(scenario())


def test_a_bug_ends_it() -> None:
    async def scenario() -> None:
        scene = Scene()
        scene.brokers.failure = ZeroDivisionError("a bug")
        with pytest.raises(ZeroDivisionError):
            await scene.task

    run_skipping(scenario())
