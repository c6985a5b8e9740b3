"""Whom the operator took away, and when: read from the records of pods and StatefulSets. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

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
    as in a handover, is not missed. `sets`: what they scale away is what people asked for.
    """
    ready: dict[str, tuple[int, bool]] = {}
    away: set[int] = set()
    going: set[str] = set()
    for record in pods_of(records, group):
        uid, ordinal = record.obj["metadata"]["uid"], ordinal_of(record.obj)
        served = any(each == (ordinal, True) for other, each in ready.items() if other != uid)
        ends = record.deleted or "deletionTimestamp" in record.obj["metadata"]
        if ends:
            works = ready.get(uid, (ordinal, False))[1]
            if uid not in going | struck and works and not served and not _scaled_away(record, sets):
                away.add(ordinal)
            going.add(uid)
        elif is_ready(record.obj):
            away.discard(ordinal)
        ready[uid] = ordinal, not ends and is_ready(record.obj) and not _never_joins(record.obj)
        yield record, set(away)


def _scaled_away(record: Record, sets: Iterable[Record]) -> bool:
    """Whether the pod's StatefulSet had no place for its ordinal at that time."""
    owners = [owner["name"] for owner in record.obj["metadata"].get("ownerReferences", ())]
    ours = [each for each in sets if each.name in owners and each.seen_at <= record.seen_at + _WATCHES_DIFFER_S]
    before = [each for each in ours if each.seen_at <= record.seen_at - _WATCHES_DIFFER_S]
    return any(ordinal_of(record.obj) >= _top(each.obj) for each in [*before[-1:], *ours[len(before) :]])


def _top(stateful_set: Json) -> int:
    """The first ordinal above its own."""
    spec = stateful_set["spec"]
    return int((spec.get("ordinals") or {}).get("start", 0)) + int(spec["replicas"])


def _never_joins(pod: Json) -> bool:
    containers = (pod.get("spec") or {}).get("containers", ())
    return any(each["name"] == "NEVER_JOIN" for container in containers for each in container.get("env", ()))
