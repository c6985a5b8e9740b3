"""Events: what the operator did to a ConsumerGroup, and each refusal that changed, for `kubectl describe`."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from typing import Any, Final

import structlog

from slackwater.adapters.cluster.api import KubernetesApi
from slackwater.adapters.cluster.errors import ClusterFailed
from slackwater.adapters.cluster.paths import EVENT
from slackwater.api.conditions import ConditionType
from slackwater.api.resources import ConsumerGroup
from slackwater.core.acts import Note
from slackwater.core.memory import timestamp
from slackwater.core.reasons import Hold

LONGEST_MESSAGE: Final = 1024
"""Kubernetes refuses longer ones."""

_log = structlog.get_logger(__name__)


def changed_refusal(before: Mapping[str, Any], hold: Hold | None) -> Note | None:
    """The hold as an Event, when its reason is not the one that the status already shows."""
    if hold is None:
        return None
    conditions = before.get("conditions") or ()
    shown = next((c for c in conditions if c["type"] == ConditionType.ROLLOUT_GATED.value), None)
    if shown is not None and shown["status"] == "True" and shown["reason"] == hold.reason:
        return None
    message = hold.message if hold.message.startswith("waiting") else f"waiting: {hold.message}"
    return Note(hold.reason, message)


async def post(api: KubernetesApi, group: ConsumerGroup, note: Note, now: float) -> None:
    """Events are for people to read: one that cannot be written is logged and given up, never waited for."""
    body = {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": f"{group.name}.{uuid.uuid4().hex[:16]}", "namespace": group.namespace},
        "involvedObject": {
            "apiVersion": group.api_version,
            "kind": group.kind,
            "name": group.name,
            "namespace": group.namespace,
            "uid": group.metadata.uid,
            "resourceVersion": group.metadata.resource_version,
        },
        "type": "Warning" if note.warning else "Normal",
        "reason": str(note.reason),
        "message": note.message[:LONGEST_MESSAGE],
        "source": {"component": "slackwater"},
        "reportingComponent": "slackwater",
        "firstTimestamp": timestamp(int(now)),
        "lastTimestamp": timestamp(int(now)),
        "count": 1,
    }
    try:
        await api.create(EVENT, group.namespace, body)
    except ClusterFailed as error:
        _log.warning("event_not_written", group=group.name, reason=note.reason, error=str(error))
