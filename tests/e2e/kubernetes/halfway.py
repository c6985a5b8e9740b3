"""A group of three halfway through a rollout, and what its records say afterwards. A condition says when to strike."""

from __future__ import annotations

import json
import time
from typing import Final

from tests.e2e.stage.cluster import Cluster, Json
from tests.e2e.stage.groups import REPLICAS, with_env
from tests.e2e.stage.progress import down_over_time, incarnations
from tests.e2e.stage.stage import Stage
from tests.e2e.stage.waiting import wait_for

GAVE_UP: Final = ("Failed", "RollingBack", "RolledBack")


def begin(stage: Stage, group: Json, version: str = "2") -> float:
    """Ask for a version; returns when it began, once the first pod has it and an old one is left."""
    name, began = group["metadata"]["name"], time.time()
    stage.cluster.apply(with_env(group, VERSION=version))

    def is_halfway() -> bool:
        versions = versions_of(stage, name)
        return version in versions and versions != [version] * len(versions)

    wait_for(f"{name} to be halfway", is_halfway, 120.0, lambda: stage.cluster.summary(name))
    return began


def versions_of(stage: Stage, name: str) -> list[str]:
    """What the pods run, by their names."""
    env = [pod["spec"]["containers"][0]["env"] for pod in stage.cluster.pods(name)]
    found = ({each["name"]: each.get("value") for each in variables} for variables in env)
    return [str(each.get("VERSION")) for each in found]


def wait_rolled_out(stage: Stage, name: str, version: str = "2", replicas: int = REPLICAS) -> None:
    """Every pod has the version, and is in the group."""
    stage.cluster.wait_complete(name)
    stage.cluster.wait_condition(name, "Ready", "True")
    assert versions_of(stage, name) == [version] * replicas
    members = {f"{name}-{ordinal}" for ordinal in range(replicas)}  # of those that were scaled away, not yet, perhaps
    wait_for("its members and no others", lambda: set(stage.kafka.look(stage.group_id(name)).members) == members, 60.0)


def restarts(stage: Stage, name: str, since: float) -> dict[str, int]:
    """How often each pod that was there was made again."""
    uids = incarnations(stage.recorder.records("pods"), name)
    made = incarnations(stage.recorder.records("pods", since), name)
    before = incarnations((r for r in stage.recorder.records("pods") if r.seen_at < since), name)
    return {pod: len(set(made.get(pod, ())) - set(before.get(pod, ()))) for pod in uids}


def most_down(stage: Stage, name: str, since: float, replicas: int = REPLICAS) -> int:
    """The most pods that were not Ready at the same time."""
    looks = down_over_time(stage.recorder.records("pods"), name, replicas)
    return max(len(down) for seen_at, down in looks if seen_at >= since)


def gave_up(stage: Stage, name: str, since: float) -> list[str]:
    """The phases in which a version was blamed."""
    told = [record.obj for record in stage.recorder.records("consumergroups", since) if record.name == name]
    phases = (((obj.get("status") or {}).get("rollout") or {}).get("phase", "") for obj in told)
    return [phase for phase in phases if phase in GAVE_UP]


def evict(cluster: Cluster, pod: str) -> bool:
    """By the eviction API, as a drain does; False when a PodDisruptionBudget does not allow it."""
    eviction = {
        "apiVersion": "policy/v1",
        "kind": "Eviction",
        "metadata": {"name": pod, "namespace": cluster.namespace},
    }
    path = f"/api/v1/namespaces/{cluster.namespace}/pods/{pod}/eviction"
    return "Success" in cluster.kubectl("create", "--raw", path, "-f", "-", stdin=json.dumps(eviction), check=False)
