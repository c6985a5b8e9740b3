"""What a workload has and a ConsumerGroup cannot have: each is named, or, where data hangs on it, refused. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from slackwater.api.annotations import GROUP
from slackwater.cli.errors import CannotBeImported
from slackwater.core.decision.words import shown

Json = Mapping[str, Any]

_CLAIMS: Final = frozenset({"volumeClaimTemplates", "persistentVolumeClaimRetentionPolicy"})
_TAKEN: Final = frozenset({"replicas", "template", "selector", "serviceName"}) | _CLAIMS
_NOT_WORTH_A_WORD: Final[Mapping[str, Any]] = {
    "podManagementPolicy": "Parallel",
    "revisionHistoryLimit": 10,
    "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"partition": 0}},
    "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": "25%", "maxSurge": "25%"}},
    "progressDeadlineSeconds": 600,
    "minReadySeconds": 0,
}
"""Nobody chose these: they are the API server's, or the operator's own as well."""
_INSTEAD: Final = {
    "updateStrategy": "the operator replaces pods one at a time, as spec.rollout says",
    "strategy": "the operator replaces pods one at a time, as spec.rollout says",
    "podManagementPolicy": "pods start together (Parallel), but in a StatefulSet that is adopted",
    "minReadySeconds": "spec.rollout.stableFor is how long a group has to be calm",
    "progressDeadlineSeconds": "spec.rollout.rejoinTimeout is how long a pod may take",
    "revisionHistoryLimit": "ten revisions are kept",
    "paused": "slackwater pause holds a rollout",
    "ordinals": "ordinals begin with 0, and so instance ids and pod names change",
}
_OF_TOOLS: Final = ("kubectl.kubernetes.io/last-applied-configuration", "deployment.kubernetes.io/revision")


def check_importable(workload: Json) -> None:
    """Raises CannotBeImported where something would be lost, or is a ConsumerGroup's already."""
    what = f"{workload['kind']} {workload['metadata']['name']}"
    owner = _owner(workload)
    if owner is not None and owner["kind"] == "ConsumerGroup" and str(owner["apiVersion"]).startswith(f"{GROUP}/"):
        raise CannotBeImported(
            f"{what} belongs to ConsumerGroup {shown(owner['name'])} already (metadata.ownerReferences): there is"
            " nothing to import"
        )


def _owner(workload: Json) -> Json | None:
    references = workload["metadata"].get("ownerReferences") or ()
    return next((each for each in references if each.get("controller")), None)


def left_behind(workload: Json) -> Iterator[str]:
    """A remark for each thing that is not in the manifest."""
    kind, metadata, spec = workload["kind"], workload["metadata"], workload["spec"]
    if owner := _owner(workload):
        whose = f"{shown(owner['kind'])} {shown(owner['name'])}"
        yield f"{kind} belongs to {whose}, which may put back what you change or delete"
    for part in ("labels", "annotations"):
        names = [name for name in metadata.get(part) or {} if name not in _OF_TOOLS]
        if names:
            yield f"metadata.{part} of the {kind} itself are left out: {', '.join(names)}"
    if service := spec.get("serviceName"):
        name = metadata["name"]
        yield f"spec.serviceName {service} is left out: the operator makes a headless Service {name} for the pods"
    for field, value in spec.items():
        if field in _TAKEN or not value or value == _NOT_WORTH_A_WORD.get(field):
            continue
        yield f"spec.{field} is left out" + (f": {_INSTEAD[field]}" if field in _INSTEAD else "")
