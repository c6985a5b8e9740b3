"""Which ConsumerFleets of each namespace count: whoever may write one may write a thousand, each of which is asked of
every group that changes, and looks at its calendar twice a minute.

The oldest count. The one that comes next stands for all that are over: it is not accepted, and selects every group of
its own namespace, and of no other, since what is not read lets nothing begin. Of the rest only a status is written.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterable
from enum import Enum, auto
from itertools import zip_longest
from typing import NamedTuple

from slackwater.core.fleet.surplus import MOST
from slackwater.shell.store import Key


class Place(Enum):
    COUNTS = auto()
    STANDS = auto()
    """For all that are over."""
    OVER = auto()


class _Age(NamedTuple):
    made_at: str
    name: str


class FleetPlaces:
    """`own`: the operator's namespace, where whoever writes fleets answers for all groups: all of its fleets count."""

    def __init__(self, own: str) -> None:
        self.most = MOST
        self._own = own
        self._in: dict[str, list[_Age]] = {}
        self._ages: dict[Key, _Age] = {}

    def __contains__(self, key: Key) -> bool:
        return key in self._ages

    def of(self, key: Key) -> Place:
        """`key`: one that is there."""
        before = 0 if key.namespace == self._own else bisect_left(self._in[key.namespace], self._ages[key])
        return Place.COUNTS if before < self.most else Place.STANDS if before == self.most else Place.OVER

    def put(self, key: Key, made_at: str) -> tuple[Key, ...]:
        """Returns whose place may be another one, itself among them."""
        age = _Age(made_at, key.name)
        moved = self.drop(key) if self._ages.get(key, age) != age else ()
        if key not in self._ages:
            insort(self._in.setdefault(key.namespace, []), age)
            self._ages[key] = age
        return tuple(dict.fromkeys((*moved, *self._at_the_bound(key.namespace), key)))

    def drop(self, key: Key) -> tuple[Key, ...]:
        """It is gone."""
        age = self._ages.pop(key, None)
        if age is None:
            return ()
        ages = self._in[key.namespace]
        del ages[bisect_left(ages, age)]
        if not ages:
            del self._in[key.namespace]
        return self._at_the_bound(key.namespace)

    def _at_the_bound(self, namespace: str) -> tuple[Key, ...]:
        near = self._in.get(namespace, [])[max(0, self.most - 1) : self.most + 2]
        return tuple(Key(namespace, age.name) for age in near)


def in_turns(names: Iterable[str]) -> tuple[str, ...]:
    """Names as `namespace/name`, the first of each namespace first: none waits for all that another one has."""
    by_namespace: dict[str, list[str]] = {}
    for name in names:
        by_namespace.setdefault(name.partition("/")[0], []).append(name)
    return tuple(name for turn in zip_longest(*by_namespace.values()) for name in turn if name is not None)
