"""What is left to do until a StatefulSet is a ConsumerGroup's, one step at a time. Pure.

Told by the objects as they are, so that whoever breaks off begins again where it stopped. Nothing restarts a pod: the
template gets our label while the StatefulSet replaces no pod by itself, and then the pods are said to be of that
revision, which they are, since they have got the label, too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, Final

from slackwater.adapters.cluster.paths import CONSUMER_GROUP, POD, STATEFUL_SET
from slackwater.adapters.cluster.translation import REVISION_LABEL
from slackwater.api.annotations import FIELD_MANAGER, GROUP, GROUP_LABEL, PAUSE
from slackwater.core.decision.words import listing
from slackwater.core.manifests.objects import owner_reference
from slackwater.ports import Kind

Json = Mapping[str, Any]

ADOPTING: Final = f"{GROUP}/adopting"
"""On a StatefulSet that is being adopted: the revision that its pods ran when that began."""
WHY_PAUSED: Final = "adopted: resume it to roll out"


@dataclass(frozen=True, slots=True)
class Standing:
    """The objects, as the API server has them now."""

    group: Json
    workload: Json
    pods: Sequence[Json]
    """Those that the StatefulSet controls."""

    @property
    def name(self) -> str:
        return str(self.group["metadata"]["name"])

    @property
    def is_adopted(self) -> bool:
        owners = self.workload["metadata"].get("ownerReferences") or ()
        return any(each.get("controller") and each["uid"] == self.group["metadata"]["uid"] for each in owners)

    @property
    def was_revision(self) -> str:
        """What the pods ran when adoption began; empty where it has not begun."""
        return str((self.workload["metadata"].get("annotations") or {}).get(ADOPTING, ""))

    @property
    def revision(self) -> str:
        """The newest one."""
        return str(self.workload["status"].get("updateRevision", ""))

    @property
    def relabelled(self) -> bool:
        return all(revision_of(pod) == self.revision for pod in self.pods)


@dataclass(frozen=True, slots=True)
class Change:
    """One write: a merge patch of exactly this version of an object."""

    kind: Kind
    obj: Json
    body: Json
    words: str


@dataclass(frozen=True, slots=True)
class Wait:
    words: str


def next_step(standing: Standing) -> Change | Wait | None:
    """None when it is adopted."""
    if standing.is_adopted:
        return None
    return _pausing(standing) or _labelling(standing) or _settling(standing) or _taking_over(standing)


def _pausing(standing: Standing) -> Change | None:
    if PAUSE in (standing.group["metadata"].get("annotations") or {}):
        return None
    body = {"metadata": {"annotations": {PAUSE: WHY_PAUSED}}}
    return Change(CONSUMER_GROUP, standing.group, body, f"pausing ConsumerGroup {standing.name}")


def _labelling(standing: Standing) -> Change | Wait | None:
    """Pods first: the operator is to see all of them as soon as the StatefulSet is its group's."""
    name, workload = standing.name, standing.workload
    for pod in standing.pods:
        if _labels(pod).get(GROUP_LABEL) != name:
            return _labelled(pod, GROUP_LABEL, name)
    if _labels(workload["spec"]["template"]).get(GROUP_LABEL) != name:
        return Change(STATEFUL_SET, workload, _with_label(standing), f"labelling the template of StatefulSet {name}")
    if workload["status"].get("observedGeneration", 0) < workload["metadata"]["generation"]:
        return Wait("waiting for the StatefulSet controller")
    outdated = (pod for pod in standing.pods if revision_of(pod) != standing.revision)
    return next((_labelled(pod, REVISION_LABEL, standing.revision) for pod in outdated), None)


def _settling(standing: Standing) -> Change | Wait | None:
    """Until the newest revision is also the one that a pod comes back with after an eviction."""
    workload, status, replicas = standing.workload, standing.workload["status"], standing.workload["spec"]["replicas"]
    if (status.get("updatedReplicas", 0), status.get("readyReplicas", 0)) != (replicas, replicas):
        return Wait(f"waiting until {'its pod is' if replicas == 1 else f'all {replicas} pods are'} Ready")
    update = workload["spec"]["updateStrategy"]
    partition = (update.get("rollingUpdate") or {}).get("partition", 0)
    if (update["type"], partition) != ("RollingUpdate", replicas):
        held = {"type": "RollingUpdate", "rollingUpdate": {"partition": replicas}}
        return Change(STATEFUL_SET, workload, {"spec": {"updateStrategy": held}}, "holding every pod where it is")
    if status.get("currentRevision") != standing.revision:
        return Wait("waiting for the StatefulSet controller")
    return None


def _taking_over(standing: Standing) -> Change:
    metadata, name = standing.workload["metadata"], standing.name
    owner = owner_reference(name, standing.group["metadata"]["uid"])
    body = {
        "metadata": {
            "annotations": {ADOPTING: None},
            "labels": {GROUP_LABEL: name},
            "ownerReferences": [*(metadata.get("ownerReferences") or ()), owner],
            "managedFields": take_fields_over(metadata.get("managedFields") or ()),
        }
    }
    return Change(STATEFUL_SET, standing.workload, body, f"giving StatefulSet {name} to ConsumerGroup {name}")


def revision_of(pod: Json) -> str:
    return str(_labels(pod).get(REVISION_LABEL, ""))


def take_fields_over(managed: Sequence[Json]) -> list[Json]:
    """All that anybody manages in the spec becomes the operator's, so that it also takes away what nobody wants any
    more. Also of the scale subresource: who scaled it before is not taken for somebody who does so now. Labels and
    annotations of the StatefulSet itself stay whose they are."""
    kept: list[Json] = []
    spec: dict[str, Any] = {}
    for entry in managed:
        fields = dict(entry.get("fieldsV1") or {})
        if "f:spec" not in fields:
            kept.append(entry)
            continue
        spec = _merged(spec, fields.pop("f:spec"))
        if fields:
            kept.append({**entry, "fieldsV1": fields})
    ours = {
        "manager": FIELD_MANAGER,
        "operation": "Apply",
        "apiVersion": STATEFUL_SET.api_version,
        "fieldsType": "FieldsV1",
        "fieldsV1": {"f:spec": spec},
    }
    return [*kept, ours] if spec else kept


def _labelled(pod: Json, label: str, value: str) -> Change:
    body = {"metadata": {"labels": {label: value}}}
    return Change(POD, pod, body, f"labelling pod {pod['metadata']['name']}")


def _with_label(standing: Standing) -> Json:
    """No pod is replaced by it: that is left to whoever deletes one, and then it comes back with the label."""
    label = {GROUP_LABEL: standing.name}
    return {
        "metadata": {"labels": label, "annotations": {ADOPTING: standing.revision}},
        "spec": {
            "updateStrategy": {"type": "OnDelete", "rollingUpdate": None},
            "template": {"metadata": {"labels": label}},
        },
    }


def _labels(obj: Json) -> Json:
    return (obj.get("metadata") or {}).get("labels") or {}


def _merged(one: Json, other: Json) -> dict[str, Any]:
    merged = deepcopy(dict(one))
    for key, fields in other.items():
        merged[key] = _merged(merged.get(key, {}), fields)
    return merged


def names_of_pods(pods: Sequence[Json]) -> str:
    return listing(sorted(str(pod["metadata"]["name"]) for pod in pods))
