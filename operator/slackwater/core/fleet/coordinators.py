"""Which brokers are known to coordinate groups, and who may be at any of them: kept by changes.

A new leader learns the brokers one after the other, as groups are looked at. What a group takes room of where nobody
knows its coordinator follows from all that are known. Of a group that asks or moves it is found out again each time; of
one at rest when it asks, so that ten thousand of them cost nothing when a broker becomes known.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping
from typing import Final

from slackwater.core.fleet.claim import Standing
from slackwater.core.fleet.facts import GroupFacts

NO_BROKERS: Final[frozenset[int]] = frozenset()


class Coordinators:
    def __init__(self) -> None:
        self._groups: defaultdict[str, Counter[int]] = defaultdict(Counter)
        """By Kafka cluster, how many groups each broker is known to coordinate."""
        self._known: dict[str, frozenset[int]] = {}
        self._anywhere: defaultdict[str, set[str]] = defaultdict(set)
        """By Kafka cluster, the groups that ask or move, and whose coordinator nobody knows."""

    @property
    def known(self) -> Mapping[str, frozenset[int]]:
        """The brokers by Kafka cluster."""
        return self._known

    def changed(self, before: GroupFacts | None, after: GroupFacts | None) -> frozenset[str]:
        """Something else is known of one group. Returns the clusters in which other brokers are known by that."""
        clusters = {each.cluster for each in (before, after) if each is not None and each.cluster is not None}
        known = {cluster: self._known.get(cluster) for cluster in clusters}
        if before is not None and before.cluster is not None:
            self._count(before, before.cluster, -1)
        if after is not None and after.cluster is not None:
            self._count(after, after.cluster, +1)
        return frozenset(each for each in clusters if known[each] != self._known.get(each))

    def anywhere(self, clusters: Collection[str]) -> Iterator[str]:
        """Who asks or moves there, and may be at any of the brokers, by `namespace/name`."""
        return (key for cluster in sorted(clusters) for key in sorted(self._anywhere.get(cluster, ())))

    def _count(self, group: GroupFacts, cluster: str, by: int) -> None:
        if group.coordinator is None:
            self._place(group, cluster, is_there=by > 0 and group.standing is not Standing.RESTS)
            return
        groups = self._groups[cluster]
        groups[group.coordinator] += by
        if not groups[group.coordinator]:
            del groups[group.coordinator]
        if groups.keys() != self._known.get(cluster, NO_BROKERS):
            self._known[cluster] = frozenset(groups)

    def _place(self, group: GroupFacts, cluster: str, *, is_there: bool) -> None:
        if is_there:
            self._anywhere[cluster].add(group.key)
        else:
            self._anywhere[cluster].discard(group.key)
