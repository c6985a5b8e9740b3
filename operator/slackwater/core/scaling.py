"""Another number of pods, asked for in the middle of a rollout: it waits until the rollout is over, or stands still.

Pods that come or go cost rebalances of their own, which the rollout would have to wait out, and whoever scales by lag
takes for a trend what the rollout causes. Where the rollout stands still on purpose nothing is gained by waiting, and
where it waits for the lag to fall, more pods may be the only way on.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from slackwater.core.memory import RolloutMemory
from slackwater.core.reasons import Hold, Reason
from slackwater.core.world import World

_STANDS: Final = (Reason.PAUSED, Reason.CANARY_HOLD, Reason.LAG_UNKNOWN, Reason.LAG_ABOVE_GATE)


def with_replicas(world: World, memory: RolloutMemory, *, starts: bool) -> RolloutMemory:
    """A rollout goes on with the number that it began with. The first of all disturbs nobody, and goes on with any."""
    if not memory.phase.under_way or not memory.last_good_revision:
        return replace(memory, replicas=None)
    return replace(memory, replicas=world.group.spec.replicas) if starts or memory.replicas is None else memory


def scaled_if_it_stands(world: World, memory: RolloutMemory, hold: Hold | None) -> RolloutMemory:
    """With what is asked for by now, where the rollout stands still."""
    stands = is_held(world, memory) and hold is not None and hold.reason in _STANDS
    return replace(memory, replicas=world.group.spec.replicas) if stands else memory


def is_held(world: World, memory: RolloutMemory) -> bool:
    """Whether another number of pods is asked for than the rollout under way goes on with."""
    return memory.phase.under_way and memory.replicas not in (None, world.group.spec.replicas)
