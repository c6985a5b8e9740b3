"""An event loop that never waits for time: when nothing is ready it sets its clock to the next timer."""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Coroutine
from typing import Any

A_TURN_S = 2e-5
"""What is done takes a moment: no two turns of the loop are at the same time."""


class _SkippingSelector(selectors.DefaultSelector):
    skipped_s = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        self.skipped_s += A_TURN_S
        ready = super().select(0)
        if not ready and timeout is None:
            raise RuntimeError("nothing is ready and no timer is set: this would wait for ever")
        if not ready and timeout is not None:
            self.skipped_s += timeout
        return ready


class SkippingLoop(asyncio.SelectorEventLoop):
    def __init__(self) -> None:
        self._skipping = _SkippingSelector()
        super().__init__(self._skipping)

    def time(self) -> float:
        """Nothing of the real time: a machine that stands still for a while changes nothing."""
        return self._skipping.skipped_s


def run_skipping(scenario: Coroutine[Any, Any, None]) -> None:
    with asyncio.Runner(loop_factory=SkippingLoop) as runner:
        runner.run(scenario)
