"""How many groups of one fleet do what: kept by changes, so that one costs the same however many groups there are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from statistics import median_low
from typing import Final

from slackwater.api.fleet_budgets import MoveReason
from slackwater.core.fleet.claim import Standing
from slackwater.core.fleet.facts import GroupFacts

NAMED: Final = 10
"""As many groups are named in a status, a condition or an Event."""


@dataclass(slots=True)
class Sickness:
    """Of the groups of one coordinator, without those that have a turn."""

    groups: int = 0
    disturbed: int = 0
    unknown: int = 0
    """Not looked at yet."""


class Tally:
    def __init__(self) -> None:
        self._groups: dict[str, GroupFacts] = {}
        self._standings: Counter[Standing] = Counter()
        self._failed: dict[str, GroupFacts] = {}
        self._places: dict[str, Sickness] = {}
        self._anywhere: Counter[tuple[str, MoveReason]] = Counter()
        """By Kafka cluster and reason, its groups whose coordinator nobody knows."""
        self._pod_s: float | None = None
        """How long a pod of its groups takes, half of them at most; None: to be asked."""

    def put(self, group: GroupFacts) -> bool:
        """False where just that is known."""
        if self._groups.get(group.key) is group:
            return False
        pod_s = self._pod_s
        known = self.drop(group.key)
        if (None if known is None else _pod_s(known)) == _pod_s(group):
            self._pod_s = pod_s
        else:
            self._pod_s = None
        self._groups[group.key] = group
        self._count(group, +1)
        if group.failed_at is not None:
            self._failed[group.key] = group
        return True

    def drop(self, key: str) -> GroupFacts | None:
        """It is gone, or the fleet selects it no more. Returns what was known of it."""
        known = self._groups.pop(key, None)
        if known is not None:
            self._count(known, -1)
            self._failed.pop(key, None)
            self._pod_s = self._pod_s if _pod_s(known) is None else None
        return known

    def __len__(self) -> int:
        return len(self._groups)

    def __contains__(self, key: str) -> bool:
        return key in self._groups

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._groups)

    def of(self, standing: Standing) -> int:
        return self._standings[standing]

    @property
    def failed(self) -> tuple[GroupFacts, ...]:
        """Those whose last rollout failed, went back or goes back."""
        return tuple(self._failed.values())

    def is_well(self, key: str) -> bool:
        """It is gone, or its last rollout came to its end."""
        known = self._groups.get(key)
        return known is None or known.is_well

    def places(self) -> Iterator[tuple[str, Sickness]]:
        """By coordinator."""
        return ((place, each) for place, each in self._places.items() if each.groups)

    @property
    def disturbed(self) -> int:
        return sum(each.disturbed for each in self._places.values())

    def takes_s(self, group: GroupFacts) -> float:
        """How long a rollout of it takes, by its own history; else by how long those of the others take for a pod, half
        of them at most. Asks every group then, where that has changed."""
        if group.takes_s is not None:
            return group.takes_s
        if self._pod_s is None:
            self._pod_s = median_low([each for g in self._groups.values() if (each := _pod_s(g)) is not None] or [0.0])
        return self._pod_s * group.replicas

    def having(self, *standings: Standing) -> tuple[GroupFacts, ...]:
        """By name. Asks every group."""
        return tuple(sorted((g for g in self._groups.values() if g.standing in standings), key=lambda g: g.key))

    def sick_at(self, place: str) -> tuple[str, ...]:
        """The disturbed ones of one coordinator, by name. Asks every group."""
        return tuple(sorted(g.key for g in self._groups.values() if g.place == place and g.is_sick))

    def reasons_anywhere(self, cluster: str) -> frozenset[MoveReason]:
        """For what those ask, or asked last, whose coordinator nobody knows."""
        return frozenset(reason for (place, reason), number in self._anywhere.items() if number and place == cluster)

    def _count(self, group: GroupFacts, by: int) -> None:
        self._standings[group.standing] += by
        if group.cluster is not None and group.coordinator is None:
            self._anywhere[group.cluster, group.reason] += by
        sickness = self._places.setdefault(group.place, Sickness())
        sickness.groups += by
        sickness.disturbed += by * group.is_sick
        sickness.unknown += by * (group.disturbed is None and not group.has_a_turn)
        if not sickness.groups:
            del self._places[group.place]


def _pod_s(group: GroupFacts) -> float | None:
    """By its own history."""
    return group.takes_s / group.replicas if group.takes_s is not None and group.replicas else None
