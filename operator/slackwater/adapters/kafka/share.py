"""What one connection's groups have of the budgets of their namespaces."""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Iterable
from typing import Final
from weakref import WeakValueDictionary

from slackwater.adapters.kafka.budget import Budget, budget_of
from slackwater.adapters.kafka.errors import Failure, NoRoom
from slackwater.core.decision.reasons import Reason
from slackwater.core.world.observation import Member

_BYTES: Final = 1_000
_TOPICS: Final = 10
"""Of subscriptions: these take as much memory as one partition or member does."""
_OF_A_TOPIC: Final = _BYTES // _TOPICS
"""Bytes of a topic's name that count with it."""
_EMPTY: Final = sys.getsizeof("")


class Share:
    """A connection that is renewed is opened before the old one is closed, and its groups keep their places.

    Groups that nobody has begun are not counted, as where one command looks at one.
    """

    def __init__(self, connection: str = "", most: int = 0) -> None:
        self._most = most
        self._connection = connection
        self._budgets: defaultdict[str, dict[str, Budget]] = defaultdict(dict)
        """By group id, and by the keys of those that look at it; the first one has its place."""
        self._group_ids: dict[str, str] = {}
        """The reverse, by key."""
        if connection:
            _NEWEST[connection] = self

    def begin(self, key: str, group_id: str) -> None:
        """Somebody looks at the group; `key` is `<namespace>/<name>` of the ConsumerGroup."""
        if self._group_ids.get(key, group_id) != group_id:
            self.end(key)
        self._add(key, group_id, budget_of(key.partition("/")[0], self._most))

    def end(self, key: str) -> None:
        """Nobody looks at it any more; what it had is free at once."""
        if (group_id := self._group_ids.pop(key, None)) is None:
            return
        self._budgets[group_id].pop(key).release(key)
        if not self._budgets[group_id]:
            del self._budgets[group_id]

    def close(self) -> None:
        """The connection goes."""
        heir = _NEWEST.get(self._connection)
        if heir is self:
            heir = None
            del _NEWEST[self._connection]
        for key, group_id in list(self._group_ids.items()):
            if heir is None:
                self.end(key)
            else:
                heir._add(key, group_id, self._budgets[group_id][key])  # noqa: SLF001 - its own class
        self._group_ids.clear()
        self._budgets.clear()

    def room(self) -> int | None:
        """So many partitions its groups can have at most; None: nobody counts."""
        return (
            sum({budget: budget.most for keys in self._budgets.values() for budget in keys.values()}.values()) or None
        )

    def take_partitions(self, group_id: str, number: int, *, are_all: bool) -> Failure | None:
        """A place for so many; why there is none. `are_all`: no topic was out of sight."""
        key, budget = self._of(group_id)
        message = None if budget is None else budget.take_partitions(key, number, are_all=are_all)
        return _failure(group_id, message)

    def take_members(self, group_id: str, members: Iterable[Member]) -> Failure | None:
        """The same for them, once the partitions have theirs."""
        key, budget = self._of(group_id)
        if budget is None:
            return None
        weight = weight_of_members(members, budget.partitions_of(key))
        return _failure(group_id, budget.take_members(key, weight))

    def why_not_now(self, group_id: str) -> Failure | None:
        """Why it is not to be asked about: there was no room, and is none."""
        key, budget = self._of(group_id)
        return _failure(group_id, None if budget is None else budget.why_not_now(key))

    def _of(self, group_id: str) -> tuple[str, Budget | None]:
        return next(iter(self._budgets.get(group_id, {}).items()), ("", None))

    def _add(self, key: str, group_id: str, budget: Budget) -> None:
        if key not in self._group_ids:
            self._group_ids[key] = group_id
            self._budgets[group_id][key] = budget


_NEWEST: Final[WeakValueDictionary[str, Share]] = WeakValueDictionary()
"""By connection."""


def weight_of_members(members: Iterable[Member], partitions: int) -> int:
    """In partitions, of what is kept of them beside the group's own `partitions`, of which each is owned once."""
    number = texts = owned = wanted = 0
    subscribed: dict[int, frozenset[str]] = {}
    topics: set[str] = set()
    for member in members:
        number += 1
        texts += sum(map(_size, (member.member_id, member.instance_id or "", member.client_id, member.host)))
        target = member.target or frozenset()
        owned, wanted = owned + len(member.assignment), wanted + len(target)
        topics.update(each.topic for those in (member.assignment, target) for each in those)
        if member.subscribed is not None:  # the same for most of them, mostly
            subscribed[id(member.subscribed)] = member.subscribed
    texts += sum(map(_size, topics)) + _of_subscriptions(subscribed.values())
    more = max(0, owned - partitions, wanted - partitions)
    return number + texts // _BYTES + sum(map(len, subscribed.values())) // _TOPICS + more


def _of_subscriptions(subscribed: Iterable[Iterable[str]]) -> int:
    """Bytes of long names. One that several have counts once where it is one object."""
    names = {id(name): name for those in subscribed for name in those}
    return sum(max(0, _size(name) - _OF_A_TOPIC) for name in names.values())


def _size(text: str) -> int:
    """Bytes that its characters take: four each, where one of them is beyond the basic plane."""
    return sys.getsizeof(text) - _EMPTY


def _failure(group_id: str, message: str | None) -> Failure | None:
    return None if message is None else NoRoom(Reason.ANSWER_TOO_LONG, f"group {group_id}: {message}")
