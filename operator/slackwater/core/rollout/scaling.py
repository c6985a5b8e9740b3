"""Another number of pods, asked for in the middle of a rollout: it waits until the rollout is over, or stands still.

Pods that come or go cost rebalances of their own, which the rollout would have to wait out, and whoever scales by lag
takes for a trend what the rollout causes. Where the rollout stands still on purpose nothing is gained by waiting; where
it waits for the lag to fall, or for room, another number may be the only way on; and where nobody would be disturbed
there is nothing to wait for.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from slackwater.api.annotations import PAUSE
from slackwater.core.decision.acts import Purpose, WriteWorkload
from slackwater.core.decision.reasons import Hold, Reason
from slackwater.core.manifests.template import Template
from slackwater.core.manifests.writes import shape
from slackwater.core.rollout.canary import canary_ahead
from slackwater.core.world.memory import RolloutMemory, RolloutPhase
from slackwater.core.world.observation import GroupObservation
from slackwater.core.world.workload import UpdateStrategy, Workload
from slackwater.core.world.world import World

_STANDS: Final = (Reason.CANARY_HOLD, Reason.LAG_UNKNOWN, Reason.LAG_ABOVE_GATE, Reason.NO_ROOM)


def with_replicas(world: World, memory: RolloutMemory, *, starts: bool) -> RolloutMemory:
    """A rollout goes on with the number that it began with. The first of all disturbs nobody, and goes on with any; and
    who asks for none at all wants the consumers stopped.
    """
    if not memory.phase.under_way or not memory.last_good_revision:
        return replace(memory, replicas=None)
    begins = starts or memory.replicas is None or not world.memory.phase.under_way
    return _scaled(world, memory) if begins or world.group.spec.replicas == 0 else memory


def scaled_if_it_stands(world: World, memory: RolloutMemory, hold: Hold | None) -> RolloutMemory:
    """With what is asked for by now, where the rollout stands still, or the change disturbs nobody."""
    if hold is None or not is_held(world, memory):
        return memory
    stands = PAUSE in world.group.metadata.annotations or hold.reason in _STANDS
    return _scaled(world, memory) if stands or _disturbs_nobody(world) else memory


def is_held(world: World, memory: RolloutMemory) -> bool:
    """Whether another number of pods is asked for than the rollout under way goes on with."""
    return memory.replicas_of(world.group.spec.replicas) != world.group.spec.replicas


def _scaled(world: World, memory: RolloutMemory) -> RolloutMemory:
    replicas = world.group.spec.replicas
    return replace(memory, replicas=replicas, ids_given=max(memory.ids_given, replicas))


def _disturbs_nobody(world: World) -> bool:
    """There is no pod at all; or the pods that would go are not there, or known not to be in the group."""
    if not world.pods:
        return True
    if not isinstance(world.kafka, GroupObservation) or world.group.spec.replicas > world.replicas:
        return False
    going = [world.pod(ordinal) for ordinal in range(world.group.spec.replicas, world.replicas)]
    return all(pod is None or not world.members_of(pod) for pod in going)


def scale(world: World, workload: Workload, template: Template) -> WriteWorkload:
    replicas = world.replicas
    parked = workload.partition >= workload.replicas
    in_doubt = world.memory.phase is RolloutPhase.FAILED or canary_ahead(world)
    held = parked or (in_doubt and replicas > workload.replicas)  # more pods must not mean more of an untried version
    partition = replicas if held else min(workload.partition, replicas)
    strategy = UpdateStrategy.ROLLING_UPDATE if held else workload.strategy
    return replace(shape(world, template, Purpose.SCALE), strategy=strategy, partition=partition)
