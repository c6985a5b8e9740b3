"""The Secrets that a KafkaConnection names, read one by one, as the operator does (F27)."""

from __future__ import annotations

import base64
from collections.abc import Mapping

from slackwater.adapters.cluster.api import KubernetesApi
from slackwater.adapters.cluster.paths import SECRET
from slackwater.adapters.kafka.security import secret_names
from slackwater.api.resources import KafkaConnection


async def read_secrets(
    api: KubernetesApi, connection: KafkaConnection, namespace: str
) -> dict[str, Mapping[str, bytes]]:
    """Those that are there, by name. Raises ClusterFailed."""
    secrets: dict[str, Mapping[str, bytes]] = {}
    for name in secret_names(connection.spec):
        found = await api.read(SECRET, namespace, name)
        if found is not None:
            secrets[name] = {key: base64.b64decode(value) for key, value in (found.get("data") or {}).items()}
    return secrets
