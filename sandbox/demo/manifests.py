"""What is applied to the cluster, as plain objects. Pure.

Every mode gets the same consumers with the same group settings, so that only the way of rolling out differs. A
ConsumerGroup gets its settings from the operator, the others by hand.
"""

from __future__ import annotations

from typing import Any

from sandbox.demo import modes
from sandbox.demo.modes import Kind, Mode

Json = dict[str, Any]

NAME = "orders"
IMAGE = "slackwater/consumer:dev"
LABEL = "slackwater.dev/demo"
CONNECTION = "sandbox"
_APP = "app.kubernetes.io/name"
_RESTRICTED = {
    "allowPrivilegeEscalation": False,
    "capabilities": {"drop": ["ALL"]},
    "readOnlyRootFilesystem": True,
}


def namespace(mode: Mode) -> Json:
    labels = {LABEL: mode.name, "pod-security.kubernetes.io/enforce": "restricted"}
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": mode.namespace, "labels": labels}}


def load(mode: Mode, bootstrap_servers: str) -> Json:
    """The producer: it runs beside the consumers, so that it goes with their namespace."""
    command = ["python3", "-m", "sandbox.workload.producer", "--topic", mode.topic]
    container = {
        "name": "producer",
        "image": IMAGE,
        "command": [*command, "--rate", str(modes.MESSAGES_PER_PARTITION_S)],
        "env": _variables({"KAFKA_BOOTSTRAP_SERVERS": bootstrap_servers}),
        "securityContext": _RESTRICTED,
    }
    return _object("apps/v1", "Deployment", "load", mode, _workload("load", 1, _pod(container)))


def consumers(mode: Mode, version: str, bootstrap_servers: str) -> list[Json]:
    """All that runs the consumers of `version`; the second version is the bad one where the mode is about one."""
    if mode.kind is Kind.CONSUMER_GROUP:
        return [_connection(mode, bootstrap_servers), _consumer_group(mode, version)]
    container = _consumer(mode, version)
    container["env"] += _group_settings(mode, bootstrap_servers)
    spec = _workload(NAME, modes.REPLICAS, _pod(container))
    if mode.kind is Kind.DEPLOYMENT:
        return [_object("apps/v1", "Deployment", NAME, mode, spec)]
    # Parallel bears on the first start only: a StatefulSet's rolling update goes one pod at a time all the same.
    spec |= {"serviceName": NAME, "podManagementPolicy": "Parallel"}
    return [_object("apps/v1", "StatefulSet", NAME, mode, spec)]


def _consumer_group(mode: Mode, version: str) -> Json:
    spec = {
        "groupId": mode.group,
        "connectionRef": {"name": CONNECTION},
        "topics": [mode.topic],
        "replicas": modes.REPLICAS,
        "client": {"library": "Librdkafka"},
        "protocol": {"target": "Eager"},
        "timeouts": {
            "session": f"{modes.SESSION_S}s",
            "heartbeat": f"{modes.HEARTBEAT_S}s",
            "maxPollInterval": f"{modes.MAX_POLL_INTERVAL_S}s",
        },
        "rollout": {
            "stableFor": f"{modes.STABLE_FOR_S}s",
            "rejoinTimeout": f"{modes.REJOIN_TIMEOUT_S}s",
            "onFailure": "Rollback",
        },
        "template": _pod(_consumer(mode, version)),
    }
    return _object("slackwater.dev/v1alpha1", "ConsumerGroup", NAME, mode, spec)


def _connection(mode: Mode, bootstrap_servers: str) -> Json:
    spec = {"bootstrapServers": bootstrap_servers}
    return _object("slackwater.dev/v1alpha1", "KafkaConnection", CONNECTION, mode, spec)


def _consumer(mode: Mode, version: str) -> Json:
    values = {
        "VERSION": version,
        "TOPICS": mode.topic,
        "DELIVERIES_TOPIC": mode.deliveries_topic,
        "START_DELAY_SECONDS": str(modes.START_DELAY_S),
    }
    if mode.bad_version and version == modes.SECOND:
        values["NEVER_JOIN"] = "1"
    return {
        "name": "consumer",
        "image": IMAGE,
        "env": [*_variables(values), _pod_name("POD_NAME")],
        "readinessProbe": {"httpGet": {"path": "/ready", "port": 8080}, "periodSeconds": 1},
        "securityContext": _RESTRICTED,
    }


def _group_settings(mode: Mode, bootstrap_servers: str) -> list[Json]:
    """By hand what the operator writes into a ConsumerGroup's pods."""
    values = {
        "KAFKA_BOOTSTRAP_SERVERS": bootstrap_servers,
        "KAFKA_GROUP_ID": mode.group,
        "KAFKA_PARTITION_ASSIGNMENT_STRATEGY": "range",
        "KAFKA_SESSION_TIMEOUT_MS": str(modes.SESSION_S * 1000),
        "KAFKA_HEARTBEAT_INTERVAL_MS": str(modes.HEARTBEAT_S * 1000),
        "KAFKA_MAX_POLL_INTERVAL_MS": str(modes.MAX_POLL_INTERVAL_S * 1000),
    }
    return [*_variables(values), *([_pod_name("KAFKA_GROUP_INSTANCE_ID")] if mode.is_static else ())]


def _pod(container: Json) -> Json:
    return {
        "spec": {
            "terminationGracePeriodSeconds": 15,
            "automountServiceAccountToken": False,
            "securityContext": {
                "runAsNonRoot": True,
                "runAsUser": 65532,
                "seccompProfile": {"type": "RuntimeDefault"},
            },
            "containers": [container],
        }
    }


def _workload(name: str, replicas: int, pod: Json) -> Json:
    labels = {_APP: name}
    template = {"metadata": {"labels": labels}, **pod}
    return {"replicas": replicas, "selector": {"matchLabels": labels}, "template": template}


def _object(api_version: str, kind: str, name: str, mode: Mode, spec: Json) -> Json:
    metadata = {"name": name, "namespace": mode.namespace}
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, "spec": spec}


def _variables(values: dict[str, str]) -> list[Json]:
    return [{"name": name, "value": value} for name, value in values.items()]


def _pod_name(variable: str) -> Json:
    return {"name": variable, "valueFrom": {"fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.name"}}}
