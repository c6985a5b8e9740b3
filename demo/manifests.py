"""What is applied to the cluster, as plain objects. Pure.

Every mode that rolls a version out gets the same consumers with the same group settings, so that only the way of
rolling out differs. A ConsumerGroup gets its settings from the operator, the others by hand.
"""

from __future__ import annotations

from typing import Any

from demo import modes
from demo.modes import Client, Kind, Mode
from sandbox.images import CONSUMER, KAFKA_TOOLS

Json = dict[str, Any]

NAMESPACE = "slackwater-demo"
OPERATOR_NAMESPACE = "slackwater-demo-operator"
CONNECTION = "sandbox"
TELEMETRY = "slackwater-demo-telemetry"
RECOMMENDATIONS = "slackwater-demo-recommendations"
"""The topics by which operator and pipeline talk to each other."""
NODES = {"slackwater-demo": "room"}
"""Labels of nodes that take the pods of a group that learns."""
APP = "app.kubernetes.io/name"
"""The label of a mode's consumers and of what runs them; the value is the mode's `workload`."""
RESTRICTED = {
    "allowPrivilegeEscalation": False,
    "capabilities": {"drop": ["ALL"]},
    "readOnlyRootFilesystem": True,
}


def namespaces() -> list[Json]:
    """One for the consumers of all modes and one for the operator. Both admit only restricted pods."""
    return [_namespace(NAMESPACE), _namespace(OPERATOR_NAMESPACE)]


def connection(bootstrap_servers: str) -> Json:
    """The KafkaConnection of the groups that the operator runs."""
    spec = {"bootstrapServers": bootstrap_servers}
    return object_of("slackwater.dev/v1alpha1", "KafkaConnection", CONNECTION, spec)


def place(topic: str) -> str:
    """A topic as the operator's settings name it."""
    return f"kafka:{NAMESPACE}/{CONNECTION}/{topic}"


def load(mode: Mode, bootstrap_servers: str) -> Json:
    """The producer: a pod as well, so that it ends with the demo, however that ends."""
    command = ["python3", "-m", "sandbox.workload.producer", "--topic", mode.workload]
    container = {
        "name": "producer",
        "image": CONSUMER,
        "command": [*command, "--rate", str(modes.MESSAGES_PER_PARTITION_S)],
        "env": variables({"KAFKA_BOOTSTRAP_SERVERS": bootstrap_servers}),
        "securityContext": RESTRICTED,
    }
    name = load_name(mode)
    return object_of("apps/v1", "Deployment", name, workload_of(name, 1, container))


def load_name(mode: Mode) -> str:
    return f"load-{mode.name}"


def consumers(mode: Mode, version: str, bootstrap_servers: str) -> Json:
    """What runs the consumers of `version`.

    The second version is the bad one where the mode is about one; where it is about an upgrade, the same consumers are
    to have another protocol.
    """
    if mode.kind is Kind.CONSUMER_GROUP:
        return _consumer_group(mode, version)
    container = _consumer(mode, version)
    container["env"] += _group_settings(mode, bootstrap_servers)
    spec = workload_of(mode.workload, mode.replicas, container)
    if mode.kind is Kind.DEPLOYMENT:
        return object_of("apps/v1", "Deployment", mode.workload, spec)
    # Parallel bears on the first start only: a StatefulSet's rolling update goes one pod at a time all the same.
    spec |= {"serviceName": mode.workload, "podManagementPolicy": "Parallel"}
    return object_of("apps/v1", "StatefulSet", mode.workload, spec)


