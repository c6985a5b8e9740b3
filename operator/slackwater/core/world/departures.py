"""Who is gone, and since when: what is kept of it, and for how long."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

DEPARTURES_KEPT_S: Final = 86_400.0
"""Whoever waits for a member waits for a session, or for `rejoinTimeout`: nobody asks who left the day before."""
DEPARTURES_KEPT: Final = 1_000
"""Strangers come and go in any group: of what left before the last hour, so many are remembered, the newest."""
LATELY_S: Final = 3_600.0
"""What left since then is kept, however many did: all members of a large group go at once where it is stopped. Brokers
allow sessions of half an hour (`group.max.session.timeout.ms`)."""


def kept(gone: Mapping[str, float], at: float) -> dict[str, float]:
    """Of who is gone since when, what is remembered `at` a moment."""
    since = at - DEPARTURES_KEPT_S
    if len(gone) > DEPARTURES_KEPT:
        newest_first = sorted(gone.values(), reverse=True)
        since = max(since, min(at - LATELY_S, newest_first[DEPARTURES_KEPT - 1]))
    return {key: moment for key, moment in gone.items() if moment >= since}
