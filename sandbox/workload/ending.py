"""When a program is to end: an Event that a signal's handler can set.

A handler interrupts the main thread wherever it is. `threading.Event.set` would wait there for a lock that the main
thread itself holds while it begins or ends a `wait`, and the program would never end.
"""

from __future__ import annotations

import os
import select
import signal


class Ending:
    """Set once, by a signal or by any thread, and never taken back."""

    def __init__(self) -> None:
        self._is_set = False
        self._readable, self._writable = os.pipe()

    def set(self) -> None:
        """Wakes every waiter; takes no lock."""
        if not self._is_set:
            self._is_set = True
            os.write(self._writable, b".")

    def is_set(self) -> bool:
        """Whether the program is to end."""
        return self._is_set

    def wait(self, timeout_s: float | None = None) -> bool:
        """Until it is set, or for so long; returns whether it is set."""
        if not self._is_set:
            select.select([self._readable], [], [], timeout_s)
        return self._is_set


def by_signals() -> Ending:
    """Set by SIGTERM and by SIGINT from now on; call it in the main thread."""
    ending = Ending()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: ending.set())
    return ending
