"""Says on a KafkaConnection whether Kafka can be reached by it, as its groups find out.

Groups are not looked at at the same moment, and one can be out of reach while another is not. So the verdict is of all
of them together: were it of the group in hand, two groups would contradict each other write by write.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from slackwater.adapters.cluster.paths import CLUSTER_KAFKA_CONNECTION, KAFKA_CONNECTION
from slackwater.api.conditions import ConditionStatus, ConditionType
from slackwater.core.decision.reasons import Reason
from slackwater.core.status.certificates import Validity
from slackwater.core.status.certificates import verdict as certificates_verdict
from slackwater.core.status.conditions import Verdict, merge
from slackwater.core.world.observation import KafkaView, Unobserved
from slackwater.ports import Cluster, Kind


async def report(
    api: Cluster,
    connection: Mapping[str, Any],
    seen: KafkaView,
    worst: Callable[[], Unobserved | None],
    certificates: Sequence[Validity] | None,
    now: float,
) -> Mapping[str, Any] | None:
    """Write the status if it changed; returns the object as written, if it was. Raises ClusterFailed.

    `seen`: what the group in hand knows; `worst`: why another one cannot be seen, where the connection is to blame.
    `certificates`: None where they are not known just now; what was said of them stands.
    """
    before = connection.get("status") or {}
    metadata = connection["metadata"]
    generation = metadata.get("generation", 0)
    said: Sequence[Mapping[str, Any]] = before.get("conditions") or ()
    valid = certificates_verdict(certificates or (), now)
    outdated = certificates is not None and valid is None and bool(_of(said, ConditionType.CERTIFICATES_VALID))
    stands = _is_said(valid, before, generation) and not outdated
    if stands and _is_said(_verdict(seen), before, generation):
        return None
    verdict = _verdict(worst() or seen)
    if stands and _is_said(verdict, before, generation):
        return None
    conditions = merge(said, [each for each in (verdict, valid) if each is not None], now, generation)
    conditions += _of(said, ConditionType.READY) if verdict is None else []
    conditions += _of(said, ConditionType.CERTIFICATES_VALID) if certificates is None else []
    status = {"observedGeneration": generation, "conditions": conditions}
    kind = kind_of_connection(connection)
    namespace, version = metadata.get("namespace", ""), metadata["resourceVersion"]
    # On this version: an answer that has somebody's correction in it would make the watch's event about that no news.
    return await api.apply_status(kind, namespace, metadata["name"], metadata["uid"], status, version)


def kind_of_connection(obj: Mapping[str, Any]) -> Kind:
    return CLUSTER_KAFKA_CONNECTION if obj["kind"] == CLUSTER_KAFKA_CONNECTION.name else KAFKA_CONNECTION


def _verdict(kafka: KafkaView) -> Verdict | None:
    if not isinstance(kafka, Unobserved):
        return Verdict(ConditionType.READY, ConditionStatus.TRUE, Reason.CONNECTED, "Kafka answers")
    if kafka.reason.of_the_connection:
        return Verdict(ConditionType.READY, ConditionStatus.FALSE, kafka.reason, kafka.message)
    return None


def _of(conditions: Iterable[Mapping[str, Any]], kind: ConditionType) -> list[dict[str, Any]]:
    return [dict(each) for each in conditions if each["type"] == kind.value]


def _is_said(verdict: Verdict | None, before: Mapping[str, Any], generation: int) -> bool:
    """In an outage every look fails in words of its own (no answer, refused, reset): the first will do."""
    if verdict is None:
        return True
    conditions: Sequence[Mapping[str, Any]] = before.get("conditions") or ()
    said: Mapping[str, Any] = next((c for c in conditions if c["type"] == verdict.type.value), {})
    if before.get("observedGeneration") != generation or said.get("status") != verdict.status.value:
        return False
    same_words = said.get("message") == verdict.message or verdict.reason is Reason.KAFKA_UNREACHABLE
    return said.get("reason") == verdict.reason and same_words
