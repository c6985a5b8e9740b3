"""How far a rollout is, for people: which pods do not have yet what they are to have."""

from __future__ import annotations

from slackwater.core.world.behind import behind
from slackwater.core.world.pods import Pod
from slackwater.core.world.world import World


def yet_to_change(world: World) -> tuple[Pod, ...]:
    """By ordinal. On the way back, while the failed version's template stands yet, they are those that do not have the
    last good one: the StatefulSet's newest revision is the failed version's."""
    memory, workload = world.memory, world.workload
    stands = workload is not None and bool(memory.failed_hash) and workload.template_hash == memory.failed_hash
    if memory.phase.goes_back and stands and world.beside is None and memory.last_good_revision:
        return tuple(pod for pod in world.wanted_pods if pod.revision != memory.last_good_revision)
    return behind(world)
