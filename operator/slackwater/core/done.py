"""Whether an act whose answer was lost was carried out: what it would have brought about is looked for in the world."""

from __future__ import annotations

from slackwater.api.annotations import TEMPLATE_HASH
from slackwater.core.decision.acts import Act, DeletePod, DeleteWorkload, WriteWorkload
from slackwater.core.world.world import World


def was_carried_out(before: World, world: World, act: Act) -> bool:
    """`before`: decided about. `world`: as it was read after the act. No wherever the act does not show: then nothing
    is said of it, as of members that may have gone by themselves.
    """
    match act:
        case WriteWorkload():
            return _is_as_written(world, act) and not _is_as_written(before, act)
        case DeletePod():
            return all(pod.uid != act.uid or pod.terminating for pod in world.all_pods)
        case DeleteWorkload():
            return all(each.uid != act.uid for each in world.sets)
    return False


def _is_as_written(world: World, act: WriteWorkload) -> bool:
    found = next((each for each in world.sets if each.name == (act.name or world.group.name)), None)
    if found is None:
        return False
    wanted_hash = (act.template.get("metadata", {}).get("annotations") or {}).get(TEMPLATE_HASH, "")
    wanted = (wanted_hash, act.replicas, act.strategy, act.partition, act.start)
    return (found.template_hash, found.replicas, found.strategy, found.partition, found.start) == wanted
