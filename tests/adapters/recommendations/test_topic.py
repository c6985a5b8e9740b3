"""How the topic's consumer ends; what it reads: tests/pipeline/recommend, test_real_rotation."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Mapping
from typing import Any

import pytest

from slackwater.adapters.recommendations.reading import Reader
from slackwater.adapters.recommendations.topic import TopicSource


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
