"""Turns at the event loop: what computes for long does so one after the other, and between two of them the loop has all
of its own: probes, the Lease, watches, other tenants' answers.

Else those whose answers came while one computed would all compute in the loop's next iteration, one after the other.
"""

from __future__ import annotations

import asyncio


class Turns:
    def __init__(self) -> None:
        self._next = asyncio.Lock()

    async def mine(self) -> None:
        """Wait for an iteration of the loop in which nobody else has a turn. It ends with the caller's next wait."""
        async with self._next:
            await asyncio.sleep(0)
