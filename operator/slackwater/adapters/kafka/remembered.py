"""How much is kept of who has left, of all groups of one namespace together: a broker names whomever it likes, others
at each look, and whoever writes ConsumerGroups there may write hundreds.

What is too much is forgotten, the oldest of the group that is looked at; no look fails for it.
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Final, TypeVar
from weakref import WeakValueDictionary

from slackwater.core.world.history import GroupHistory

MOST: Final = 48 * 1024 * 1024
"""Bytes, of one namespace: 200,000 members with an instance id have left, or 50,000 with two places each."""
ALWAYS: Final = 32 * 1024
"""That each group has, whatever the others have: some hundred."""
_OF_A_DEPARTURE: Final = 130
_OF_STAYS: Final = 350
"""Bytes beside the text, as Python keeps them; of stays, there are three at most."""

T = TypeVar("T")


class Remembered:
    """What one group has of it. `fitted` is for any thread, all else for the event loop."""

    def __init__(self, namespace: str) -> None:
        self._all = _ALL.setdefault(namespace, _Namespace())
        self._size = 0

    def fitted(self, history: GroupHistory) -> GroupHistory:
        """With what there is room for."""
        room = max(ALWAYS, MOST - (self._all.used - self._size))
        departed, placed = _sizes_of(history)
        if departed + placed <= room:
            return history
        departures = _newest(history.departures, history.departures, max(room // 2, room - placed), _OF_A_DEPARTURE)
        left_at = {place: stays[-1].left_at for place, stays in history.left.items()}
        left = _newest(history.left, left_at, max(room // 2, room - departed), _OF_STAYS)
        return replace(history, departures=departures, left=left)

    def take(self, size: int) -> None:
        """So many bytes it has now."""
        self._all.used += size - self._size
        self._size = size

    def end(self) -> None:
        """Nobody looks at it any more."""
        self.take(0)


def size_of(history: GroupHistory) -> int:
    """Bytes of who has left, about."""
    return sum(_sizes_of(history))


def _sizes_of(history: GroupHistory) -> tuple[int, int]:
    return _size(history.departures, _OF_A_DEPARTURE), _size(history.left, _OF_STAYS)


def _size(rows: Collection[str], of_each: int) -> int:
    return len(rows) * of_each + sum(map(sys.getsizeof, rows))


def _newest(rows: Mapping[str, T], moments: Mapping[str, float], room: int, of_each: int) -> dict[str, T]:
    kept: set[str] = set()
    for key in sorted(moments, key=moments.__getitem__, reverse=True):
        room -= sys.getsizeof(key) + of_each
        if room < 0:
            break
        kept.add(key)
    return {key: row for key, row in rows.items() if key in kept}


class _Namespace:
    used = 0


_ALL: Final[WeakValueDictionary[str, _Namespace]] = WeakValueDictionary()
