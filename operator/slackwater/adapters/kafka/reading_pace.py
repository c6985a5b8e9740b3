"""How fast answers of brokers are read: whoever makes connections in a namespace may be the brokers, too.

A decoded answer is a lot of Python: twenty times its bytes, and a tenth of a second of processor for each megabyte,
which the event loop does without. So all connections of one namespace share a pace, and large answers are decoded one
at a time.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from threading import Lock
from typing import Any, Final
from weakref import WeakValueDictionary

BYTES_A_SECOND: Final = 2_000_000
AT_ONCE: Final = 8_000_000
"""Bytes that are read as fast as they come, after a while without any."""
LARGE: Final = 256 * 1024
_ONE_AT_A_TIME: Final = Lock()


class ReadingPace:
    """For any thread."""

    def __init__(self, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._monotonic = monotonic
        self._lock = Lock()
        self._left: float = AT_ONCE
        self._at = monotonic()

    def wait_s(self, size: int) -> float:
        """After so many bytes were read: for how long to read no more."""
        with self._lock:
            now = self._monotonic()
            self._left = min(AT_ONCE, self._left + (now - self._at) * BYTES_A_SECOND) - size
            self._at = now
            return max(0.0, -self._left / BYTES_A_SECOND)


_PACES: Final[WeakValueDictionary[str, ReadingPace]] = WeakValueDictionary()


def pace_of(whose: str) -> ReadingPace:
    """The same for all connections of a namespace, say, as long as there is one."""
    return _PACES.setdefault(whose, ReadingPace())


def one_at_a_time(process: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """A parser's `_process_response` that decodes no two large answers at a time, of whatever connections."""

    def processed(read_buffer: Any) -> Any:
        if len(read_buffer) <= LARGE:
            return process(read_buffer)
        with _ONE_AT_A_TIME:
            return process(read_buffer)

    return processed
