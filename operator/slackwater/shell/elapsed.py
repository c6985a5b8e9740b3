"""How long ago something was, by a clock that people and NTP set."""

from __future__ import annotations

import math


def elapsed_s(since: float, now: float) -> float:
    """In seconds. For ever, where the clock was set back meanwhile: nobody waits until it has caught up."""
    return now - since if now >= since else math.inf


def earlier(since: float | None, now: float) -> float:
    """Since when something is so: `since`, now where it is new, and now where the clock was set back meanwhile."""
    return now if since is None else min(since, now)
