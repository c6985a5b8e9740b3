"""Keeps the newest facts about a cluster's brokers: read every few minutes, and when somebody asks."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import Final, Protocol

import structlog

from slackwater.adapters.kafka.errors import KafkaFailed
from slackwater.core.world.broker import BrokerFacts

READ_INTERVAL_S: Final = 300.0
RETRY_INTERVAL_S: Final = 15.0
"""After a failure. The facts from before stay: brokers seldom change what they allow, and more often are away."""
_ASKED_AT_MOST_EVERY_S: Final = 5.0

_log = structlog.get_logger(__name__)


class ReadsFacts(Protocol):
    async def read(self) -> BrokerFacts: ...


class BrokerWatch:
    """`on_change()` is called in the event loop when facts are there for the first time, or other than before."""

    def __init__(
        self, reader: ReadsFacts, on_change: Callable[[], None], *, interval_s: float = READ_INTERVAL_S
    ) -> None:
        self._reader = reader
        self._on_change = on_change
        self._interval_s = interval_s
        self._asked = asyncio.Event()
        self.facts: BrokerFacts | None = None
        self.failure: KafkaFailed | None = None
        """Why the last reading failed; None when it did not."""

    def refresh(self) -> None:
        """Read again soon. Safe to call at every turn: brokers are asked every 5 s at most."""
        self._asked.set()

    async def run(self) -> None:
        """Read, wait, read again, for ever. Only failures of Kafka are taken; anything else ends it."""
        while True:
            self._asked.clear()
            await self._read()
            await asyncio.sleep(_ASKED_AT_MOST_EVERY_S)
            rest_s = (self._interval_s if self.failure is None else RETRY_INTERVAL_S) - _ASKED_AT_MOST_EVERY_S
            try:
                async with asyncio.timeout(max(0.0, rest_s)):
                    await self._asked.wait()
            except TimeoutError:
                continue

    async def _read(self) -> None:
        try:
            facts = await self._reader.read()
        except KafkaFailed as error:
            if str(error) != str(self.failure):
                _log.warning("brokers_not_read", reason=error.reason, message=str(error))
            self.failure = error
            return
        self.failure = None
        before, self.facts = self.facts, facts
        if before is None or replace(before, read_at=facts.read_at) != facts:
            self._on_change()
