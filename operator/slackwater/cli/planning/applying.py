"""What a ConsumerGroup would be once a manifest were applied to it. Pure; the API server is not asked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from slackwater.api.errors import InvalidSpec
from slackwater.api.parsing import parse_consumer_group
from slackwater.api.resources import ConsumerGroup

NOT_APPLIED_UID: Final = "not-applied-yet"
"""Of a group that no API server has seen: equal to nobody's, so that nothing there passes for its own."""


def as_applied(live: ConsumerGroup | None, manifest: Mapping[str, Any], namespace: str) -> ConsumerGroup:
    """`manifest` put over `live`, as `kubectl apply` would do it.

    The spec is the manifest's, but for replicas that it leaves out: those are an autoscaler's. Annotations are added to
    those that are there. A changed spec is a new generation. Raises InvalidSpec, for a changed groupId as well.
    """
    wanted = parse_consumer_group(manifest)
    if live is None:
        metadata = wanted.metadata.model_copy(
            update={"namespace": namespace, "uid": NOT_APPLIED_UID, "generation": 1, "resource_version": ""}
        )
        return wanted.model_copy(update={"metadata": metadata, "status": {}})
    if wanted.group_id != live.group_id:
        raise InvalidSpec(f"ConsumerGroup {live.name}", (f"spec.groupId: {ConsumerGroup.RULES[0].message}.",))
    spec = wanted.spec
    if "replicas" not in spec.model_fields_set:
        spec = spec.model_copy(update={"replicas": live.spec.replicas})
    changed = spec.model_dump(mode="json") != live.spec.model_dump(mode="json")
    metadata = live.metadata.model_copy(
        update={
            "generation": live.metadata.generation + changed,
            "labels": {**live.metadata.labels, **wanted.metadata.labels},
            "annotations": {**live.metadata.annotations, **wanted.metadata.annotations},
        }
    )
    return live.model_copy(update={"metadata": metadata, "spec": spec})


def connection_beside(
    group: ConsumerGroup, connections: tuple[Mapping[str, Any], ...], otherwise: Mapping[str, Any] | None
) -> Mapping[str, Any] | None:
    """The connection that the group would have: the last that stands beside it in the manifests."""
    reference = group.spec.connection_ref
    for connection in connections[::-1]:
        metadata = connection["metadata"]
        same_place = metadata.get("namespace", group.namespace) == group.namespace
        if (connection.get("kind"), metadata["name"]) == (reference.kind, reference.name) and same_place:
            return connection
    return otherwise
