"""Carries acts out. Each call is safe to repeat, and refuses when the world has changed under the decision."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from slackwater.adapters.cluster.paths import POD, STATEFUL_SET
from slackwater.adapters.kafka.errors import KafkaUnreachable
from slackwater.core.decision.acts import (
    Act,
    AlterGroupSettings,
    DeletePod,
    DeleteWorkload,
    ReleaseMembers,
    RemoveMembers,
    WriteWorkload,
)
from slackwater.core.manifests.objects import stateful_set
from slackwater.core.world.world import World
from slackwater.ports import Cluster, GroupAdmin, Json


async def carry_out(api: Cluster, admin: GroupAdmin | None, world: World, act: Act) -> Json | None:
    """Do it; returns the StatefulSet as written, if it was.

    Raises ClusterFailed, and Conflict when the world changed; KafkaFailed for what is asked of Kafka.
    """
    group = world.group
    match act:
        case WriteWorkload():
            manifest = stateful_set(group, act, _fixed(world, act.name or group.name))
            return await api.apply(manifest, act.resource_version)
        case DeleteWorkload():
            await api.delete(STATEFUL_SET, group.namespace, act.name, act.uid)
        case DeletePod():
            await api.delete(POD, group.namespace, act.name, act.uid)
        case RemoveMembers():
            await _usable(admin).remove_members(group.group_id, act.members)
        case ReleaseMembers():
            await _usable(admin).release_members(group.group_id, act.members)
        case AlterGroupSettings():
            await _usable(admin).alter_group_settings(group.group_id, act.values)
    return None


def _fixed(world: World, name: str) -> Mapping[str, Any]:
    """Of the StatefulSet that has the name, where there is one."""
    return next((each.fixed for each in world.sets if each.name == name), {})


def _usable(admin: GroupAdmin | None) -> GroupAdmin:
    if admin is None:
        raise KafkaUnreachable("the connection to Kafka was closed in the meantime")
    return admin