def _consumer_group(mode: Mode, version: str) -> Json:
    target = _target(mode, version)
    timeouts = {"maxPollInterval": f"{modes.MAX_POLL_INTERVAL_S}s", **({"mode": "Auto"} if mode.learns else {})}
    if target != "Consumer":  # where the brokers keep them for the group
        timeouts |= {"session": f"{modes.SESSION_S}s", "heartbeat": f"{modes.HEARTBEAT_S}s"}
    spec: Json = {
        "connectionRef": {"name": CONNECTION},
        "topics": [mode.workload],
        "replicas": mode.replicas,
        "client": {"library": mode.client.value, "version": mode.client.version},
        "protocol": {"target": target},
        "timeouts": timeouts,
        "rollout": {
            "stableFor": f"{modes.STABLE_FOR_S}s",
            "rejoinTimeout": f"{mode.rejoin_timeout_s}s",
            "onFailure": "Rollback",
            **({"strategy": "WarmHandover", "handover": mode.warm.handover} if mode.warm else {}),
        },
        "template": pod_template(mode.workload, _consumer(mode, version)),
    }
    if mode.learns:
        # So that a process can be killed from within its pod: its own first one would be immune.
        spec["template"]["spec"] |= {"shareProcessNamespace": True, "nodeSelector": NODES}
    return object_of("slackwater.dev/v1alpha1", "ConsumerGroup", mode.workload, spec)


def _target(mode: Mode, version: str) -> str:
    if mode.upgrade is None:
        return mode.target
    return mode.upgrade.target if version == modes.SECOND else mode.upgrade.origin


def _consumer(mode: Mode, version: str) -> Json:
    values = {
        "VERSION": version if mode.upgrade is None else modes.FIRST,
        "TOPICS": mode.workload,
        "DELIVERIES_TOPIC": mode.deliveries_topic,
    }
    if mode.client is Client.LIBRDKAFKA:  # a Java process takes its time by itself
        values["START_DELAY_SECONDS"] = str(modes.START_DELAY_S)
    if mode.bad_version and version == modes.SECOND:
        values["NEVER_JOIN"] = "1"
    return {
        "name": "consumer",
        "image": KAFKA_TOOLS if mode.client is Client.JAVA else CONSUMER,
        "env": [*variables(values), pod_name("POD_NAME")],
        "readinessProbe": {"httpGet": {"path": "/ready", "port": 8080}, "periodSeconds": 1},
        "securityContext": RESTRICTED,
    }


def _group_settings(mode: Mode, bootstrap_servers: str) -> list[Json]:
    """By hand what the operator writes into a ConsumerGroup's pods."""
    values = {
        "KAFKA_BOOTSTRAP_SERVERS": bootstrap_servers,
        "KAFKA_GROUP_ID": mode.workload,
        "KAFKA_PARTITION_ASSIGNMENT_STRATEGY": "range",
        "KAFKA_SESSION_TIMEOUT_MS": str(modes.SESSION_S * 1000),
        "KAFKA_HEARTBEAT_INTERVAL_MS": str(modes.HEARTBEAT_S * 1000),
        "KAFKA_MAX_POLL_INTERVAL_MS": str(modes.MAX_POLL_INTERVAL_S * 1000),
    }
    return [*variables(values), *([pod_name("KAFKA_GROUP_INSTANCE_ID")] if mode.is_static else ())]


def _namespace(name: str) -> Json:
    labels = {"pod-security.kubernetes.io/enforce": "restricted"}
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}}


def pod_template(name: str, container: Json) -> Json:
    """A pod template."""
    return {
        "metadata": {"labels": {APP: name}},
        "spec": {
            "terminationGracePeriodSeconds": 15,
            "automountServiceAccountToken": False,
            "securityContext": {
                "runAsNonRoot": True,
                "runAsUser": 65532,
                "seccompProfile": {"type": "RuntimeDefault"},
            },
            "containers": [container],
        },
    }


def workload_of(name: str, replicas: int, container: Json) -> Json:
    """The spec of a Deployment or a StatefulSet."""
    return {"replicas": replicas, "selector": {"matchLabels": {APP: name}}, "template": pod_template(name, container)}


def object_of(api_version: str, kind: str, name: str, spec: Json) -> Json:
    """One in the demo's namespace, labelled with its name."""
    metadata = {"name": name, "namespace": NAMESPACE, "labels": {APP: name}}
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, "spec": spec}


def variables(values: dict[str, str]) -> list[Json]:
    """A container's environment."""
    return [{"name": name, "value": value} for name, value in values.items()]


def pod_name(variable: str) -> Json:
    """A variable that holds the name of the pod that it is in."""
    return {"name": variable, "valueFrom": {"fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.name"}}}
