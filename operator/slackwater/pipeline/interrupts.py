"""Ctrl-C in a job that goes on until it is told to end: Spark is asked to stop first, between two of its answers.

An exception in the middle of a call to Java leaves that call's answer to be read by the next one.
"""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, current_thread, main_thread
from types import FrameType


@contextmanager
def interrupts_noted() -> Iterator[Event]:
    """The first Ctrl-C sets the event, and is raised at the end of the body as KeyboardInterrupt; a second one at once.

    Outside of the main thread nobody is told of a Ctrl-C: there the event is never set.
    """
    asked = Event()
    if current_thread() is not main_thread():
        yield asked
        return

    def note(_number: int, _frame: FrameType | None) -> None:
        asked.set()
        signal.signal(signal.SIGINT, signal.default_int_handler)

    before = signal.signal(signal.SIGINT, note)
    try:
        yield asked
    finally:
        signal.signal(signal.SIGINT, before)
    if asked.is_set():
        raise KeyboardInterrupt
