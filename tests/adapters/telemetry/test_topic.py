"""What the topic's sink does with a client that has failed; with brokers: test_real_topic."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any

import pytest

from slackwater.adapters.telemetry.sinks import Line, SinkUnavailable
from slackwater.adapters.telemetry.topic import TopicSink


class Silent:
    """A client that no broker answers; the end of the last reference to it is told with its thread."""

    def __init__(self, ended: list[int]) -> None:
        self._ended = ended

    def produce(self, *_: Any, **__: Any) -> None: ...

    def poll(self, timeout: float) -> int:
        return 0

    def __del__(self) -> None:
        self._ended.append(threading.get_ident())


async def test_a_client_that_failed_ends_where_nobody_waits_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    async def settings() -> Mapping[str, str]:
        return {}

    ended: list[int] = []
    sink = TopicSink("events", settings, delivery_s=-1.0)
    monkeypatch.setattr(sink, "_opened", lambda _: Silent(ended))
    with pytest.raises(SinkUnavailable):
        await sink.write([Line("payments", b"{}")])
    assert len(ended) == 1
    assert ended[0] != threading.get_ident()
