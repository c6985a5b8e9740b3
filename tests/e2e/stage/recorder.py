"""Records what the API server says about a namespace, every version with the moment at which it came.

Tests let a rollout run and then judge the whole record: a look now and then would miss what happened in between.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Final, Self

import urllib3

from tests.e2e.stage.api import Api
from tests.e2e.stage.waiting import wait_for

Json = dict[str, Any]

_WATCH_S: Final = 5
_KINDS: Final = ("consumergroups", "statefulsets", "pods", "events")
_NEVER_LOST: Final = "events"
"""No cache of the API server's serves their watches: where a namespace has none for minutes, the version to go on from
is compacted away. All of them are still there for an hour, so a list has what a watch has missed."""


class _Expired(AssertionError):
    """The version to go on from is forgotten."""


@dataclass(frozen=True, slots=True)
class Record:
    """One version of one object. `seen_at`: seconds since the epoch."""

    seen_at: float
    kind: str
    deleted: bool
    obj: Json

    @property
    def name(self) -> str:
        return str(self.obj["metadata"]["name"])


class Recorder:
    """Records a namespace's ConsumerGroups, StatefulSets, pods and Events, or some of them, while its block runs."""

    def __init__(self, api: Api, namespace: str, kinds: Iterable[str] = _KINDS) -> None:
        self._api = api
        self._namespace = namespace
        self._records: list[Record] = []
        self._stop = threading.Event()
        self._broken: list[BaseException] = []
        self._threads = [threading.Thread(target=self._record, args=(kind,), daemon=True) for kind in kinds]

    def __enter__(self) -> Self:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join()
        self._assert_whole()

    def records(self, kind: str, since: float = 0.0) -> list[Record]:
        """In the order in which they came."""
        self._assert_whole()
        return [record for record in list(self._records) if record.kind == kind and record.seen_at >= since]

    def first(
        self, what: str, kind: str, wanted: Callable[[Json], bool], since: float, deadline_s: float = 60.0
    ) -> Record:
        """Wait for the first version since then of which `wanted` is true."""

        def look() -> Record | None:
            return next((r for r in self.records(kind, since) if not r.deleted and wanted(r.obj)), None)

        return wait_for(what, look, deadline_s)

    def _assert_whole(self) -> None:
        assert not self._broken, f"the record has holes: {self._broken}"

    def _record(self, kind: str) -> None:
        try:
            version = self._list(kind)
            while not self._stop.is_set():
                version = self._watched(kind, version)
        except (AssertionError, OSError, urllib3.exceptions.HTTPError) as error:
            self._broken.append(error)

    def _list(self, kind: str) -> str:
        """Take what is there and was not seen; returns the version of the list."""
        objects, version = self._api.list_all(kind, self._namespace)
        seen = {_identity(record.obj) for record in self._records if record.kind == kind}
        self._take(kind, ({"type": "ADDED", "object": obj} for obj in objects if _identity(obj) not in seen))
        return version

    def _watched(self, kind: str, version: str) -> str:
        """Watch for a while from that version on; returns the one to go on from."""
        try:
            return self._take(kind, self._api.watch(kind, self._namespace, version, _WATCH_S)) or version
        except _Expired:
            if kind == _NEVER_LOST:
                return self._list(kind)
            objects, newest = self._api.list_all(kind, self._namespace)
            if {_identity(obj) for obj in objects} != self._as_recorded(kind):
                raise
            return newest  # the API server began its cache anew, and nothing has happened since

    def _as_recorded(self, kind: str) -> set[tuple[str, str]]:
        """What is there by the record."""
        newest = {record.obj["metadata"]["uid"]: record for record in self._records if record.kind == kind}
        return {_identity(record.obj) for record in newest.values() if not record.deleted}

    def _take(self, kind: str, events: Iterable[Json]) -> str:
        version = ""
        for event in events:
            now, obj = time.time(), event["object"]
            if event["type"] == "ERROR":
                broken = f"the watch of {kind} broke: {obj}"
                raise _Expired(broken) if obj.get("code") == HTTPStatus.GONE else AssertionError(broken)
            version = obj["metadata"]["resourceVersion"]
            if event["type"] != "BOOKMARK":
                self._records.append(Record(now, kind, event["type"] == "DELETED", obj))
        return version


def _identity(obj: Json) -> tuple[str, str]:
    return obj["metadata"]["uid"], obj["metadata"]["resourceVersion"]
