"""Carries acts out. Each call is safe to repeat, and refuses when the world has changed under the decision."""

from __future__ import annotations

from slackwater.adapters.cluster.api import Json, KubernetesApi
from slackwater.adapters.cluster.paths import POD, STATEFUL_SET
from slackwater.adapters.kafka.errors import KafkaUnreachable
from slackwater.api.resources import ConsumerGroup
from slackwater.core.acts import (
    Act,
    AlterGroupSettings,
    DeletePod,
    DeleteWorkload,
    ReleaseMembers,
    RemoveMembers,
    WriteWorkload,
)
from slackwater.core.manifests import stateful_set
from slackwater.ports import GroupAdmin


async def carry_out(api: KubernetesApi, admin: GroupAdmin | None, group: ConsumerGroup, act: Act) -> Json | None:
    """Do it; returns the StatefulSet as written, if it was.

    Raises ClusterFailed, and Conflict when the world changed; KafkaFailed for what is asked of Kafka.
    """
    match act:
        case WriteWorkload():
            return await api.apply(stateful_set(group, act), act.resource_version)
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


def _usable(admin: GroupAdmin | None) -> GroupAdmin:
    if admin is None:
        raise KafkaUnreachable("the connection to Kafka was closed in the meantime")
    return admin
