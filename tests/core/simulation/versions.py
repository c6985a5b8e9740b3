"""Versions of the consumer, by how they behave. A pod's image names its version."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final


@dataclass(frozen=True, slots=True)
class Version:
    """Times in seconds."""

    pull_s: float = 1.0
    """From the pod's making to its container's start."""
    ready_s: float = 1.0
    """From the container's start to Ready."""
    join_s: float = 2.0
    """From the container's start to joining the group."""
    pulls: bool = True
    gets_ready: bool = True
    joins: bool = True
    consumes: bool = True
    crashes_after_s: float | None = None
    exits_when_fenced: bool = True
    """Else its process lives on, and consumes nothing."""
    heeds_settings: bool = True
    """Else it offers what it always did, whatever the operator sets."""
    takes_its_id: bool = True
    """Else it joins without the instance id that it is given."""
    id_of: int | None = None
    """All its pods join with the instance id of this one."""
    reads_poison: bool = False
    """It gets past records at which other versions stand."""
    members: int = 1
    """Consumers of each pod; of several, each has an instance id of its own."""
    one_dies_after_s: float | None = None
    """From the container's start; the last of its consumers ends without leaving the group."""
    one_stands_after_s: float | None = None
    """From the container's start; the last of its consumers commits nothing any more, and stays in the group."""
    topics: tuple[str, ...] | None = None
    """What its consumers subscribe to; None: everything that there is."""
    restores_s: float | None = None
    """From the container's start, its startup probe goes on, and it is in the group and consumes nothing."""
    stays_s: float | None = None
    """It leaves the group and joins again after so long, for ever."""

    @property
    def works(self) -> bool:
        runs = self.pulls and self.gets_ready and self.crashes_after_s is None
        return runs and self.joins and self.consumes and self._has_its_id and self._stays_whole

    @property
    def _has_its_id(self) -> bool:
        return self.takes_its_id and self.id_of is None

    @property
    def _stays_whole(self) -> bool:
        return self.stays_s is None and self.one_dies_after_s is None and self.one_stands_after_s is None


VERSIONS: Final[Mapping[str, Version]] = {
    "v1": Version(),
    "v2": Version(join_s=3.0),
    "v3": Version(ready_s=3.0),
    "slow": Version(ready_s=20.0, join_s=30.0),
    "lives-when-fenced": Version(exits_when_fenced=False),
    "no-image": Version(pulls=False),
    "never-ready": Version(gets_ready=False, joins=False),
    "never-joins": Version(joins=False),
    "crashes": Version(crashes_after_s=1.0, gets_ready=False, joins=False),
    "joins-then-crashes": Version(crashes_after_s=5.0),
    "never-consumes": Version(consumes=False),
}


NOT_DRAWN: Final[Mapping[str, Version]] = {
    "heedless": Version(heeds_settings=False),
    "two-threads": Version(members=2),
    "three-threads": Version(members=3),
    "two-b": Version(members=2),
    "nameless": Version(takes_its_id=False),
    "calls-itself-0": Version(id_of=0),
    "calls-itself-0-and-lives-when-fenced": Version(id_of=0, exits_when_fenced=False),
    "loses-a-thread": Version(members=3, one_dies_after_s=9.0),
    "loses-one-of-two": Version(members=2, one_dies_after_s=9.0),
    "stands-in-a-thread": Version(members=3, one_stands_after_s=9.0),
    "stands-from-the-start": Version(members=3, one_stands_after_s=0.0),
    "stands-in-one-of-two": Version(members=2, one_stands_after_s=0.0),
    "reads-poison": Version(members=3, reads_poison=True),
    "comes-and-goes": Version(stays_s=2.0),
    "ends-and-ends": Version(crashes_after_s=15.0),
    "orders-only": Version(topics=("orders",)),
    "orders-and-refunds": Version(topics=("orders", "refunds")),
    "refunds-only": Version(topics=("refunds",)),
}
"""Versions that no random run draws, so that its seeds go on meaning what they mean."""


def version_of(template: Mapping[str, Any]) -> Version:
    """By the image of the first container, `consumer:<version>`."""
    image: str = template["spec"]["containers"][0]["image"]
    return {**VERSIONS, **NOT_DRAWN}[image.partition(":")[2]]
