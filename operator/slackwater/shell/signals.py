"""SIGTERM before kopf runs, which sees to signals itself. The first process of a container that does not is deaf."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Coroutine
from typing import Any


async def until_sigterm(preparation: Coroutine[Any, Any, None]) -> bool:
    """Whether it came to its end; False when SIGTERM came first."""
    loop, task = asyncio.get_running_loop(), asyncio.create_task(preparation)
    loop.add_signal_handler(signal.SIGTERM, task.cancel)
    try:
        await asyncio.wait({task})
    finally:
        loop.remove_signal_handler(signal.SIGTERM)
        task.cancel()
    if task.cancelled():
        return False
    task.result()
    return True
