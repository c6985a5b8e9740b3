"""StatefulSets as teams write them, that run and are to be adopted; and somebody who may adopt them."""

from __future__ import annotations

import json
from pathlib import Path

from tests.e2e.sieve.arena import group_of
from tests.e2e.stage.cluster import Cluster, Json
from tests.e2e.stage.groups import PARTITIONS, REPLICAS, consumer_group, with_env
from tests.e2e.stage.stage import Stage
from tests.e2e.stage.waiting import wait_for


def wait_whole(stage: Stage, fault: str) -> None:
    wanted = {f"{group_of(fault)}-{ordinal}" for ordinal in range(REPLICAS)}

    def look() -> bool:
        seen = stage.kafka.look(stage.group_id(group_of(fault)))
        return seen.state == "STABLE" and set(seen.members) == wanted and seen.owned == PARTITIONS

    wait_for("a whole group", look, 90.0)


def service(fault: str) -> Json:
    spec = {"clusterIP": "None", "selector": {"app": group_of(fault)}, "ports": [{"port": 8080}]}
    return {"apiVersion": "v1", "kind": "Service", "metadata": {"name": group_of(fault)}, "spec": spec}


def stateful_set(stage: Stage, fault: str) -> Json:
    """As a team would write it."""
    name, pod_name = group_of(fault), {"fieldRef": {"fieldPath": "metadata.name"}}
    template = with_env(
        consumer_group(stage.cluster, name, stage.topic),
        KAFKA_BOOTSTRAP_SERVERS=stage.kafka.bootstrap_servers,
        KAFKA_GROUP_ID=stage.group_id(name),
        KAFKA_GROUP_INSTANCE_ID=pod_name,
    )["spec"]["template"]
    spec = {
        "replicas": REPLICAS,
        "serviceName": name,
        "podManagementPolicy": "Parallel",
        "selector": {"matchLabels": {"app": name}},
        "template": {**template, "metadata": {"labels": {"app": name}}},
    }
    return {"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"name": name}, "spec": spec}


def group_for(stage: Stage, fault: str) -> Json:
    """With the label by which the StatefulSet selects its pods."""
    group = stage.group(group_of(fault))
    template = {**group["spec"]["template"], "metadata": {"labels": {"app": group_of(fault)}}}
    return {**group, "spec": {**group["spec"], "template": template}}


def admin_kubeconfig(cluster: Cluster, folder: Path) -> Path:
    """A kubeconfig whose user shows a token: a certificate would not get through the proxy."""
    role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"}
    account = {"kind": "ServiceAccount", "name": "adopter", "namespace": cluster.namespace}
    rbac = "rbac.authorization.k8s.io/v1"
    cluster.apply(
        {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "adopter"}},
        {
            "apiVersion": rbac,
            "kind": "RoleBinding",
            "metadata": {"name": "adopter"},
            "roleRef": role,
            "subjects": [account],
        },
    )
    token = cluster.kubectl("create", "token", "adopter", "--duration=1h").strip()
    content = json.loads(cluster.kubectl("config", "view", "--raw", "--minify", "-o", "json"))
    content["users"] = [{"name": content["users"][0]["name"], "user": {"token": token}}]
    path = folder / "admin"
    path.touch(mode=0o600)
    path.write_text(json.dumps(content))
    return path
