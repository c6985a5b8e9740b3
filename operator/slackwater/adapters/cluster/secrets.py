"""Secrets, read one by one by their names: they are never listed nor watched (F27)."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping

from slackwater.adapters.cluster.paths import SECRET
from slackwater.ports import Cluster


async def read_secrets(cluster: Cluster, namespace: str, names: Iterable[str]) -> dict[str, Mapping[str, bytes]]:
    """Those that are there, by name. Raises ClusterFailed."""
    secrets: dict[str, Mapping[str, bytes]] = {}
    for name in names:
        found = await cluster.read(SECRET, namespace, name)
        if found is not None:
            data = found.get("data") or {}
            secrets[name] = {item: base64.b64decode(value) for item, value in data.items()}
    return secrets
