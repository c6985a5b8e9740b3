"""Carries acts out. Each call is safe to repeat, and refuses when the world has changed under the decision."""

from __future__ import annotations

from slackwater.adapters.cluster.api import Json, KubernetesApi
from slackwater.adapters.cluster.paths import POD
from slackwater.api.resources import ConsumerGroup
from slackwater.core.acts import Act, DeletePod
from slackwater.core.manifests import stateful_set


async def carry_out(api: KubernetesApi, group: ConsumerGroup, act: Act) -> Json | None:
    """Do it; returns the StatefulSet as written, if it was. Raises ClusterFailed; Conflict when the world changed."""
    if isinstance(act, DeletePod):
        await api.delete(POD, group.namespace, act.name, act.uid)
        return None
    manifest = stateful_set(group, act.template, act.replicas, act.strategy, act.partition)
    return await api.apply(manifest, act.resource_version)
