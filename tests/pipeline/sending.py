"""Telemetry on its way into a topic, by the operator's own sink."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from slackwater.adapters.telemetry.sinks import Line
from slackwater.adapters.telemetry.topic import TopicSink
from slackwater.api.telemetry.events import read_line, write_line


def send(servers: str, topic: str, events: Sequence[str]) -> None:
    """Returns when the brokers have all of them."""
    asyncio.run(_send(servers, topic, events))


async def _send(servers: str, topic: str, events: Sequence[str]) -> None:
    async def settings() -> dict[str, str]:
        return {"bootstrap.servers": servers}

    sink = TopicSink(topic, settings)
    told = map(read_line, events)
    assert await sink.write([Line(each.key, write_line(each)) for each in told]) == 0
    await sink.close()
