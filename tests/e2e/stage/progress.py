"""A rollout as it went, read from the records: who was restarted, who was down, which ordinals were let go and when."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from tests.e2e.stage.audit import operator_writes
from tests.e2e.stage.recorder import Record, Recorder

Json = dict[str, Any]
_GROUP_LABEL = "slackwater.dev/group"


@dataclass(frozen=True, slots=True)
class Release:
    """The StatefulSet controller was allowed to restart this ordinal. `at`: seconds since the epoch."""

    at: float
    ordinal: int


def pods_of(records: Iterable[Record], group: str) -> list[Record]:
    return [r for r in records if (r.obj["metadata"].get("labels") or {}).get(_GROUP_LABEL) == group]


def incarnations(records: Iterable[Record], group: str) -> dict[str, list[str]]:
    """Pod name → the uids that went by it, in their order."""
    found: dict[str, list[str]] = {}
    for record in pods_of(records, group):
        uids = found.setdefault(record.name, [])
        if record.obj["metadata"]["uid"] not in uids:
            uids.append(record.obj["metadata"]["uid"])
    return found


def down_over_time(records: Iterable[Record], group: str, replicas: int) -> Iterator[tuple[float, frozenset[str]]]:
    """After each change: the pods that should be there and are not Ready."""
    names = [f"{group}-{ordinal}" for ordinal in range(replicas)]
    ready: dict[str, bool] = {}
    for record in pods_of(records, group):
        ready[record.name] = not record.deleted and is_ready(record.obj)
        if len(ready) == replicas or record.deleted:
            yield record.seen_at, frozenset(name for name in names if not ready.get(name, False))


def is_ready(pod: Json) -> bool:
    conditions = pod["status"].get("conditions", ())
    ready = any(c["type"] == "Ready" and c["status"] == "True" for c in conditions)
    return ready and "deletionTimestamp" not in pod["metadata"]


def releases(recorder: Recorder, namespace: str, group: str, since: float) -> list[Release]:
    """When the operator lowered the partition, by the audit log; to what, by the StatefulSet's versions."""
    partitions = _partitions_by_generation(recorder.records("statefulsets"), group, since)
    writes = operator_writes(namespace, "statefulsets", group, since)
    assert len(writes) == len(partitions) - 1, f"writes that changed nothing: {writes}, {partitions}"
    pairs = zip(writes, partitions[:-1], partitions[1:], strict=True)
    return [Release(write.at, after) for write, before, after in pairs if after < before]


def _partitions_by_generation(records: Iterable[Record], group: str, since: float) -> list[int]:
    """The last one from before `since`, then one for each later generation."""
    found: dict[int, tuple[float, int]] = {}
    for record in records:
        if record.name == group:
            update = record.obj["spec"]["updateStrategy"].get("rollingUpdate") or {}
            found.setdefault(record.obj["metadata"]["generation"], (record.seen_at, update.get("partition", 0)))
    before = [partition for seen_at, partition in found.values() if seen_at < since]
    return [*before[-1:], *(partition for seen_at, partition in found.values() if seen_at >= since)]


def most_at_once(spans: Mapping[str, tuple[float, float]]) -> int:
    """How many of these, each from a moment to a moment, overlap at most."""
    changes = sorted([(begun, 1) for begun, _ in spans.values()] + [(ended, -1) for _, ended in spans.values()])
    away, most = 0, 0
    for _, change in changes:
        away += change
        most = max(most, away)
    return most
