"""Who is gone, and since when: what is kept of it, and for how long."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

DEPARTURES_KEPT_S: Final = 86_400.0
"""Whoever waits for a member waits for a session, or for `rejoinTimeout`: nobody asks who left the day before."""
DEPARTURES_KEPT: Final = 1_000
"""Strangers come and go in any group: of what left before the last hour, so many are remembered, the newest."""
LATELY_S: Final = 3_600.0
"""What left since then is kept, however many did: all members of a large group go at once where it is stopped. Brokers
allow sessions of half an hour (`group.max.session.timeout.ms`)."""


STAYS_KEPT: Final = 3
"""So many short ones in a row come and go: then it counts no more that there was a long one before."""


class Stay(NamedTuple):
    """Of a dynamic member that is gone; seconds since the epoch."""

    came_at: float
    left_at: float
    """When it was first seen missing."""


def with_stays(
    left: Mapping[str, tuple[Stay, ...]], ended: Mapping[str, Stay], at: float
) -> dict[str, tuple[Stay, ...]]:
    """The last stays at each place, oldest first, of places that somebody has left lately."""
    stays = {**left, **{place: (*left.get(place, ()), stay)[-STAYS_KEPT:] for place, stay in ended.items()}}
    lately = kept({place: of_place[-1].left_at for place, of_place in stays.items()}, at)
    return {place: stays[place] for place in lately}


def kept(gone: Mapping[str, float], at: float) -> dict[str, float]:
    """Of who is gone since when, what is remembered `at` a moment."""
    since = at - DEPARTURES_KEPT_S
    if len(gone) > DEPARTURES_KEPT:
        newest_first = sorted(gone.values(), reverse=True)
        since = max(since, min(at - LATELY_S, newest_first[DEPARTURES_KEPT - 1]))
    return {key: moment for key, moment in gone.items() if moment >= since}
