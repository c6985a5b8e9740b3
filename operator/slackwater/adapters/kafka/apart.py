"""Works out what a large answer means beside the event loop: the thread is Python, too, but the loop gets its turn
every few milliseconds.

One at a time in the whole process: with twenty such threads the loop's turn would come after all of theirs.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock
from typing import Final, TypeVar

from slackwater.adapters.aside import aside

MOST_AT_ONCE: Final = 1_000
"""Partitions, or what takes as long: some ten milliseconds."""

ONE_AT_A_TIME: Final = Lock()

T = TypeVar("T")


async def apart(weight: int, function: Callable[[], T]) -> T:
    """What the function returns, or raises; `weight` is in partitions. It shares nothing that somebody changes."""
    return function() if weight <= MOST_AT_ONCE else await aside(lambda: _in_turn(function), "kafka-answer")


def _in_turn(function: Callable[[], T]) -> T:
    with ONE_AT_A_TIME:
        return function()
