"""How much is kept of all groups of one namespace together: whoever writes ConsumerGroups there may write a thousand,
each within what is looked at of one.

The count follows the memory: a partition is one, and so is a member. Who came first keeps the place; what does not fit
is not looked at, and says so. For the event loop alone.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final
from weakref import WeakValueDictionary

AGAIN_S: Final = 300.0
"""After which one that does not fit is asked about again, as it may be smaller by then; at once where there is room."""
BACK_WITHIN_S: Final = 900.0
"""Members that leave come back, as while pods are replaced: for so long nobody else has their place."""
FOR_GROWTH: Final = 5
"""A share of it is for groups that have a place: a warm handover has twice the members for a while."""


@dataclass(slots=True)
class _Place:
    partitions: int = 0
    members: int = 0
    members_at: float = 0.0
    """When there were so many the last time."""
    settled: bool = False
    """Whether it was seen whole: the place is then kept, however the group grows."""

    @property
    def size(self) -> int:
        return self.partitions + self.members


@dataclass(frozen=True, slots=True)
class _Refused:
    more: int
    """Than it has a place for."""
    most: int
    """That all might have had with it."""
    again_at: float
    message: str


class Budget:
    """Of one namespace. Groups are known by the keys of their ConsumerGroups."""

    def __init__(self, namespace: str, most: int, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._namespace = namespace
        self.most = most
        self.used = 0
        self._monotonic = monotonic
        self._places: dict[str, _Place] = {}
        self._refused: dict[str, _Refused] = {}
        self._refused_more = 0
        """All that those lack, together."""

    def take_partitions(self, key: str, number: int, *, are_all: bool = True) -> str | None:
        """A place for so many, before more is read of them; why there is none. `are_all`: no topic was out of sight."""
        known = self._places.get(key) or _Place()
        number = number if are_all else max(number, known.partitions)
        return self._take(key, _Place(number, known.members, known.members_at, known.settled))

    def take_members(self, key: str, number: int) -> str | None:
        """The same for its members, after which it is known whole. Of one that was released meanwhile nobody asks."""
        known, now = self._places.get(key), self._monotonic()
        if known is None:
            return None
        if number < known.members and now < known.members_at + BACK_WITHIN_S:
            number, now = known.members, known.members_at
        return self._take(key, _Place(known.partitions, number, now, settled=True))

    def partitions_of(self, key: str) -> int:
        """That it has a place for."""
        return self._places.get(key, _Place()).partitions

    def why_not_now(self, key: str) -> str | None:
        """Why not to ask about a group: it was too much, and nothing that is known of has changed."""
        refused = self._refused.get(key)
        if refused is None or self._monotonic() >= refused.again_at or self.used + refused.more <= refused.most:
            return None
        return refused.message

    def release(self, key: str) -> None:
        """Nothing of it is kept any more."""
        self._count_no_more(key)
        if (place := self._places.pop(key, None)) is not None:
            self.used -= place.size

    def _take(self, key: str, wanted: _Place) -> str | None:
        before = self._places.get(key, _Place())
        more = wanted.size - before.size
        most = self.most if before.settled else self.most - self.most // FOR_GROWTH
        if more > 0 and self.used + more > most:
            if not before.settled:
                self.release(key)
                more = wanted.size
            return self._refuse(key, more, most)
        self._count_no_more(key)
        self._places[key] = wanted
        self.used += more
        return None

    def _refuse(self, key: str, more: int, most: int) -> str:
        self._count_no_more(key)
        self._refused_more += more
        together = self.used + self._refused_more
        message = (
            f"the groups of namespace {self._namespace} have {together:,} partitions and members together, of which"
            f" slackwater looks at {most:,} at most: at {len(self._places):,} groups, which came first; whoever runs"
            " the operator can raise observation.mostPerNamespace"
        )
        self._refused[key] = _Refused(more, most, self._monotonic() + AGAIN_S, message)
        return message

    def _count_no_more(self, key: str) -> None:
        """It is not among those without a place."""
        if (refused := self._refused.pop(key, None)) is not None:
            self._refused_more -= refused.more


_BUDGETS: Final[WeakValueDictionary[str, Budget]] = WeakValueDictionary()


def budget_of(namespace: str, most: int) -> Budget:
    """The same for all connections, as long as one has a group of that namespace."""
    return _BUDGETS.setdefault(namespace, Budget(namespace, most))
