"""The API server's side of the comparison: objects in memory, written as the real one has it, and what others would do
about them, the StatefulSet controller and the kubelets. No sockets are in it: `served` has these.

It knows one writer of each field, replaces lists as a whole, and moves no pod to another template: no benchmark changes
one.
"""

from __future__ import annotations

import json
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from benchmarks.scale.recorded import (
    KINDS,
    Recorded,
    connection_object,
    controlled,
    fields_of,
    group_object,
    name_of,
    pod_object,
)
from slackwater.adapters.cluster import paths
from slackwater.adapters.cluster.paths import CONSUMER_GROUP, KAFKA_CONNECTION, POD, STATEFUL_SET
from slackwater.api.timestamps import timestamp
from slackwater.ports import Kind

Json = dict[str, Any]
Place = tuple[str, str]
"""Namespace and name."""

SERVERS: Final = "127.0.0.1:9092"
SERVED: Final = (
    paths.CONSUMER_GROUP, paths.KAFKA_CONNECTION, paths.CONSUMER_FLEET, paths.FLEET_CAMPAIGN, paths.STATEFUL_SET,
    paths.CONTROLLER_REVISION, paths.POD, paths.SERVICE, paths.SECRET, paths.NAMESPACE, paths.EVENT,
    paths.POD_DISRUPTION_BUDGET, paths.LEASE,
)  # fmt: skip
_MOST_REMEMBERED: Final = 50_000
_APPLIED, _UPDATED = "Apply", "Update"


class Refused(Exception):
    """With the API server's code and reason."""

    def __init__(self, code: int, reason: str, message: str) -> None:
        super().__init__(message)
        self.code, self.reason = code, reason


@dataclass(frozen=True, slots=True)
class Change:
    kind: Kind
    version: int
    type: str
    obj: Json

    def line(self) -> bytes:
        """As a watch brings it."""
        return json.dumps({"type": self.type, "object": self.obj}).encode() + b"\n"


@dataclass
class Group:
    """When what was seen of one that was made or changed, by the clock of `Cluster`."""

    asked_at: float
    made_at: float | None = None
    """Its StatefulSet."""
    observed_at: float | None = None


