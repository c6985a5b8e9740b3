"""The operator's own use of Kafka, apart from the groups that it looks after: with a KafkaConnection like any group."""

from __future__ import annotations

import base64
from collections.abc import Mapping

from slackwater.adapters.cluster.api import KubernetesApi
from slackwater.adapters.cluster.paths import KAFKA_CONNECTION, SECRET
from slackwater.adapters.kafka.security import client_settings, secret_names
from slackwater.api.errors import InvalidSpec
from slackwater.api.parsing import parse_kafka_connection
from slackwater.api.resources import KafkaConnection
from slackwater.shell.store import Key


async def read_client_settings(api: KubernetesApi, connection: Key) -> Mapping[str, str]:
    """For confluent-kafka; holds credentials. Raises ClusterFailed, and InvalidSpec when it cannot be used."""
    found = await api.read(KAFKA_CONNECTION, connection.namespace, connection.name)
    if found is None:
        raise InvalidSpec(f"KafkaConnection {connection}", ("It does not exist: apply it.",))
    parsed = parse_kafka_connection(found)
    return client_settings(str(connection), parsed.spec, await read_secrets(api, parsed)).confluent


async def read_secrets(api: KubernetesApi, connection: KafkaConnection) -> dict[str, Mapping[str, bytes]]:
    """By name, one by one: Secrets are never listed nor watched (F27). Raises ClusterFailed."""
    secrets: dict[str, Mapping[str, bytes]] = {}
    for name in secret_names(connection.spec):
        found = await api.read(SECRET, connection.metadata.namespace, name)
        if found is not None:
            data = found.get("data") or {}
            secrets[name] = {item: base64.b64decode(value) for item, value in data.items()}
    return secrets
