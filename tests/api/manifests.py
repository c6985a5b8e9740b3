"""Valid manifests, and what to break in them."""

from __future__ import annotations

from copy import deepcopy
from typing import Any, Final

Manifest = dict[str, Any]

ABSENT: Final = object()
"""Given for a field, takes it away."""


def consumer_group(name: str = "payments", **spec: Any) -> Manifest:
    """A ConsumerGroup that everybody accepts, with the given fields of its spec replaced."""
    fields = {
        "connectionRef": {"name": "main"},
        "topics": ["orders"],
        "client": {"library": "Librdkafka", "version": "2.12.1"},
        "template": template(),
    }
    return _object("ConsumerGroup", name, fields | spec)


def kafka_connection(name: str = "main", **spec: Any) -> Manifest:
    """A KafkaConnection that everybody accepts, with the given fields of its spec replaced."""
    return _object("KafkaConnection", name, {"bootstrapServers": "broker-0:9092,broker-1:9092"} | spec)


def cluster_kafka_connection(name: str = "shared", **spec: Any) -> Manifest:
    """A ClusterKafkaConnection that everybody accepts, with the given fields of its spec replaced."""
    tenants = [{"namespaces": ["default"]}]
    return _object("ClusterKafkaConnection", name, {"bootstrapServers": "broker-0:9092", "tenants": tenants} | spec)


def consumer_fleet(name: str = "platform", **spec: Any) -> Manifest:
    """A ConsumerFleet that everybody accepts, with the given fields of its spec replaced."""
    return _object("ConsumerFleet", name, {"selector": {}} | spec)


def template(env: tuple[str, ...] = (), **pod_spec: Any) -> Manifest:
    """A pod template with one container, which sets the variables `env`."""
    variables = [{"name": name, "value": "x"} for name in env]
    container = {"name": "consumer", "image": "consumer:1", "env": variables}
    sidecar = {"name": "sidecar", "image": "sidecar:1", "env": [{"name": "KAFKA_GROUP_ID", "value": "of its own"}]}
    return {"metadata": {"labels": {"app": "payments"}}, "spec": {"containers": [container, sidecar]} | pod_spec}


def _object(kind: str, name: str, spec: Manifest) -> Manifest:
    return {
        "apiVersion": "slackwater.dev/v1alpha1",
        "kind": kind,
        "metadata": {"name": name},
        "spec": {field: deepcopy(value) for field, value in spec.items() if value is not ABSENT},
    }
