"""Waiting for conditions with a deadline; never for a time."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final, TypeVar

T = TypeVar("T")

DEADLINE_S = 300.0
BUSY: Final = 3
"""A machine that is slow, or has much else to do, has so many times as long as a deadline says: one that is kept costs
nothing."""
_LOOK_AGAIN_S = 0.1


def wait_for(
    what: str, look: Callable[[], T | None], deadline_s: float = DEADLINE_S, seen: Callable[[], object] | None = None
) -> T:
    """The first thing that `look` finds (anything but None and False). `seen` tells a failure what there was."""
    deadline_s *= BUSY
    end = time.monotonic() + deadline_s
    while True:
        found = look()
        if found is not None and found is not False:
            return found
        if time.monotonic() > end:
            instead = f"; instead: {seen()}" if seen is not None else ""
            raise AssertionError(f"waited {deadline_s:.0f} s in vain for {what}{instead}")
        time.sleep(_LOOK_AGAIN_S)
