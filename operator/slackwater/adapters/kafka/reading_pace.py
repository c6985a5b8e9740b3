"""How fast answers of brokers are read and connections to them are made: whoever makes KafkaConnections in a namespace
may be the brokers, too.

A decoded answer is a lot of Python: twenty times its bytes, and a tenth of a second of processor for each megabyte,
which the event loop does without. So is a connection: three milliseconds, and more with a log-in, to each of hundreds
of brokers that one of them names, and that all hang up. So all connections of one namespace share a pace.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from threading import Lock
from typing import Final
from weakref import WeakValueDictionary

BYTES_A_SECOND: Final = 2_000_000
AT_ONCE: Final = 8_000_000
"""Bytes that are read as fast as they come, after a while without any."""
MADE_A_SECOND: Final = 25
MADE_AT_ONCE: Final = 300
"""Connections to brokers, after a while without any: a hundred KafkaConnections to three brokers each."""


class ReadingPace:
    """For any thread."""

    def __init__(self, monotonic: Callable[[], float] = time.monotonic) -> None:
        self.turn = Lock()
        """Whoever has it decodes, or waits for nobody but other namespaces."""
        self._monotonic = monotonic
        self._lock = Lock()
        self._left: float = AT_ONCE
        self._at = monotonic()
        self._connections_left: float = MADE_AT_ONCE
        self._connected_at = self._at

    def wait_s(self, size: int) -> float:
        """After so many bytes were read: for how long to read no more."""
        with self._lock:
            now = self._monotonic()
            self._left = min(AT_ONCE, self._left + (now - self._at) * BYTES_A_SECOND) - size
            self._at = now
            return max(0.0, -self._left / BYTES_A_SECOND)

    def connects_in_s(self, at_most_s: float) -> float | None:
        """When to make a connection, in seconds; None where its turn would not come within `at_most_s`, and none was
        taken: those who give up keep nobody waiting."""
        with self._lock:
            now = self._monotonic()
            filled = self._connections_left + (now - self._connected_at) * MADE_A_SECOND
            self._connections_left, self._connected_at = min(MADE_AT_ONCE, filled), now
            wait_s = max(0.0, (1 - self._connections_left) / MADE_A_SECOND)
            if wait_s > at_most_s:
                return None
            self._connections_left -= 1
            return wait_s


class OwnReading:
    """What one client's connections read, at the pace that they share with others; remembers when that held it up."""

    def __init__(self, pace: ReadingPace, monotonic: Callable[[], float] = time.monotonic) -> None:
        self.pace = pace
        self._monotonic = monotonic
        self._held_up_until = float("-inf")

    def wait_s(self, size: int) -> float:
        """As `ReadingPace` has it."""
        wait_s = self.pace.wait_s(size)
        if wait_s > 0:
            self._held_up_until = self._monotonic() + wait_s
        return wait_s

    @property
    def turn(self) -> Lock:
        return self.pace.turn

    def was_held_up(self, since: float) -> bool:
        """`since`: monotonic seconds."""
        return self._held_up_until >= since


_PACES: Final[WeakValueDictionary[str, ReadingPace]] = WeakValueDictionary()


def pace_of(whose: str) -> ReadingPace:
    """The same for all connections of a namespace, say, as long as there is one."""
    return _PACES.setdefault(whose, ReadingPace())
