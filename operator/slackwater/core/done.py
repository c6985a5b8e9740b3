"""Whether an act whose answer was lost was carried out: what it would have brought about is looked for in the world."""

from __future__ import annotations

from slackwater.api.annotations import TEMPLATE_HASH
from slackwater.core.decision.acts import Act, DeletePod, DeleteWorkload, ReleaseMembers, RemoveMembers, WriteWorkload
from slackwater.core.world.world import World


def was_carried_out(world: World, act: Act) -> bool:
    """`world`: as it was read after the act. No wherever that does not show: then nothing is said of the act, too."""
    match act:
        case WriteWorkload():
            return any(_is_as_written(world, act, each.name) for each in world.sets)
        case DeletePod():
            return all(pod.uid != act.uid or pod.terminating for pod in world.all_pods)
        case DeleteWorkload():
            return all(each.uid != act.uid for each in world.sets)
        case RemoveMembers() | ReleaseMembers():
            there = {member.member_id for member in world.members if not member.has_left}
            return world.seen is not None and there.isdisjoint(each.member_id for each in act.members)
    return False


def _is_as_written(world: World, act: WriteWorkload, name: str) -> bool:
    if name != (act.name or world.group.name):
        return False
    found = next(each for each in world.sets if each.name == name)
    wanted_hash = (act.template.get("metadata", {}).get("annotations") or {}).get(TEMPLATE_HASH, "")
    wanted = (wanted_hash, act.replicas, act.strategy, act.partition, act.start)
    there = (found.template_hash, found.replicas, found.strategy, found.partition, found.start)
    return found.resource_version != act.resource_version and there == wanted
