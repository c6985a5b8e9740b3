"""Events to write, and sinks that do what a test says."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass, field

from slackwater.adapters.telemetry.sinks import Line, SinkUnavailable
from slackwater.api.telemetry.events import Event, read_line
from tests.api.telemetry_examples import EXAMPLES


def event(number: int = 0, name: str = "payments") -> Event:
    return read_line(json.dumps(EXAMPLES["gate_held"] | {"id": f"event-{number}", "name": name}))


def events(count: int) -> list[Event]:
    return [event(number) for number in range(count)]


def ids(texts: Sequence[bytes]) -> list[str]:
    return [read_line(text).id for text in texts]


@dataclass
class FakeSink:
    """Takes everything, unless it is blocked or has failures to raise first."""

    failures: list[str] = field(default_factory=list)
    takes: int = 0
    """How many lines of a batch it takes before it fails."""
    bugs: int = 0
    """How many batches it breaks at."""
    refuses: frozenset[str] = frozenset()
    """Ids that it can never take."""
    open: asyncio.Event = field(default_factory=asyncio.Event)
    taken: list[bytes] = field(default_factory=list)
    closed: bool = False

    def __post_init__(self) -> None:
        self.open.set()

    async def write(self, lines: Sequence[Line]) -> int:
        await self.open.wait()
        if self.bugs:
            self.bugs -= 1
            raise ZeroDivisionError
        if self.failures:
            self.taken += [line.text for line in lines[: self.takes]]
            raise SinkUnavailable(self.failures.pop(0), lines[self.takes :])
        kept = [line.text for line in lines if read_line(line.text).id not in self.refuses]
        self.taken += kept
        return len(lines) - len(kept)

    async def close(self) -> None:
        self.closed = True
