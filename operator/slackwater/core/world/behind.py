"""Which pods do not have the version that is rolled out yet?"""

from __future__ import annotations

from slackwater.core.world.memory import RolloutPhase
from slackwater.core.world.pods import Pod
from slackwater.core.world.world import World


def behind(world: World) -> tuple[Pod, ...]:
    """By ordinal: the outdated ones; all while no template has the version.

    Where the controller has yet to read a template, the StatefulSet's newest revision is that of the one before.
    """
    return world.once(_behind)


def _behind(world: World) -> tuple[Pod, ...]:
    workload = world.workload
    if workload is None:
        return world.outdated
    if workload.template_hash != world.memory.target_hash and world.memory.phase is RolloutPhase.PROGRESSING:
        return world.wanted_pods
    if workload.settled:
        return world.outdated
    return tuple(pod for pod in world.wanted_pods if pod.template_hash != workload.template_hash)
