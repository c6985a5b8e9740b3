"""What a look at a group says to its fleets, besides what its status remembers."""

from __future__ import annotations

from dataclasses import dataclass

from slackwater.core.fleet.turn import is_new
from slackwater.core.world.world import World


@dataclass(frozen=True, slots=True)
class Sight:
    cluster: str | None = None
    """The id that the brokers tell; None: they have not yet, or have none."""
    coordinator: int | None = None
    is_moving: bool = False
    """A pod that is wanted is not up."""
    disturbed: bool | None = None
    """Not calm, not whole, or not to be seen; None: nobody has looked yet."""


def sight_of(world: World) -> Sight:
    """A group of no pods is never disturbed, nor is a new one that has none yet: it may wait for its turn to start."""
    up = sum(pod.ready and not pod.terminating for pod in world.wanted_pods)
    is_whole, seen = up >= world.replicas, world.seen
    return Sight(
        cluster=world.cluster_id or None,
        coordinator=None if seen is None else seen.coordinator,
        is_moving=not is_whole,
        disturbed=world.replicas > 0 and not is_new(world) and (seen is None or not seen.calm or not is_whole),
    )
