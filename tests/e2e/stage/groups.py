"""ConsumerGroups for the tests: three pods that start in a second, and a rollout that does not dawdle."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tests.e2e.stage.cluster import Cluster, Json

CONNECTION = "main"
REPLICAS = 3
PARTITIONS = 6
STABLE_FOR_S = 2.0

_FAILS_ON_LAST_POD = 'case "$HOSTNAME" in *-0) export NEVER_JOIN=1;; esac; exec python3 -m sandbox.workload.consumer'


def connection(bootstrap_servers: str, name: str = CONNECTION, **spec: Any) -> Json:
    return {
        "apiVersion": "slackwater.dev/v1alpha1",
        "kind": "KafkaConnection",
        "metadata": {"name": name},
        "spec": {"bootstrapServers": bootstrap_servers, **spec},
    }


def consumer_group(
    cluster: Cluster, name: str, topic: str, rollout: Mapping[str, Any] | None = None, **spec: Any
) -> Json:
    """Settings of the consumers' environment come by `with_env`, everything else of the spec by keyword."""
    return {
        "apiVersion": "slackwater.dev/v1alpha1",
        "kind": "ConsumerGroup",
        "metadata": {"name": name, "namespace": cluster.namespace},
        "spec": {
            "groupId": group_id(cluster, name),
            "connectionRef": {"name": CONNECTION},
            "topics": [topic],
            "replicas": REPLICAS,
            "client": {"library": "Librdkafka"},
            "rollout": {"stableFor": f"{STABLE_FOR_S:.0f}s", "rejoinTimeout": "5m", **(rollout or {})},
            "template": _template(topic),
            **spec,
        },
    }


def group_id(cluster: Cluster, name: str) -> str:
    """In Kafka all namespaces meet."""
    return f"{cluster.namespace}-{name}"


def with_env(group: Json, **variables: str | Mapping[str, Any] | None) -> Json:
    """The same group with these variables in its consumers' environment: a text, a `valueFrom`, or None for removal."""
    template = group["spec"]["template"]
    container = template["spec"]["containers"][0]
    env = [entry for entry in container["env"] if entry["name"] not in variables]
    for name, value in variables.items():
        if value is not None:
            env.append({"name": name, **({"value": value} if isinstance(value, str) else {"valueFrom": value})})
    return _with_container(group, {**container, "env": env})


def with_image(group: Json, image: str) -> Json:
    return _with_container(group, {**group["spec"]["template"]["spec"]["containers"][0], "image": image})


def failing_on_last_pod(group: Json) -> Json:
    """A version that works everywhere but on ordinal 0, where it gets Ready and never joins."""
    container = group["spec"]["template"]["spec"]["containers"][0]
    return _with_container(group, {**container, "command": ["sh", "-c", _FAILS_ON_LAST_POD]})


def with_command(group: Json, command: str) -> Json:
    """Consumers that a shell starts."""
    container = group["spec"]["template"]["spec"]["containers"][0]
    return _with_container(group, {**container, "command": ["sh", "-c", command]})


def with_own_assignor(group: Json, assignor: str) -> Json:
    """Consumers that have it whatever the operator sets."""
    container = group["spec"]["template"]["spec"]["containers"][0]
    insists = f"export KAFKA_PARTITION_ASSIGNMENT_STRATEGY={assignor}; exec python3 -m sandbox.workload.consumer"
    return _with_container(group, {**container, "command": ["sh", "-c", insists]})


def _with_container(group: Json, container: Json) -> Json:
    template = group["spec"]["template"]
    changed = {**template, "spec": {**template["spec"], "containers": [container]}}
    return {**group, "spec": {**group["spec"], "template": changed}}


def _template(topic: str) -> Json:
    probe = {"httpGet": {"path": "/ready", "port": 8080}, "periodSeconds": 1, "failureThreshold": 30}
    return {
        "spec": {
            "terminationGracePeriodSeconds": 10,
            "containers": [
                {
                    "name": "consumer",
                    "image": "slackwater/consumer:dev",
                    "imagePullPolicy": "Never",
                    "env": [
                        {"name": "TOPICS", "value": topic},
                        {"name": "START_DELAY_SECONDS", "value": "1"},
                        {"name": "VERSION", "value": "1"},
                    ],
                    "readinessProbe": probe,
                    "volumeMounts": [{"name": "state", "mountPath": "/state"}],
                }
            ],
            "volumes": [{"name": "state", "emptyDir": {}}],
        }
    }
