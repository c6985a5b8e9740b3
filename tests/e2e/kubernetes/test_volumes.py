"""A volume that cannot be mounted: only an Event says so, and the condition repeats it, until the volume is there."""

from __future__ import annotations

import copy
from typing import Final

import pytest

from tests.e2e.kubernetes.halfway import wait_rolled_out
from tests.e2e.stage.cluster import Json
from tests.e2e.stage.groups import REPLICAS, with_env
from tests.e2e.stage.stage import Stage
from tests.e2e.stage.waiting import wait_for

pytestmark = [pytest.mark.e2e, pytest.mark.long, pytest.mark.minutes(2), pytest.mark.timeout(400)]

CONFIG: Final = "settings"
MISSING: Final = f'configmap "{CONFIG}" not found'
MOUNTED_WITHIN_S: Final = 200.0
"""The kubelet tries again at ever longer intervals, of two minutes at most."""


def with_volume(group: Json) -> Json:
    found = copy.deepcopy(with_env(group, VERSION="2"))
    pod = found["spec"]["template"]["spec"]
    pod["volumes"] = [*pod.get("volumes", ()), {"name": CONFIG, "configMap": {"name": CONFIG}}]
    mounts = pod["containers"][0].setdefault("volumeMounts", [])
    mounts.append({"name": CONFIG, "mountPath": f"/etc/{CONFIG}"})
    return found


def test_a_config_map_that_is_missing_is_named(stage: Stage) -> None:
    group = stage.group("mounts", replicas=REPLICAS)
    stage.create(group)
    stage.cluster.apply(with_volume(group))
    for kind in ("RolloutGated", "Ready"):
        wait_for(
            f"the node's words in {kind}",
            lambda kind=kind: MISSING in stage.cluster.condition("mounts", kind).get("message", ""),  # type: ignore[misc]
            90.0,
            lambda: stage.cluster.summary("mounts"),
        )
    stage.cluster.apply({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": CONFIG}, "data": {"a": "b"}})
    stage.cluster.wait_complete("mounts", MOUNTED_WITHIN_S)
    wait_rolled_out(stage, "mounts")
    stage.cluster.wait_condition("mounts", "Ready", "True")
