"""Long work in the event loop, in pieces: probes, the Lease and everybody's watches have their turn in between."""

from __future__ import annotations

import asyncio


class Turns:
    """Counts what one task does, and lets the others go on after each `most` of it."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._done = 0

    async def after(self, weight: int = 1) -> None:
        """So much was done."""
        self._done += weight
        if self._done >= self._most:
            self._done = 0
            await asyncio.sleep(0)
