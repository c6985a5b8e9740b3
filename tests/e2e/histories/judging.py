"""Whom the operator took away, and when: read from the records of pods and StatefulSets. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from slackwater.api.annotations import REJOINED
from tests.e2e.histories.asking import ordinal_of
from tests.e2e.stage.cluster import Json
from tests.e2e.stage.progress import is_ready, pods_of
from tests.e2e.stage.recorder import Record

_WATCHES_DIFFER_S: Final = 2.0
"""So much later than a pod's end the StatefulSet's scale that caused it may be seen: each has a watch of its own."""


def away_by_us(
    records: Iterable[Record], group: str, struck: set[str], sets: Sequence[Record] = ()
) -> Iterator[tuple[Record, set[int]]]:
    """After each change: the ordinals whose pod began to end while it worked, without a strike, and are not back.

    One that is Ready and never joins has nothing to lose: it is not waited for. One whose ordinal another pod serves,
    as in a handover, is not missed. `sets`: what they scale away is what people asked for, were it later. Ready is
    meant apart from the gate `slackwater.dev/rejoined`, which waits for the group.
    """
    ready: dict[str, tuple[int, bool]] = {}
    away: dict[int, Record] = {}
    going: set[str] = set()
    for record in pods_of(records, group):
        uid, ordinal = record.obj["metadata"]["uid"], ordinal_of(record.obj)
        served = any(each == (ordinal, True) for other, each in ready.items() if other != uid)
        ends = record.deleted or "deletionTimestamp" in record.obj["metadata"]
        if ends:
            works = ready.get(uid, (ordinal, False))[1]
            if uid not in going | struck and works and not served and not _scaled_away(record, sets):
                away[ordinal] = record
            going.add(uid)
        elif _is_up(record.obj):
            away.pop(ordinal, None)
        ready[uid] = ordinal, not ends and _is_up(record.obj) and not _never_joins(record.obj)
        away = {each: ended for each, ended in away.items() if not _scaled_away(ended, sets, by=record.seen_at)}
        yield record, set(away)


def _is_up(pod: Json) -> bool:
    gates = [gate["conditionType"] for gate in (pod.get("spec") or {}).get("readinessGates", ())]
    if gates != [REJOINED]:
        return is_ready(pod)
    up = {each["type"] for each in pod["status"].get("conditions", ()) if each["status"] == "True"}
    return "ContainersReady" in up and "deletionTimestamp" not in pod["metadata"]


def _scaled_away(record: Record, sets: Iterable[Record], by: float | None = None) -> bool:
    """Whether the pod's StatefulSet had no place for its ordinal at that time; or has had none since, until `by`."""
    owners = [owner["name"] for owner in record.obj["metadata"].get("ownerReferences", ())]
    until = max(record.seen_at + _WATCHES_DIFFER_S, by or 0.0)
    ours = [each for each in sets if each.name in owners and each.seen_at <= until]
    before = [each for each in ours if each.seen_at <= record.seen_at - _WATCHES_DIFFER_S]
    return any(ordinal_of(record.obj) >= _top(each.obj) for each in [*before[-1:], *ours[len(before) :]])


def _top(stateful_set: Json) -> int:
    """The first ordinal above its own."""
    spec = stateful_set["spec"]
    return int((spec.get("ordinals") or {}).get("start", 0)) + int(spec["replicas"])


def _never_joins(pod: Json) -> bool:
    containers = (pod.get("spec") or {}).get("containers", ())
    return any(each["name"] == "NEVER_JOIN" for container in containers for each in container.get("env", ()))
