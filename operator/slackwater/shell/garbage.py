"""Python looks for garbage in everything that lives, and the event loop stands still meanwhile.

What was looked through once is left alone: it is freed as ever when nobody refers to it any more, but for circles. So
all of it is looked through again once there is half as much more, as there is where circles gather.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Mapping
from typing import Any, Final

_OLDEST: Final = 2
COUNTED_EVERY_S: Final = 60.0
"""To count what is left alone takes a tenth as long as to look through it."""
SOME: Final = 200_000
"""Objects: some twenty megabytes, which are not worth a look."""


class LeftAlone:
    """A callback of Python's garbage collector."""

    def __init__(self, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._monotonic = monotonic
        self._counted_at = monotonic()
        self._most = 0
        self._all_of_it = True

    def __call__(self, phase: str, info: Mapping[str, Any]) -> None:
        if info["generation"] != _OLDEST:
            return
        if phase == "start":
            self._begin()
            return
        gc.freeze()
        if self._all_of_it:
            self._all_of_it = False
            self._most = gc.get_freeze_count() * 3 // 2 + SOME

    def _begin(self) -> None:
        now = self._monotonic()
        if now < self._counted_at + COUNTED_EVERY_S:
            return
        self._counted_at = now
        if gc.get_freeze_count() > self._most:
            gc.unfreeze()
            self._all_of_it = True


def keep_for_good() -> None:
    """Look once, and from then on at what came since: the program, and the objects of the first list, are two thirds of
    what lives, and what is kept of groups is most of the rest."""
    if not any(isinstance(each, LeftAlone) for each in gc.callbacks):
        gc.callbacks.append(LeftAlone())
    gc.collect()
