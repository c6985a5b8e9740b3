"""What is kept of an object that somebody else wrote: he chooses its size, up to what the API server takes, and one
process keeps those of all namespaces. An empty object in a list is three bytes on the wire, and seventy here."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from typing import Any, Final

from slackwater.adapters.cluster.managed_fields import writers_of_replicas
from slackwater.adapters.cluster.paths import (
    CLUSTER_KAFKA_CONNECTION,
    CONSUMER_FLEET,
    CONSUMER_GROUP,
    CONTROLLER_REVISION,
    EVENT,
    FLEET_CAMPAIGN,
    KAFKA_CONNECTION,
    POD,
    POD_DISRUPTION_BUDGET,
    SERVICE,
    STATEFUL_SET,
)
from slackwater.adapters.cluster.translation import REVISION_LABEL
from slackwater.api.annotations import GROUP_LABEL, PROMOTE, PROTOCOL, RESUME, TEMPLATE_HASH
from slackwater.api.compact import compact
from slackwater.api.kept import LARGEST_SPEC, MOST_ENTRIES, MOST_VALUES, PackedJson, cut_selecting, cut_to_size, packed
from slackwater.api.packed import Packed, pods_packed
from slackwater.ports import Kind

Json = Mapping[str, Any]

_ALWAYS: Final = ("name", "namespace", "uid", "resourceVersion", "generation", "creationTimestamp", "deletionTimestamp")
_OF_PODS: Final = {"labels": (GROUP_LABEL, REVISION_LABEL), "annotations": (TEMPLATE_HASH, PROTOCOL)}
_OF_A_STATUS: Final = ("phase", "reason", "podIP", "hostIP")
_OF_A_CONTAINER: Final = ("name", "ready", "started", "restartCount", "containerID", "state", "lastState")
_OF_LISTS: Final = {
    "conditions": ("type", "status", "reason", "message", "lastTransitionTime"),
    "containerStatuses": _OF_A_CONTAINER,
    "initContainerStatuses": _OF_A_CONTAINER,
}
_OF_FLEETS: Final[Mapping[Kind, tuple[str, tuple[str, ...]]]] = {
    CONSUMER_FLEET: (RESUME, ("namespaces", "pause")),  # a freeze holds in these, though nobody can read it
    FLEET_CAMPAIGN: (PROMOTE, ()),
}
"""The command that people give it, and what is kept of a spec that is too large to be read, or kept as text."""
_OF_A_SET: Final = ("replicas", "updateStrategy", "ordinals", "serviceName", "podManagementPolicy")
_OF_AN_EVENT: Final = (
    "apiVersion",
    "kind",
    "reason",
    "count",
    "series",
    "firstTimestamp",
    "lastTimestamp",
    "eventTime",
)
LONGEST_MESSAGE: Final = 4_096
"""Characters of an Event's: four times as many as are shown, since it begins with a pod's name."""
_NO_TEMPLATE: Final[Json] = {"metadata": {}, "spec": {"containers": []}}


class Lean(dict[str, Any]):
    """An object of which no more is kept than is read: to ask again costs nothing."""

    __slots__ = ()


def lean(kind: Kind, obj: Json) -> Json:
    """The same object, with what is read of it. What we make ourselves is kept whole."""
    return obj if isinstance(obj, Lean) else Lean(compact({**_cut(kind, obj)}))


def _cut(kind: Kind, obj: Json) -> Json:
    if kind is CONSUMER_GROUP:
        return cut_to_size(obj)
    if kind in (KAFKA_CONNECTION, CLUSTER_KAFKA_CONNECTION):
        return {**obj, "metadata": _named(obj["metadata"])}
    if kind in _OF_FLEETS:
        command, kept = _OF_FLEETS[kind]
        spec = {"spec": cut_selecting(obj["spec"], kept)} if "spec" in obj else {}
        return {**obj, "metadata": _commanded(obj["metadata"], command), **spec}
    if kind is POD:
        gates = (obj.get("spec") or {}).get("readinessGates") or ()
        spec = {"readinessGates": gates} if 0 < len(gates) <= MOST_ENTRIES else {}
        status = {"status": _of_its_kubelet(obj["status"])} if obj.get("status") else {}
        return {**obj, "metadata": _of_a_pod(obj["metadata"]), "spec": spec, **status}
    if kind is EVENT:
        return _of_an_event(obj)
    if kind is CONTROLLER_REVISION:
        return _of_a_revision(obj)
    if kind in (STATEFUL_SET, SERVICE, POD_DISRUPTION_BUDGET):
        return {**obj, "metadata": _with_few(kind, obj["metadata"]), "spec": _spec(kind, obj.get("spec") or {})}
    return obj


def _of_an_event(event: Json) -> dict[str, Any]:
    kept = {key: event[key] for key in _OF_AN_EVENT if key in event}
    return {**kept, "metadata": _named(event["metadata"]), "message": (event.get("message") or "")[:LONGEST_MESSAGE]}


def _of_a_revision(revision: Json) -> Json:
    """Whose it is, and the template; a larger one than is made of a ConsumerGroup is none of ours."""
    owners = {key: value for key, value in revision["metadata"].items() if key == "ownerReferences"}
    data = {"data": revision["data"]} if "data" in revision and not _is_large(revision["data"]) else {}
    return {"metadata": {**_of_a_pod(revision["metadata"]), **owners}, **data}


def _named(metadata: Json) -> dict[str, Any]:
    return {key: metadata[key] for key in _ALWAYS if key in metadata}


def _commanded(metadata: Json, command: str) -> Json:
    given = metadata.get("annotations") or {}
    return {**_named(metadata), "annotations": {command: given[command]} if command in given else {}}


def _of_a_pod(metadata: Json) -> Json:
    kept = _named(metadata)
    if "ownerReferences" in metadata:
        kept["ownerReferences"] = [each for each in metadata["ownerReferences"] if each.get("controller")]
    for field, names in _OF_PODS.items():
        found = metadata.get(field) or {}
        kept[field] = {name: found[name] for name in names if name in found}
    return kept


def _of_its_kubelet(status: Json) -> Json:
    kept = {key: status[key] for key in _OF_A_STATUS if key in status}
    for field, keys in _OF_LISTS.items():
        if field in status:
            kept[field] = [{key: each[key] for key in keys if key in each} for each in status[field] or ()]
    return kept


def _with_few(kind: Kind, metadata: Json) -> Json:
    """Who writes `replicas` of a StatefulSet stands in its managed fields."""
    kept = {key: value for key, value in metadata.items() if key != "managedFields" and not _is_many(value)}
    if kind is STATEFUL_SET and (writers := writers_of_replicas(metadata.get("managedFields") or ())[:MOST_ENTRIES]):
        kept["managedFields"] = writers
    group = (metadata.get("labels") or {}).get(GROUP_LABEL)
    return kept if "labels" in kept or group is None else {**kept, "labels": {GROUP_LABEL: group}}


def _is_many(value: object) -> bool:
    return isinstance(value, Collection) and not isinstance(value, str) and len(value) > MOST_ENTRIES


def _spec(kind: Kind, spec: Json) -> Json:
    if kind is not STATEFUL_SET:
        return {} if isinstance(packed(spec, {}), PackedJson) else spec
    template = spec.get("template") or {}
    if isinstance(template, PackedJson) or isinstance(template.get("spec"), Packed):
        return spec  # it was read before: of a list kopf gets what is kept, and gives it to a handler as an event
    if not _is_large(spec):
        template = packed(template, {})
        return {**spec, "template": template} if isinstance(template, PackedJson) else pods_packed(spec)
    return {**{key: spec[key] for key in _OF_A_SET if key in spec}, "template": _NO_TEMPLATE}


def _is_large(part: object) -> bool:
    """Twice of what is read of a ConsumerGroup, of which we make it."""
    text = json.dumps(part, ensure_ascii=False, separators=(",", ":"))
    return len(text) > 2 * LARGEST_SPEC or sum(map(text.count, "[{,")) > 2 * MOST_VALUES
