"""Who is gone, and since when: what is kept of it, and for how long.

A broker names whomever it likes, and others at each look: what is kept has an end in number and in bytes.
"""

from __future__ import annotations

import sys
from collections.abc import Container, Mapping
from typing import Final, NamedTuple

DEPARTURES_KEPT_S: Final = 86_400.0
"""Whoever waits for a member waits for a session, or for `rejoinTimeout`: nobody asks who left the day before."""
DEPARTURES_KEPT: Final = 1_000
"""Strangers come and go in any group: of what left before the last hour, so many are remembered, the newest."""
LATELY_S: Final = 3_600.0
"""What left since then is kept: all members of a large group go at once where it is stopped. Brokers allow sessions of
half an hour (`group.max.session.timeout.ms`)."""
LATELY_KEPT: Final = 4_000
"""But no more than that, the newest, or than twice the members that the group had at one look: each dynamic one leaves
two places. More than one stranger a second for an hour."""
BYTES_EACH: Final = 256
"""Names and places together have that for each of these, as Python keeps them: an instance id of ours takes 112, a
client id of Kafka Streams 200."""
LONGEST_KEPT: Final = 255
"""Characters. Instance ids of ours are shorter, and so are pods' names, by which client ids begin."""
_MOST_OF_ONE: Final = 1_200
"""Bytes that a text of so many characters takes at the most."""


STAYS_KEPT: Final = 3
"""So many short ones in a row come and go: then it counts no more that there was a long one before."""


class Stay(NamedTuple):
    """Of a dynamic member that is gone; seconds since the epoch."""

    came_at: float
    left_at: float
    """When it was first seen missing."""


def with_departures(
    before: Mapping[str, float], went: Mapping[str, float], there: Container[str], at: float, crowd: int
) -> dict[str, float]:
    """By instance id, when each was first seen missing, of who is not `there`. `crowd`: the most at one look."""
    named = {key: moment for key, moment in went.items() if len(key) <= LONGEST_KEPT}
    return kept({key: moment for key, moment in {**before, **named}.items() if key not in there}, at, crowd)


def with_stays(
    left: Mapping[str, tuple[Stay, ...]], ended: Mapping[str, Stay], at: float, crowd: int
) -> dict[str, tuple[Stay, ...]]:
    """The last stays at each place, oldest first, of places that somebody has left lately."""
    cut = {place[:LONGEST_KEPT]: stay for place, stay in ended.items()}
    stays = {**left, **{place: (*left.get(place, ()), stay)[-STAYS_KEPT:] for place, stay in cut.items()}}
    lately = kept({place: of_place[-1].left_at for place, of_place in stays.items()}, at, crowd)
    return {place: stays[place] for place in lately}


def kept(gone: Mapping[str, float], at: float, crowd: int) -> dict[str, float]:
    """Of who is gone since when, what is remembered `at` a moment."""
    since = at - DEPARTURES_KEPT_S
    if len(gone) > DEPARTURES_KEPT:
        newest_first = sorted(gone.values(), reverse=True)
        since = max(since, min(at - LATELY_S, newest_first[DEPARTURES_KEPT - 1]))
    return _that_fit({key: moment for key, moment in gone.items() if moment >= since}, max(LATELY_KEPT, 2 * crowd))


def _that_fit(gone: dict[str, float], most: int) -> dict[str, float]:
    """So many, and of so many bytes; the newest."""
    room = most * BYTES_EACH
    if len(gone) <= min(most, room // _MOST_OF_ONE):
        return gone
    for number, key in enumerate(sorted(gone, key=gone.__getitem__, reverse=True)):
        room -= sys.getsizeof(key)
        if number >= most or room < 0:
            del gone[key]
    return gone
