"""Pods as they were read from the store last: an object that has not changed since is not read again."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from slackwater.adapters.cluster.runs import told_about
from slackwater.adapters.cluster.translation import to_pod
from slackwater.core.world.pods import Pod

Json = Mapping[str, Any]


class KnownPods:
    """Of one group, by their uids."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[Json, object, Pod]] = {}

    def read(self, obj: Json, container: str, workload: str, ordinal: int, told_running: Mapping[str, float]) -> Pod:
        """As `to_pod` reads it."""
        known = self._known.get(obj["metadata"]["uid"])
        told = told_about(obj, told_running)
        read_by = (container, workload, ordinal, told)
        if known is not None and known[0] is obj and known[1] == read_by:
            return known[2]
        pod = to_pod(obj, container, workload, ordinal, told_running)
        self._known[pod.uid] = (obj, read_by, pod)
        return pod

    def keep(self, pods: Collection[Json]) -> None:
        """Forget all others."""
        if len(self._known) > len(pods):
            uids = {obj["metadata"]["uid"] for obj in pods}
            self._known = {uid: known for uid, known in self._known.items() if uid in uids}
