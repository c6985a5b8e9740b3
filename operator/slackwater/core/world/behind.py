"""Which pods do not have the version that is rolled out yet?"""

from __future__ import annotations

from slackwater.core.world.memory import RolloutPhase
from slackwater.core.world.pods import Pod
from slackwater.core.world.world import World


def behind(world: World) -> tuple[Pod, ...]:
    """By ordinal: the outdated ones; all while no template has the version.

    Where the controller has yet to read a template, the StatefulSet's newest revision is that of the one before; where
    the way back has yet to write its own, or cannot find it, it is that of the version which failed.
    """
    return world.once(_behind)


def _behind(world: World) -> tuple[Pod, ...]:
    workload = world.workload
    if workload is None:
        return world.outdated
    if workload.template_hash != world.memory.target_hash and world.memory.phase is RolloutPhase.PROGRESSING:
        return world.wanted_pods
    is_back = world.memory.phase is not RolloutPhase.ROLLING_BACK or not world.memory.last_good_hash
    wanted = workload.template_hash if is_back else world.memory.last_good_hash
    if workload.settled and wanted == workload.template_hash:
        return world.outdated
    return tuple(pod for pod in world.wanted_pods if pod.template_hash != wanted)
