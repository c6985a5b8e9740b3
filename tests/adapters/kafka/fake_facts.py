"""Brokers that tell of themselves what a test says."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from slackwater.core.world.broker import BrokerFacts

FACTS = BrokerFacts(read_at=0.0, serves_consumer_protocol=True, group_version=1)


class FakeFacts:
    """Tells `facts`, or raises `failure`, and notes when it was asked."""

    def __init__(self) -> None:
        self.facts = FACTS
        self.failure: Exception | None = None
        self.asked_at: list[float] = []

    async def read(self) -> BrokerFacts:
        now = asyncio.get_running_loop().time()
        self.asked_at.append(now)
        if self.failure is not None:
            raise self.failure
        return replace(self.facts, read_at=now)
