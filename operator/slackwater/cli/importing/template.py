"""The pod template of a running workload, without what Kubernetes put into it. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from typing import Any, Final

Json = dict[str, Any]

_POD_DEFAULTS: Final[Mapping[str, Any]] = {
    "dnsPolicy": "ClusterFirst",
    "restartPolicy": "Always",
    "schedulerName": "default-scheduler",
    "securityContext": {},
}
_CONTAINER_DEFAULTS: Final[Mapping[str, Any]] = {
    "resources": {},
    "terminationMessagePath": "/dev/termination-log",
    "terminationMessagePolicy": "File",
}
_HASH_LABEL: Final = "pod-template-hash"


def cleaned(template: Mapping[str, Any]) -> Json:
    """What somebody wrote: leaving the API server's defaults out changes nothing."""
    body: Json = deepcopy(dict(template))
    metadata = {key: value for key, value in (body.pop("metadata", None) or {}).items() if value}
    labels = {key: value for key, value in (metadata.pop("labels", None) or {}).items() if key != _HASH_LABEL}
    metadata = ({"labels": labels} if labels else {}) | metadata
    spec = _without(body["spec"], _POD_DEFAULTS)
    if spec.get("serviceAccount") == spec.get("serviceAccountName"):
        spec.pop("serviceAccount", None)  # the older name of the same
    for kind in ("initContainers", "containers"):
        if kind in spec:
            spec[kind] = [_without(each, _CONTAINER_DEFAULTS) for each in spec[kind]]
    return ({"metadata": metadata} if metadata else {}) | {"spec": spec}


def _without(part: Mapping[str, Any], defaults: Mapping[str, Any]) -> Json:
    return {key: value for key, value in part.items() if key not in defaults or value != defaults[key]}
