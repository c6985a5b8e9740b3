"""Who plays in a run: groups and bystanders, what they read, and which broker coordinates each. Pure.

Runs share nothing on the brokers: a group id or a topic is used once.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import count
from typing import Final

from demo.cascade.modes import BYSTANDERS, GROUPS, TOPICS
from sandbox.workload.group_records import partition_of

PREFIX: Final = "cascade-"
"""Topics and groups of this demo begin so."""


@dataclass(frozen=True, slots=True)
class Actor:
    """A group. `name` is that of what runs it in Kubernetes."""

    name: str
    group_id: str
    topic: str
    coordinator: int

    @property
    def deliveries_topic(self) -> str:
        return f"{self.group_id}-deliveries"


@dataclass(frozen=True, slots=True)
class Cast:
    topics: tuple[str, ...]
    groups: tuple[Actor, ...]
    """Those that are deployed."""
    bystanders: tuple[Actor, ...]
    """Those that nobody touches."""

    @property
    def actors(self) -> tuple[Actor, ...]:
        return (*self.groups, *self.bystanders)


def cast(mode: str, run: int, leaders: Mapping[int, int]) -> Cast:
    """`leaders`: partition of `__consumer_offsets` → the broker that leads it. Each broker coordinates as many of the
    groups as any other, and one of the bystanders at least. ValueError when one of the partitions has no leader."""
    if not leaders or min(leaders.values()) < 0:
        raise ValueError(f"not every partition of __consumer_offsets has a leader: {dict(leaders)}")
    key = f"{PREFIX}{mode}-{run}"
    topics = tuple(f"{key}-topic-{number}" for number in range(1, TOPICS + 1))
    groups = (_actor(key, f"app-{number + 1:02}", topics[number % TOPICS], number, leaders) for number in range(GROUPS))
    around = (_actor(key, f"bystander-{number + 1}", topics[number], number, leaders) for number in range(BYSTANDERS))
    return Cast(topics, tuple(groups), tuple(around))


def _actor(key: str, name: str, topic: str, number: int, leaders: Mapping[int, int]) -> Actor:
    brokers = sorted(set(leaders.values()))
    wanted = brokers[number % len(brokers)]
    ids = (f"{key}-{name}-{attempt}" for attempt in count())
    group_id = next(each for each in ids if leaders[partition_of(each, len(leaders))] == wanted)
    return Actor(name, group_id, topic, wanted)
