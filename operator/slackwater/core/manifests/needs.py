"""What a pod template asks of the cluster: all by which Kubernetes decides whether a pod may be made, and where.

Not what only its program sees: image, command, environment. Two versions with equal needs are refused alike.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from slackwater.core.world.world import World

Json = Mapping[str, Any]

_OF_THE_POD: Final = (
    "affinity",
    "hostIPC",
    "hostNetwork",
    "hostPID",
    "nodeName",
    "nodeSelector",
    "os",
    "overhead",
    "preemptionPolicy",
    "priorityClassName",
    "resourceClaims",
    "resources",
    "runtimeClassName",
    "schedulerName",
    "schedulingGates",
    "securityContext",
    "serviceAccountName",
    "tolerations",
    "topologySpreadConstraints",
)
_OF_A_CONTAINER: Final = ("resources", "securityContext")
_MADE_ANYWHERE: Final = ("configMap", "downwardAPI", "emptyDir", "projected", "secret")
"""Volumes that no node lacks. Their names often change with the version."""


def needs_otherwise(world: World) -> bool:
    """The version that is being rolled out asks for something else than the last good one; False where either is not
    known. Both as the API server keeps them."""
    workload, last_good = world.workload, world.last_good_template
    if workload is None or not workload.template or last_good is None:
        return False
    return needs_of(workload.template) != needs_of(last_good)


def needs_of(template: Json) -> Json:
    spec: Json = template.get("spec") or {}
    whole = {name: spec[name] for name in _OF_THE_POD if spec.get(name)}
    for kind in ("initContainers", "containers"):
        whole[kind] = [_needs_of_container(each) for each in spec.get(kind) or ()]
    whole["volumes"] = [each for each in spec.get("volumes") or () if not any(name in each for name in _MADE_ANYWHERE)]
    return whole


def _needs_of_container(container: Json) -> Json:
    needs = {name: container[name] for name in _OF_A_CONTAINER if container.get(name)}
    host_ports = sorted(port["hostPort"] for port in container.get("ports") or () if port.get("hostPort"))
    return {**needs, "hostPorts": host_ports}
