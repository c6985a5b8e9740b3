"""Says on a KafkaConnection whether Kafka can be reached by it, as its groups find out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from slackwater.adapters.cluster.api import KubernetesApi
from slackwater.adapters.cluster.paths import KAFKA_CONNECTION
from slackwater.api.conditions import ConditionStatus, ConditionType
from slackwater.core.conditions import Verdict, merge
from slackwater.core.observation import KafkaView, Unobserved
from slackwater.core.reasons import Reason

_OF_THE_CONNECTION: Final = (Reason.KAFKA_UNREACHABLE, Reason.CONNECTION_INVALID)
"""Other failures are of one group or topic, and say nothing about the connection."""


async def report(
    api: KubernetesApi, connection: Mapping[str, Any], kafka: KafkaView, now: float
) -> Mapping[str, Any] | None:
    """Write the status if it changed; returns the object as written, if it was. Raises ClusterFailed."""
    verdict = _verdict(kafka)
    before = connection.get("status") or {}
    if verdict is None:
        return None
    metadata = connection["metadata"]
    generation = metadata.get("generation", 0)
    conditions = merge(before.get("conditions") or (), (verdict,), now, generation)
    status = {"observedGeneration": generation, "conditions": conditions}
    if status == before:
        return None
    name, namespace, uid = metadata["name"], metadata["namespace"], metadata["uid"]
    return await api.apply_status(KAFKA_CONNECTION, namespace, name, uid, status)


def _verdict(kafka: KafkaView) -> Verdict | None:
    if not isinstance(kafka, Unobserved):
        return Verdict(ConditionType.READY, ConditionStatus.TRUE, Reason.CONNECTED, "Kafka answers")
    if kafka.reason in _OF_THE_CONNECTION:
        return Verdict(ConditionType.READY, ConditionStatus.FALSE, kafka.reason, kafka.message)
    return None
