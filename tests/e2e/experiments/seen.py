"""What the operator said and did meanwhile, read from the stage's records."""

from __future__ import annotations

from math import inf

from tests.e2e.stage.cluster import condition
from tests.e2e.stage.progress import down_over_time, incarnations, is_ready, pods_of
from tests.e2e.stage.recorder import Record
from tests.e2e.stage.stage import Stage


def reasons(
    stage: Stage, group: str, since: float, kind: str = "RolloutGated", status: str = "True", until: float = inf
) -> list[str]:
    """Every reason that this condition gave while it had this status, each once, in the order of their coming."""
    versions = (record for record in _versions(stage, group, since) if record.seen_at < until)
    found = (condition(record.obj, kind) for record in versions)
    return list(dict.fromkeys(each["reason"] for each in found if each.get("status") == status))


def most_down(stage: Stage, group: str, replicas: int, since: float, but: str = "") -> int:
    """How many pods were not Ready at the same time; `but` is one that was down by itself."""
    downs = down_over_time(stage.recorder.records("pods"), group, replicas)
    return max((len(names - {but}) for at, names in downs if at >= since), default=0)


def most_taken(stage: Stage, group: str, since: float) -> int:
    """How many pods were away at the same time because they were taken away: being deleted, or not Ready since made.

    A program that ends by itself is not taken away, as one that gives a commit up after a minute without an answer.
    """
    taken, uids, most = set[str](), dict[str, str](), 0
    for record in pods_of(stage.recorder.records("pods"), group):
        metadata = record.obj["metadata"]
        is_new = uids.get(record.name) != metadata["uid"]
        uids[record.name] = metadata["uid"]
        if not record.deleted and is_ready(record.obj):
            taken.discard(record.name)
        elif is_new or record.deleted or "deletionTimestamp" in metadata:
            taken.add(record.name)
        most = max(most, len(taken) if record.seen_at >= since else 0)
    return most


def made_since(stage: Stage, group: str, since: float) -> dict[str, int]:
    """How often each pod was made again since."""
    records = stage.recorder.records("pods")
    before = incarnations((record for record in records if record.seen_at < since), group)
    after = incarnations(records, group)
    return {pod: len(uids) - len(before.get(pod, ())) for pod, uids in after.items()}


def first_made(stage: Stage, group: str, since: float) -> Record:
    """The first sight of the first pod that was made since."""
    records = pods_of(stage.recorder.records("pods"), group)
    before = {record.obj["metadata"]["uid"] for record in records if record.seen_at < since}
    return next(record for record in records if record.obj["metadata"]["uid"] not in before)


def _versions(stage: Stage, group: str, since: float) -> list[Record]:
    return [r for r in stage.recorder.records("consumergroups", since) if r.name == group and not r.deleted]
