"""Events on their way to a sink: a bounded buffer, so that recording never waits for anything and never fails.

What does not fit any more is dropped and counted, of whichever namespace has most, the newest first: a row of facts
that breaks off can be read, one with holes cannot. Each group has a share of its own. A sink that is away is tried
again, with pauses that grow. What it took may be written twice, after a failure or at the end: who reads events tells
doubles by their ids.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Iterable
from enum import StrEnum
from typing import Final, NoReturn

import structlog

from slackwater.adapters.telemetry.buffer import Buffer
from slackwater.adapters.telemetry.shares import Shares
from slackwater.adapters.telemetry.sinks import Line, Sink, SinkUnavailable
from slackwater.api.telemetry.events import Event, write_line

CAPACITY: Final = 20_000
"""Events, of somewhat less than a kilobyte each."""
LARGEST: Final = 32 * 1024 * 1024
"""Bytes of them together: what brokers and pods say stands in them, too."""
BATCH: Final = 500
AGAIN_S: Final = (1.0, 2.0, 5.0, 10.0, 30.0)

_log = structlog.get_logger(__name__)


class Dropped(StrEnum):
    """Why an event was not written."""

    BUFFER_FULL = "BufferFull"
    TOO_MUCH = "TooMuch"
    """Its group has used up its share, or it is longer than an event of members that are ours."""
    REFUSED = "Refused"
    """The sink can never take it, for example because it is too long."""
    ENDING = "Ending"
    """The operator ended before the sink took it."""
    FAILED = "Failed"
    """A bug kept it from being told or written; a pass that could not be told counts once, whatever it had to tell."""


class Recorder:
    """`run` has to be running for anything to be written."""

    def __init__(
        self,
        sink: Sink,
        *,
        capacity: int = CAPACITY,
        largest: int = LARGEST,
        again_s: tuple[float, ...] = AGAIN_S,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._sink = sink
        self._again_s = again_s
        self._waiting = Buffer(capacity, largest)
        """But for what is in hand."""
        self._shares = Shares(now)
        self._in_hand: tuple[Line, ...] = ()
        self._some = asyncio.Event()
        self._failures = 0
        self._told = ""
        self.recorded: Counter[str] = Counter()
        """By type; all that was told, whether it was written or not."""
        self.dropped: Counter[Dropped] = Counter()

    @property
    def waiting(self) -> int:
        return len(self._waiting) + len(self._in_hand)

    def record(self, events: Iterable[Event]) -> None:
        """At once, whatever the sink does."""
        for event in events:
            self.recorded[event.type.value] += 1
            line = Line(event.key, write_line(event))
            if not self._shares.take(line):
                self.dropped[Dropped.TOO_MUCH] += 1
                continue
            if left_out := self._waiting.add(line, len(self._in_hand)):
                self.dropped[Dropped.BUFFER_FULL] += left_out
            if self._waiting:
                self._some.set()

    async def run(self) -> NoReturn:
        """Write for ever."""
        while True:
            await self._some.wait()
            if not await self._write_batch():
                await asyncio.sleep(self._again_s[min(self._failures, len(self._again_s)) - 1])

    async def close(self, within_s: float) -> None:
        """After `run` was cancelled: write what is left, for so long at the most."""
        try:
            async with asyncio.timeout(within_s):
                while self.waiting and await self._write_batch():
                    pass
                await self._sink.close()
        except TimeoutError:
            _log.warning("telemetry_not_closed", problem=f"the place for it did not end within {within_s:g} s")
        if self.waiting:
            self.dropped[Dropped.ENDING] += self.waiting
            _log.warning("telemetry_lost", events=self.waiting, problem=self._told or "there was no time left")

    async def _write_batch(self) -> bool:
        """Whether the sink took all of it; if not, the rest stays in hand."""
        if not self._in_hand:
            self._in_hand = self._waiting.next(BATCH)
        try:
            self.dropped[Dropped.REFUSED] += await self._sink.write(self._in_hand)
        except SinkUnavailable as error:
            self._in_hand = error.left
            self._failures += 1
            self._tell(str(error))
            return False
        except Exception:  # noqa: BLE001 - a bug in a sink must neither end the operator nor come back for ever
            self.dropped[Dropped.FAILED] += len(self._in_hand)
            _log.exception("telemetry_failed", events=len(self._in_hand))
        self._in_hand = ()
        self._failures = 0
        if self._told:
            self._told = ""
            _log.info("telemetry_written_again", waiting=len(self._waiting))
        if not self._waiting:
            self._some.clear()
        return True

    def _tell(self, problem: str) -> None:
        """Once for each problem."""
        if problem != self._told:
            self._told = problem
            _log.warning("telemetry_not_written", problem=problem, waiting=self.waiting)
