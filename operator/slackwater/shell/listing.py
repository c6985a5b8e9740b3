"""Everything of one kind in the namespaces that the operator works in."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from slackwater.adapters.cluster.errors import Forbidden
from slackwater.adapters.cluster.paths import CONSUMER_GROUP
from slackwater.ports import Cluster, Kind

Json = Mapping[str, Any]


async def list_in(
    api: Cluster, kind: Kind, selector: str, namespaces: Collection[str]
) -> tuple[list[Json], int, dict[str, str]]:
    """All of these namespaces, of the whole cluster where there are none; the resource version of the oldest of the
    lists that this takes: what came after it may be missing; and the namespaces that may not be read, each with the
    refusal. Raises Forbidden where it is for the whole cluster, KindMissing, and ClusterFailed."""
    objects: list[Json] = []
    versions: list[int] = []
    refused: dict[str, str] = {}
    for namespace in namespaces or (None,):
        try:
            listed, version = await api.list_all(kind, namespace, selector)
        except Forbidden as error:
            if namespace is None:
                raise
            refused[namespace] = str(error)
            continue
        objects += listed
        versions.append(version)
    return objects, min(versions, default=0), refused


async def groups_of(api: Cluster, namespaces: Collection[str]) -> tuple[list[Json], int] | None:
    """By the right that outlives a namespace's Role: who is deleted there has to be let go. None without it."""
    try:
        listed, version = await api.list_all(CONSUMER_GROUP, None)
    except Forbidden:
        return None
    return [each for each in listed if each["metadata"]["namespace"] in namespaces], version