@dataclass
class Cluster:
    now: Callable[[], float] = time.monotonic
    version: int = 1
    requests: Counter[tuple[str, str]] = field(default_factory=Counter)
    """By verb and kind."""
    last_write_at: float = 0.0
    groups: dict[str, Group] = field(default_factory=dict)
    changes: deque[Change] = field(default_factory=lambda: deque(maxlen=_MOST_REMEMBERED))
    listener: Callable[[Change], None] = lambda _: None
    _objects: dict[Kind, dict[Place, Json]] = field(default_factory=lambda: {kind: {} for kind in SERVED})
    _applied: dict[tuple[Kind, Place, str, str], Mapping[str, Any]] = field(default_factory=dict)
    """What a manager has applied last, by subresource."""

    def get(self, kind: Kind, place: Place) -> Json | None:
        return self._objects[kind].get(place)

    def select(self, kind: Kind, namespace: str = "", selector: str = "") -> list[Json]:
        """`selector`: a label, or one and its value."""
        return [
            obj
            for (where, _), obj in self._objects[kind].items()
            if namespace in ("", where) and is_selected(obj, selector)
        ]

    def counts(self) -> dict[str, int]:
        return {kind.name: len(objects) for kind, objects in self._objects.items() if objects}

    def make_groups(self, number: int, pods: int) -> None:
        """All at once, with the connection that they share."""
        if not self._objects[KAFKA_CONNECTION]:
            self._put(KAFKA_CONNECTION, connection_object(SERVERS))
        text = json.dumps(group_object(pods))
        for each in range(number):
            name = name_of(each)
            self.groups[name] = Group(self.now())
            self._put(CONSUMER_GROUP, json.loads(text.replace(name_of(0), name)))

    def fill(self, recorded: Recorded, number: int) -> None:
        """Copies of a group that is at rest, with all that belongs to it."""
        self._put(KAFKA_CONNECTION, recorded.connection)
        for each in range(number):
            for kind in KINDS:
                for obj in recorded.objects(kind, each):
                    self._put(kind, obj)

    def change_groups(self, stable_for_s: int) -> None:
        """The spec of each, all at once: nothing that pods are made of."""
        for (namespace, name), obj in list(self._objects[CONSUMER_GROUP].items()):
            metadata = {**obj["metadata"], "generation": obj["metadata"]["generation"] + 1}
            rollout = {**obj["spec"]["rollout"], "stableFor": f"{stable_for_s}s"}
            self.groups[name] = Group(self.now(), self.now() if self.get(STATEFUL_SET, (namespace, name)) else None)
            self._put(CONSUMER_GROUP, {**obj, "metadata": metadata, "spec": {**obj["spec"], "rollout": rollout}})

    def create(self, kind: Kind, namespace: str, body: Json) -> Json:
        metadata = {"namespace": namespace, **body["metadata"]}
        metadata.setdefault("name", f"{metadata.get('generateName', 'made-')}{self.version}")
        if self.get(kind, (namespace, metadata["name"])) is not None:
            raise Refused(409, "AlreadyExists", f"{kind.name} {metadata['name']} is there")
        self.last_write_at = self.now()
        return self._put(kind, self._new(kind, {**body, "metadata": metadata}))

    def apply(self, kind: Kind, place: Place, body: Json, manager: str, subresource: str = "") -> Json:
        """Server-side apply. Raises Refused."""
        there, metadata = self.get(kind, place), body["metadata"]
        self._judge(kind, there, metadata)
        if there is None and subresource:
            raise Refused(404, "NotFound", f"there is no {kind.name} {place[1]}")
        wanted = {subresource: body[subresource]} if subresource else _without_status(body)
        before = self._applied.get((kind, place, manager, subresource), {})
        self._applied[kind, place, manager, subresource] = wanted
        base = there or self._new(kind, {"metadata": {"namespace": place[0], "name": place[1]}})
        found = merged(without(base, before, wanted), wanted)
        return self._changed(kind, place, base if there else None, _managed(found, manager, _APPLIED, wanted))

    def merge(self, kind: Kind, place: Place, body: Json, manager: str) -> Json:
        """JSON merge patch (RFC 7386). Raises Refused."""
        there = self.get(kind, place)
        if there is None:
            raise Refused(404, "NotFound", f"there is no {kind.name} {place[1]}")
        self._judge(kind, there, body.get("metadata") or {})
        return self._changed(kind, place, there, _managed(patched(there, body), manager, _UPDATED, body))

    def delete(self, kind: Kind, place: Place) -> Json:
        """What belongs to it stays: nothing of the benchmark waits for its end."""
        there = self.get(kind, place)
        if there is None:
            raise Refused(404, "NotFound", f"there is no {kind.name} {place[1]}")
        self.last_write_at = self.now()
        if there["metadata"].get("finalizers"):
            return self._put(
                kind, {**there, "metadata": {**there["metadata"], "deletionTimestamp": timestamp(time.time())}}
            )
        return self._drop(kind, place)

    def since(self, kind: Kind, version: int) -> Iterator[Change]:
        """Raises Refused where what came after that version is not known any more."""
        if self.changes and len(self.changes) == self.changes.maxlen and version < self.changes[0].version - 1:
            raise Refused(410, "Expired", f"version {version} is too old")
        return (each for each in self.changes if each.kind is kind and each.version > version)

    def _judge(self, kind: Kind, there: Json | None, metadata: Mapping[str, Any]) -> None:
        for part in ("uid", "resourceVersion"):
            given = metadata.get(part)
            if given and (there is None or there["metadata"][part] != given):
                raise Refused(409, "Conflict", f"{kind.name}: {part} is not {given}")

    def _new(self, kind: Kind, obj: Json) -> Json:
        made = {"uid": f"{kind.plural}-{self.version}", "generation": 1, "creationTimestamp": timestamp(time.time())}
        return {"apiVersion": kind.api_version, "kind": kind.name, **obj, "metadata": {**obj["metadata"], **made}}

    def _changed(self, kind: Kind, place: Place, there: Json | None, found: Json) -> Json:
        self.last_write_at = self.now()
        if found == there:
            return there
        if there is not None and found.get("spec") != there.get("spec"):
            found["metadata"] = {**found["metadata"], "generation": there["metadata"]["generation"] + 1}
        if found["metadata"].get("deletionTimestamp") and not found["metadata"].get("finalizers"):
            return self._drop(kind, place)
        written = self._put(kind, found)
        self._play(kind, place, written)
        return written

    def _put(self, kind: Kind, obj: Json) -> Json:
        place = (obj["metadata"].get("namespace", ""), obj["metadata"]["name"])
        there = self._objects[kind].get(place)
        self.version += 1
        written = {**obj, "metadata": {**obj["metadata"], "resourceVersion": str(self.version)}}
        self._objects[kind][place] = written
        self._say(Change(kind, self.version, "ADDED" if there is None else "MODIFIED", written))
        return written

    def _drop(self, kind: Kind, place: Place) -> Json:
        obj = self._objects[kind].pop(place)
        self.version += 1
        gone = {**obj, "metadata": {**obj["metadata"], "resourceVersion": str(self.version)}}
        self._say(Change(kind, self.version, "DELETED", gone))
        return gone

    def _say(self, change: Change) -> None:
        self.changes.append(change)
        self.listener(change)

    def _play(self, kind: Kind, place: Place, written: Json) -> None:
        """What others do about what was written, and what is noted of it."""
        group = self.groups.get(place[1])
        if kind is CONSUMER_GROUP and group is not None and group.observed_at is None:
            observed = (written.get("status") or {}).get("observedGeneration")
            group.observed_at = self.now() if observed == written["metadata"]["generation"] else None
        if kind is STATEFUL_SET:
            if group is not None and group.made_at is None:
                group.made_at = self.now()
            self._control(place, written)

    def _control(self, place: Place, workload: Json) -> None:
        """As many pods as asked for, up and ready at once."""
        wanted = workload["spec"]["replicas"]
        if (workload.get("status") or {}).get("observedGeneration") != workload["metadata"]["generation"]:
            workload = self._put(STATEFUL_SET, controlled(workload, wanted))
        there = {name for _, name in self._objects[POD] if name.rpartition("-")[0] == place[1]} if wanted else set()
        for ordinal in range(wanted):
            if f"{place[1]}-{ordinal}" not in there:
                self._put(POD, pod_object(workload, ordinal, time.time()))


