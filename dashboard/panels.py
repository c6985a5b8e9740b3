"""What a dashboard is made of: sections of panels of queries, and the phrases that queries share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final


class Kind(StrEnum):
    """Grafana's names of its panels."""

    TIME_SERIES = "timeseries"
    STAT = "stat"
    STATE_TIMELINE = "state-timeline"
    TABLE = "table"


class Unit(StrEnum):
    """Grafana's names of units."""

    COUNT = "short"
    SECONDS = "s"
    REQUESTS_PER_SECOND = "reqps"
    EVENTS_PER_SECOND = "eps"
    PER_SECOND = "ops"
    SHARE = "percentunit"


class Colour(StrEnum):
    GOOD = "green"
    IDLE = "blue"
    MOVING = "yellow"
    BAD = "red"
    UNKNOWN = "text"


@dataclass(frozen=True, slots=True)
class Query:
    expr: str
    legend: str = ""
    """With labels as `{{label}}`. Of a table: the heading of the column; empty where only the labels are shown."""
    unit: Unit | None = None
    """Where it is not the panel's."""


@dataclass(frozen=True, slots=True)
class Panel:
    title: str
    description: str
    queries: tuple[Query, ...]
    unit: Unit = Unit.COUNT
    kind: Kind = Kind.TIME_SERIES
    width: int = 8
    height: int = 8
    words: Mapping[int, tuple[str, Colour]] = field(default_factory=dict)
    """Value → what is shown instead of it."""
    columns: Mapping[str, str] = field(default_factory=dict)
    """Of a table: label → the heading of its column, in their order."""
    bad_from: float | None = None
    """From this value on a stat is red."""
    stacked: bool = False


@dataclass(frozen=True, slots=True)
class Section:
    title: str
    panels: tuple[Panel, ...]


@dataclass(frozen=True, slots=True)
class Annotation:
    """What is marked on all graphs, while its query has a value."""

    name: str
    expr: str
    title: str
    """With labels as `{{label}}`, as the text has them."""
    text: str
    colour: Colour


FLEET: Final = '{namespace=~"$namespace"}'
CHOSEN: Final = '{namespace=~"$namespace", group=~"$group"}'
GROUP: Final = "{{namespace}}/{{group}}"
"""The legend of a group's series."""


def gauge(name: str, selected: str, *labels: str) -> str:
    """Of each group; a group that has just gone from one operator to another is told by both."""
    return f"max by ({', '.join(('namespace', 'group', *labels))}) ({name}{selected})"


def in_the_last_hour(name: str, selected: str, *labels: str) -> str:
    """How often it happened to each group. Prometheus estimates; nothing happens two and a half times."""
    return f"round({grown(name, selected, 'namespace', 'group', *labels)})"


def grown(name: str, selected: str, *labels: str) -> str:
    """How much a counter of groups grew within an hour."""
    return f"sum by ({', '.join(labels)}) (increase({name}{selected}[1h]))"


def per_second(name: str, *labels: str) -> str:
    """How fast a counter of the operators grows."""
    return f"sum by ({', '.join(labels)}) (rate({name}[$__rate_interval]))"


def idle_partitions(selected: str) -> str:
    """Partition-seconds lost in each second: how many partitions nobody reads, on average."""
    name = "slackwater_group_partition_idle_seconds_total"
    return f"sum by (namespace, group) (rate({name}{selected}[$__rate_interval]))"


def worst(expr: str) -> str:
    return f"topk(10, {expr})"
