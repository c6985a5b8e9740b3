"""How the topic's consumer ends; what it reads: tests/pipeline/recommend, test_real_rotation."""

from __future__ import annotations

import asyncio
import threading
from collections import Counter
from collections.abc import Mapping
from itertools import count
from typing import Any

import pytest

from slackwater.adapters.recommendations.reading import Reader
from slackwater.adapters.recommendations.topic import OF_A_MESSAGE, OF_A_TURN, REST, TopicSource
from slackwater.api.recommendation import LONGEST_MESSAGE
from tests.adapters.recommendations.messages import recommendation


class Slow:
    """A consumer that looks for 0.2 s, or until it is closed."""

    def __init__(self) -> None:
        self.looking, self.closed = threading.Event(), threading.Event()
        self.was_closed_while_it_looked = False

    def consume(self, *_: Any) -> list[Any]:
        self.looking.set()
        self.was_closed_while_it_looked = self.closed.wait(0.2)
        return []

    def close(self) -> None:
        self.closed.set()


async def test_it_is_not_closed_while_a_thread_consumes(monkeypatch: pytest.MonkeyPatch) -> None:
    async def settings() -> Mapping[str, str]:
        return {}

    consumer = Slow()
    source = TopicSource(settings, "recommendations", lambda *_: None, Reader())
    monkeypatch.setattr(source, "_open", lambda _: consumer)
    following = asyncio.create_task(source.run())
    assert await asyncio.to_thread(consumer.looking.wait, 10)
    following.cancel()
    with pytest.raises(asyncio.CancelledError):
        await following
    assert consumer.closed.is_set()
    assert not consumer.was_closed_while_it_looked


class Read:
    """A message of so many bytes."""

    def __init__(self, size: int) -> None:
        text = recommendation("payments").message().encode()
        self._value = text + b" " * (size - len(text))

    def error(self) -> None: ...

    def key(self) -> bytes:
        return b"shop/payments"

    def value(self) -> bytes:
        return self._value

    def partition(self) -> int:
        return 0

    offset = partition


@pytest.mark.parametrize(("size", "in_a_turn"), [(LONGEST_MESSAGE, 1), (1_024, OF_A_TURN // (1_024 + OF_A_MESSAGE))])
async def test_a_fetch_is_read_in_turns_with_the_others(size: int, in_a_turn: int) -> None:
    turn, taken_in = 0, Counter[int]()

    async def others() -> None:
        nonlocal turn
        while True:
            turn += 1
            await asyncio.sleep(0)

    async def settings() -> Mapping[str, str]:
        return {}

    source = TopicSource(settings, "recommendations", lambda *_: taken_in.update([turn]), Reader())
    beside = asyncio.create_task(others())
    await source._take_all([Read(size)] * 200)
    beside.cancel()
    assert taken_in.total() == 200
    assert max(taken_in.values()) == in_a_turn


async def test_it_rests_as_its_work_took(monkeypatch: pytest.MonkeyPatch) -> None:
    """However fast somebody writes, the others have four fifths of the processor."""

    class Two(Slow):
        def consume(self, *_: Any) -> list[Any]:
            return [Read(1_024), Read(1_024)]

    class Rested(Exception):
        """For so long."""

    async def settings() -> Mapping[str, str]:
        return {}

    async def sleep(delay_s: float) -> None:
        if delay_s:
            raise Rested(delay_s)

    work = count(step=3.0)
    source = TopicSource(settings, "recommendations", lambda *_: None, Reader(), clock=lambda: next(work))
    monkeypatch.setattr(source, "_open", lambda _: Two())
    monkeypatch.setattr(asyncio, "sleep", sleep)
    with pytest.raises(Rested) as rested:
        await source.run()
    assert rested.value.args == (REST * 2 * 3.0,)