def is_selected(obj: Json, selector: str) -> bool:
    name, has_value, value = selector.partition("=")
    found = (obj["metadata"].get("labels") or {}).get(name)
    return not selector or (found == value if has_value else found is not None)


def merged(there: Any, wanted: Mapping[str, Any]) -> Json:
    """Mappings into each other; whatever else is wanted takes the place of what is there."""
    found = dict(there) if isinstance(there, Mapping) else {}
    for key, value in wanted.items():
        found[key] = merged(found.get(key), value) if isinstance(value, Mapping) else value
    return found


def without(there: Json, before: Mapping[str, Any], wanted: Mapping[str, Any]) -> Json:
    """Without what was applied before and is no more."""
    found = {}
    for key, value in there.items():
        if key not in before or key in wanted:
            deeper = isinstance(value, Mapping) and isinstance(before.get(key), Mapping)
            after = wanted.get(key)
            found[key] = without(dict(value), before[key], after) if deeper and isinstance(after, Mapping) else value
    return found


def patched(there: Any, patch: Any) -> Any:
    if not isinstance(patch, Mapping):
        return patch
    found = dict(there) if isinstance(there, Mapping) else {}
    for key, value in patch.items():
        if value is None:
            found.pop(key, None)
        else:
            found[key] = patched(found.get(key), value)
    return found


def _without_status(body: Json) -> Json:
    """What of a manifest is applied: who it is, and on which version, is no field."""
    metadata = {key: value for key, value in body["metadata"].items() if key not in ("uid", "resourceVersion")}
    return {**{key: value for key, value in body.items() if key != "status"}, "metadata": metadata}


def _managed(obj: Json, manager: str, operation: str, wanted: Mapping[str, Any]) -> Json:
    """With who has written which fields; an entry for each manager, operation and part."""
    parts = {part: wanted[part] for part in ("metadata", "spec", "status") if part in wanted}
    subresource = "status" if set(parts) == {"status"} else ""
    entry = {
        "manager": manager,
        "operation": operation,
        "apiVersion": obj["apiVersion"],
        "fieldsType": "FieldsV1",
        "fieldsV1": fields_of(parts),
        **({"subresource": subresource} if subresource else {}),
    }
    others = [
        each
        for each in obj["metadata"].get("managedFields", ())
        if (each["manager"], each["operation"], each.get("subresource", "")) != (manager, operation, subresource)
    ]
    return {**obj, "metadata": {**obj["metadata"], "managedFields": [*others, entry]}}
