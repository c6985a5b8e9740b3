"""What the cluster keeps of groups, Kafka not asked: all of them as the operator reports them, and one's versions."""

from __future__ import annotations

from typing import Any

from slackwater.adapters.cluster.api import KubernetesApi
from slackwater.adapters.cluster.errors import KindMissing
from slackwater.adapters.cluster.paths import CONSUMER_GROUP, CONTROLLER_REVISION
from slackwater.api.annotations import GROUP_LABEL
from slackwater.cli.pictures.history import Versions, versions_of
from slackwater.cli.reaching.choice import Place
from slackwater.cli.reaching.cluster import check_namespace, cluster, not_installed, read_group

Json = dict[str, Any]


async def read_groups(context: str | None, namespace: str | None, selector: str = "") -> list[Json]:
    """The groups of one namespace, or of all. Raises ClusterFailed, NoSuchNamespace and NotInstalled."""
    async with cluster(context) as api:
        try:
            found, _ = await api.list_all(CONSUMER_GROUP, namespace, selector)
        except KindMissing as error:
            raise not_installed() from error
        if not found and namespace is not None:
            await check_namespace(api, namespace)
        return sorted(found, key=lambda group: (group["metadata"]["namespace"], group["metadata"]["name"]))


async def read_history(api: KubernetesApi, place: Place) -> Versions:
    """Raises ClusterFailed, NoSuchGroup and NotInstalled."""
    snapshot = await read_group(api, *place)
    revisions, _ = await api.list_all(CONTROLLER_REVISION, place.namespace, f"{GROUP_LABEL}={place.name}")
    return versions_of(snapshot.group, snapshot.workloads, snapshot.pods, revisions)
