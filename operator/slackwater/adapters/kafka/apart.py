"""Works out what a large answer means beside the event loop: the thread is Python, too, but the loop gets its turn
every few milliseconds.

One at a time in the whole process: with twenty such threads the loop's turn would come after all of theirs. And one at
a time waits for each namespace, or whoever has a hundred connections would have a hundred turns for each of another's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from threading import Lock
from typing import Final, TypeVar

from slackwater.adapters.aside import aside

MOST_AT_ONCE: Final = 1_000
"""Partitions, or what takes as long: some ten milliseconds."""

ONE_AT_A_TIME: Final = Lock()
OWN_TURN: Final[ContextVar[Lock | None]] = ContextVar("own_turn", default=None)
"""That of the connections whose answers this task has asked for last; the wire sets it."""

T = TypeVar("T")


async def apart(weight: int, function: Callable[[], T]) -> T:
    """What the function returns, or raises; `weight` is in partitions. It shares nothing that somebody changes."""
    if weight <= MOST_AT_ONCE:
        return function()
    own = OWN_TURN.get()

    def called() -> T:
        with in_turn(own):
            return function()

    return await aside(called, "kafka-answer")


@contextmanager
def in_turn(own: Lock | None) -> Iterator[None]:
    """Wait among one's own first; for threads."""
    with own or nullcontext(), ONE_AT_A_TIME:
        yield
