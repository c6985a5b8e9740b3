"""The shapes of other groups' silences, by client library: what `statistics.fleet` learns from. No Spark.

A group's row is a fixed number of values, however much it has restarted, and of each library no more than
`MOST_SHAPES` and one count, those with most restarts: what every worker gets is bounded.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from slackwater.pipeline.statistics.arrays import Floats
from slackwater.pipeline.statistics.fleet import MOST_SHAPES, Fleet, Shape, fleet_of

KEPT: Final = MOST_SHAPES + 1
"""Shapes of a library: a group does not learn from itself."""
KEY: Final = ("cluster", "namespace", "name", "group_id")
Key = tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Shapes:
    """Of one library; row by row."""

    keys: tuple[Key, ...]
    survival: Floats
    restarts: Floats

    def without(self, key: Key) -> Fleet:
        """The fleet that a group has around it."""
        others = [at for at, each in enumerate(self.keys) if each != key][:MOST_SHAPES]
        return Fleet(self.survival[others], self.restarts[others])


Fleets = Mapping[str, Shapes]
"""By library."""


def key_of(row: Mapping[str, Any]) -> Key:
    return tuple(row[name] for name in KEY)


def fleets_of(rows: Iterable[Mapping[str, Any]]) -> Fleets:
    """`rows`: KEY, `library`, `restarts` and `survival` of each group. In whatever order they come, the same."""
    by_library: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for row in rows:
        by_library[row["library"]].append(row)
    return {library: _shapes(found) for library, found in by_library.items()}


def _shapes(rows: list[Mapping[str, Any]]) -> Shapes:
    kept = sorted(rows, key=lambda row: (-row["restarts"], key_of(row)))[:KEPT]
    fleet = fleet_of(Shape(np.asarray(row["survival"], dtype=np.float64), float(row["restarts"])) for row in kept)
    return Shapes(tuple(key_of(row) for row in kept), fleet.survival, fleet.restarts)
