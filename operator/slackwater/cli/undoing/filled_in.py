"""What the API server fills in where a pod template says nothing, by the field that it stands in. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

Json = Mapping[str, Any]

_MODE: Final[Json] = {"defaultMode": 0o644}
_PROBE: Final[Json] = {"timeoutSeconds": 1, "periodSeconds": 10, "successThreshold": 1, "failureThreshold": 3}
_CONTAINER: Final[Json] = {
    "resources": {},
    "terminationMessagePath": "/dev/termination-log",
    "terminationMessagePolicy": "File",
}
_USUAL: Final[Mapping[str, Json]] = {
    "metadata": {"creationTimestamp": None},
    "spec": {
        "dnsPolicy": "ClusterFirst",
        "restartPolicy": "Always",
        "schedulerName": "default-scheduler",
        "securityContext": {},
        "terminationGracePeriodSeconds": 30,
        "volumeMode": "Filesystem",  # of an ephemeral volume's claim
    },
    "containers": _CONTAINER,
    "initContainers": _CONTAINER,
    "ports": {"protocol": "TCP"},
    "livenessProbe": _PROBE,
    "readinessProbe": _PROBE,
    "startupProbe": _PROBE,
    "httpGet": {"path": "/", "scheme": "HTTP"},
    "grpc": {"service": ""},
    "fieldRef": {"apiVersion": "v1"},
    "resourceFieldRef": {"divisor": "0"},
    "configMap": _MODE,
    "secret": _MODE,
    "downwardAPI": _MODE,
    "projected": _MODE,
    "serviceAccountToken": {"expirationSeconds": 3600},
    "hostPath": {"type": ""},
}
"""Where it stands → field → what it is then. No map of labels or annotations is called so."""


def without_filled_in(found: Any, before: Any, where: str = "template") -> Any:
    """Without what would be filled in again. What `before` says itself at the same place stays.

    `where`: the field that it stands in, for an item of a list the list's.
    """
    if isinstance(found, Mapping):
        said: Json = before if isinstance(before, Mapping) else {}
        usual = _usual(found, where)
        return {
            key: without_filled_in(value, said.get(key), key)
            for key, value in found.items()
            if key in said or key not in usual or usual[key] != value
        }
    if isinstance(found, list):
        others = before if isinstance(before, list) else []
        return [without_filled_in(each, same(each, at, others), where) for at, each in enumerate(found)]
    return found


def same(item: Any, at: int, others: Sequence[Any]) -> Any:
    """Of the same name; where items have no names, at the same place. None: there is none."""
    name = item.get("name") if isinstance(item, Mapping) else None
    if name is None:
        return others[at] if at < len(others) else None
    return next((each for each in others if isinstance(each, Mapping) and each.get("name") == name), None)


def _usual(found: Json, where: str) -> Json:
    usual = _USUAL.get(where, {})
    if where in ("containers", "initContainers"):
        return {**usual, "imagePullPolicy": _pulled(str(found.get("image", "")))}
    if where == "spec" and "serviceAccountName" in found:  # the older name of the same
        return {**usual, "serviceAccount": found["serviceAccountName"]}
    return usual


def _pulled(image: str) -> str:
    """A tag that moves is pulled each time."""
    name, is_fixed, _ = image.rpartition("/")[2].partition("@")
    _, _, tag = name.partition(":")
    return "Always" if tag == "latest" or not (tag or is_fixed) else "IfNotPresent"
