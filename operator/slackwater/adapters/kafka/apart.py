"""Works out what a large answer means beside the event loop: the thread is Python, too, but the loop gets its turn
every few milliseconds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeVar

from slackwater.adapters.aside import aside

MOST_AT_ONCE: Final = 1_000
"""Partitions, or what takes as long: some ten milliseconds."""

T = TypeVar("T")


async def apart(weight: int, function: Callable[[], T]) -> T:
    """What the function returns, or raises; `weight` is in partitions. It shares nothing that somebody changes."""
    return function() if weight <= MOST_AT_ONCE else await aside(function, "kafka-answer")
