"""How events are marked: the same fact has the same id, whoever tells it and whenever."""

from __future__ import annotations

from hashlib import sha256
from typing import Any

from slackwater.api.resources import ConsumerGroup
from slackwater.api.telemetry.events import SCHEMA


def fact_id(group: ConsumerGroup, *parts: object) -> str:
    """The same for the same parts, and for no others of this object or any other, in any cluster."""
    text = "\x1f".join(str(part) for part in (group.metadata.uid, *parts))
    return sha256(text.encode()).hexdigest()[:32]


def envelope(group: ConsumerGroup, at: float, cluster: str, *fact: object) -> dict[str, Any]:
    """All fields of an event's envelope but its type. `fact`: what tells it from all other events of the group."""
    return {
        "schema_version": SCHEMA,
        "id": fact_id(group, *fact),
        "at": at,
        "cluster": cluster,
        "namespace": group.namespace,
        "name": group.name,
        "group_id": group.group_id,
    }
