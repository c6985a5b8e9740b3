"""Closes what may hang without letting anybody wait for it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from threading import Thread
from typing import Final

CLOSED_WITHIN_S: Final = 1.0


async def closed_aside(close: Callable[[], None]) -> None:
    """Call `close`, which blocks, and wait for it for a moment; it goes on by itself.

    In a thread of its own: those of `to_thread` are few, and the process waits for them at its end.
    """
    ended, loop = asyncio.Event(), asyncio.get_running_loop()

    def end() -> None:
        try:
            close()
        finally:
            with suppress(RuntimeError):  # the loop has ended
                loop.call_soon_threadsafe(ended.set)

    Thread(target=end, name="kafka-close", daemon=True).start()
    with suppress(TimeoutError):
        async with asyncio.timeout(CLOSED_WITHIN_S):
            await ended.wait()
