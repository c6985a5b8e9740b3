"""Carries acts out. Each call is safe to repeat, and refuses when the world has changed under the decision."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from slackwater.adapters.cluster.errors import Conflict
from slackwater.adapters.cluster.paths import CONSUMER_GROUP, CONTROLLER_REVISION, POD, STATEFUL_SET
from slackwater.adapters.kafka.errors import KafkaUnreachable
from slackwater.api.annotations import FINALIZER, REJOINED
from slackwater.api.resources import ConsumerGroup
from slackwater.api.timestamps import timestamp
from slackwater.core.decision.acts import (
    Act,
    AlterGroupSettings,
    DeleteGroup,
    DeletePod,
    DeleteWorkload,
    LetGo,
    ReleaseMembers,
    RemoveMembers,
    WriteWorkload,
)
from slackwater.core.manifests.objects import stateful_set
from slackwater.core.members.rejoined import Mark
from slackwater.core.world.world import World
from slackwater.ports import Cluster, GroupAdmin, Json


async def carry_out(api: Cluster, admin: GroupAdmin | None, world: World, act: Act) -> Json | None:
    """Do it; returns the StatefulSet, or the ConsumerGroup that is let go, as written.

    Raises ClusterFailed, and Conflict when the world changed; KafkaFailed for what is asked of Kafka.
    """
    group = world.group
    match act:
        case WriteWorkload():
            manifest = stateful_set(group, act, _fixed(world, act.name or group.name))
            return await api.apply(manifest, act.resource_version)
        case DeleteWorkload():
            orphan = act.orphans or await _would_take_along(api, group.namespace, act)
            await api.delete(STATEFUL_SET, group.namespace, act.name, act.uid, orphan=orphan)
        case DeletePod():
            await api.delete(POD, group.namespace, act.name, act.uid)
        case RemoveMembers():
            await _usable(admin).remove_members(group.group_id, act.members)
        case ReleaseMembers():
            await _usable(admin).release_members(group.group_id, act.members)
        case AlterGroupSettings():
            await _usable(admin).alter_group_settings(group.group_id, act.values)
        case DeleteGroup():
            await _usable(admin).delete_group(group.group_id)
        case LetGo():
            metadata = group.metadata
            place = {"namespace": group.namespace, "name": group.name, "resourceVersion": metadata.resource_version}
            rest = [finalizer for finalizer in metadata.finalizers if finalizer != FINALIZER]
            return await api.set_finalizers(CONSUMER_GROUP, {"metadata": place}, rest)
    return None


async def write_status(
    api: Cluster, group: ConsumerGroup, status: Mapping[str, Any], take_in: Callable[[Json | None], None]
) -> None:
    """On exactly the version that was decided about. Else the answer could bring somebody's change in between, and
    the watch's event about that, being older than what we know then, would wake nobody.

    Raises ClusterFailed, and Conflict when the object has changed: it is read again for the next pass.
    """
    at = group.metadata
    try:
        written = await api.apply_status(CONSUMER_GROUP, at.namespace, at.name, at.uid, status, at.resource_version)
    except Conflict:
        take_in(await api.read(CONSUMER_GROUP, at.namespace, at.name))
        raise
    take_in(written)


async def write_mark(api: Cluster, world: World, mark: Mark) -> Json:
    """On exactly this pod; returns it. Raises ClusterFailed, and Conflict when another pod has its name."""
    pod, word = mark.pod, ("True" if mark.rejoined else "False")
    condition = {"type": REJOINED, "status": word, "lastTransitionTime": timestamp(int(world.now))}
    condition["reason"] = "InTheGroup" if mark.rejoined else "NotInTheGroup"
    return await api.apply_status(POD, world.group.namespace, pod.name, pod.uid, {"conditions": [condition]})


async def _would_take_along(api: Cluster, namespace: str, act: DeleteWorkload) -> bool:
    """A revision that is kept belongs to the StatefulSet that goes: it made that, or adopted it as an orphan."""
    read = [await api.read(CONTROLLER_REVISION, namespace, name) for name in act.keeps]
    owners = [owner for kept in read if kept is not None for owner in kept["metadata"].get("ownerReferences", ())]
    return any(owner["uid"] == act.uid for owner in owners)


def _fixed(world: World, name: str) -> Mapping[str, Any]:
    """Of the StatefulSet that has the name; where there is none, of the one that was let go to be made again."""
    remaking = world.memory.remaking
    before = remaking.fixed if remaking is not None and not world.sets else {}
    return next((each.fixed for each in world.sets if each.name == name), before)


def _usable(admin: GroupAdmin | None) -> GroupAdmin:
    if admin is None:
        raise KafkaUnreachable("the connection to Kafka was closed in the meantime")
    return admin
