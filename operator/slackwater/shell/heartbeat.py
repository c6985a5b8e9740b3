"""How long the event loop stands still: whoever computes in it keeps all groups, probes and the Lease waiting."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Final

BEAT_S: Final = 0.05


async def beat(
    stood_still: Callable[[float], object],
    clock: Callable[[], float] = time.perf_counter,
    sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
) -> None:
    """Tell how much later than asked each turn comes, in seconds; until it is cancelled.

    A process that has no turn of the processors is told of as well: for its groups it is the same.
    """
    while True:
        began = clock()
        await sleep(BEAT_S)
        stood_still(max(0.0, clock() - began - BEAT_S))
