"""What is kept of an object that somebody else wrote: he chooses its size, up to what the API server takes, and one
process keeps those of all namespaces. An empty object in a list is three bytes on the wire, and seventy here."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from typing import Any, Final

from slackwater.adapters.cluster.paths import (
    CLUSTER_KAFKA_CONNECTION,
    CONSUMER_GROUP,
    KAFKA_CONNECTION,
    POD,
    POD_DISRUPTION_BUDGET,
    SERVICE,
    STATEFUL_SET,
)
from slackwater.adapters.cluster.translation import REVISION_LABEL, writers_of_replicas
from slackwater.api.annotations import GROUP_LABEL, PROTOCOL, TEMPLATE_HASH
from slackwater.api.kept import LARGEST_SPEC, MOST_ENTRIES, MOST_VALUES, PackedJson, cut_to_size, packed
from slackwater.ports import Kind

Json = Mapping[str, Any]

_ALWAYS: Final = ("name", "namespace", "uid", "resourceVersion", "generation", "creationTimestamp", "deletionTimestamp")
_OF_PODS: Final = {"labels": (GROUP_LABEL, REVISION_LABEL), "annotations": (TEMPLATE_HASH, PROTOCOL)}
_OF_A_SET: Final = ("replicas", "updateStrategy", "ordinals", "serviceName", "podManagementPolicy")
_NO_TEMPLATE: Final[Json] = {"metadata": {}, "spec": {"containers": []}}


def lean(kind: Kind, obj: Json) -> Json:
    """The same object, with what is read of it. What we make ourselves is kept whole."""
    if kind is CONSUMER_GROUP:
        return cut_to_size(obj)
    if kind in (KAFKA_CONNECTION, CLUSTER_KAFKA_CONNECTION):
        return {**obj, "metadata": _named(obj["metadata"])}
    if kind is POD:
        gates = (obj.get("spec") or {}).get("readinessGates") or ()
        spec = {"readinessGates": gates} if 0 < len(gates) <= MOST_ENTRIES else {}
        return {**obj, "metadata": _of_a_pod(obj["metadata"]), "spec": spec}
    if kind in (STATEFUL_SET, SERVICE, POD_DISRUPTION_BUDGET):
        return {**obj, "metadata": _with_few(kind, obj["metadata"]), "spec": _spec(kind, obj.get("spec") or {})}
    return obj


def _named(metadata: Json) -> dict[str, Any]:
    return {key: metadata[key] for key in _ALWAYS if key in metadata}


def _of_a_pod(metadata: Json) -> Json:
    kept = _named(metadata)
    if "ownerReferences" in metadata:
        kept["ownerReferences"] = [each for each in metadata["ownerReferences"] if each.get("controller")]
    for field, names in _OF_PODS.items():
        found = metadata.get(field) or {}
        kept[field] = {name: found[name] for name in names if name in found}
    return kept


def _with_few(kind: Kind, metadata: Json) -> Json:
    """Who writes `replicas` of a StatefulSet stands in its managed fields."""
    kept = {key: value for key, value in metadata.items() if key != "managedFields" and not _is_many(value)}
    if kind is STATEFUL_SET and (writers := writers_of_replicas(metadata.get("managedFields") or ())):
        kept["managedFields"] = writers
    group = (metadata.get("labels") or {}).get(GROUP_LABEL)
    return kept if "labels" in kept or group is None else {**kept, "labels": {GROUP_LABEL: group}}


def _is_many(value: object) -> bool:
    return isinstance(value, Collection) and not isinstance(value, str) and len(value) > MOST_ENTRIES


def _spec(kind: Kind, spec: Json) -> Json:
    if kind is not STATEFUL_SET:
        return {} if isinstance(packed(spec, {}), PackedJson) else spec
    if not _is_large(spec):
        return {**spec, "template": packed(spec["template"], {})} if "template" in spec else spec
    return {**{key: spec[key] for key in _OF_A_SET if key in spec}, "template": _NO_TEMPLATE}


def _is_large(part: object) -> bool:
    """Twice of what is read of a ConsumerGroup, of which we make it."""
    text = json.dumps(part, ensure_ascii=False, separators=(",", ":"))
    return len(text) > 2 * LARGEST_SPEC or sum(map(text.count, "[{,")) > 2 * MOST_VALUES
