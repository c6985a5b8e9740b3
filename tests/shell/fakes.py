"""A cluster and Kafka in memory, which write down what was asked of them, in order."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

from slackwater.adapters.cluster.errors import ClusterRefused, ClusterUnreachable, Conflict, Forbidden
from slackwater.adapters.cluster.paths import (
    CONSUMER_FLEET,
    CONSUMER_GROUP,
    CONTROLLER_REVISION,
    EVENT,
    KAFKA_CONNECTION,
    STATEFUL_SET,
)
from slackwater.api.annotations import FINALIZER
from slackwater.core.status.certificates import Validity
from slackwater.core.world.broker import BrokerFacts
from slackwater.core.world.history import GroupHistory
from slackwater.core.world.memory import RolloutMemory
from slackwater.core.world.observation import GroupObservation, GroupState, GroupType, KafkaView, MemberRef
from slackwater.ports import Kind
from slackwater.shell.store import Key
from tests.api.manifests import consumer_fleet, consumer_group, kafka_connection
from tests.core.factories import BROKER

Json = dict[str, Any]
KEY = Key("default", "payments")
CONNECTION = Key("default", "main")


def group_object(
    version: int = 1, *, name: str = KEY.name, finalizers: Iterable[str] = (FINALIZER,), **spec: Any
) -> Json:
    """A ConsumerGroup as the API server gives it."""
    obj = consumer_group(name, **({"replicas": 3, "connectionRef": {"name": CONNECTION.name}} | spec))
    obj["metadata"] |= {
        "namespace": KEY.namespace,
        "uid": f"uid-of-{name}",
        "generation": 1,
        "resourceVersion": str(version),
        "finalizers": list(finalizers),
    }
    return obj


def fleet_object(version: int = 1, *, name: str = "fleet", namespace: str = KEY.namespace, **spec: Any) -> Json:
    obj = consumer_fleet(name, **spec)
    obj["metadata"] |= {
        "namespace": namespace,
        "uid": f"uid-of-{name}",
        "generation": version,
        "resourceVersion": str(version),
    }
    return obj


def connection_object(version: int = 1, generation: int = 1) -> Json:
    obj = kafka_connection(CONNECTION.name)
    obj["metadata"] |= {
        "namespace": CONNECTION.namespace,
        "uid": "uid-of-connection",
        "generation": generation,
        "resourceVersion": str(version),
    }
    return obj


@dataclass
class FakeApi:
    """The API server: optimistic locks, uids and resource versions work as the real one's."""

    objects: dict[tuple[str, str, str], Json] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    """`<verb> <kind>`, for each request that changes something."""
    failures: dict[str, Exception] = field(default_factory=dict)
    """`<verb> <kind>` → what the next such request fails with."""
    requests: Counter[tuple[str, str]] = field(default_factory=Counter)
    events: list[Json] = field(default_factory=list)
    told: list[Json] = field(default_factory=list)
    """Events of Kubernetes' own controllers."""
    lost: set[str] = field(default_factory=set)
    """`<verb> <kind>`, for each of which the next answer gets lost: what was asked for is done."""
    before_write: Callable[[], float] = lambda: 15.0
    unanswered_writes: int = 0
    version: int = 100
    forbidden: set[str] = field(default_factory=set)
    """Kinds that may not be read."""

    def add(self, kind: Kind, obj: Json) -> Json:
        metadata = obj["metadata"]
        self.objects[kind.name, metadata["namespace"], metadata["name"]] = obj
        return obj

    def changed_by_somebody(self, kind: Kind, key: Key, **metadata: Any) -> Json:
        obj = self.objects[kind.name, key.namespace, key.name]
        return self._store(kind, {**obj, "metadata": {**obj["metadata"], **metadata}})

    def writes(self) -> list[str]:
        return [asked for asked in self.asked if not asked.endswith("Event")]

    def _may_read(self, kind: Kind) -> None:
        self.requests["GET", kind.plural] += 1
        if kind.name in self.forbidden:
            raise Forbidden(f"cannot read {kind.plural} (403)")

    async def read(self, kind: Kind, namespace: str, name: str) -> Json | None:
        self._may_read(kind)
        return deepcopy(self.objects.get((kind.name, namespace, name)))

    async def list_all(
        self, kind: Kind, namespace: str | None, label_selector: str = ""
    ) -> tuple[tuple[Json, ...], int]:
        self._may_read(kind)
        wanted = [name for name in self.objects if name[0] == kind.name and namespace in (None, name[1])]
        found = [self.objects[name] for name in wanted]
        return tuple(deepcopy(found)), self.version

    async def events_of(self, namespace: str, uid: str, reason: str) -> tuple[Json, ...]:
        self._may_read(EVENT)
        told = (event for event in self.told if event["involvedObject"]["uid"] == uid)
        return tuple(event for event in told if event["reason"] == reason)

    async def apply(self, manifest: Mapping[str, Any], resource_version: str = "", *, force: bool = True) -> Json:
        kind = next(k for k in _KINDS if k.name == manifest["kind"])
        self._ask("apply", kind)
        metadata = manifest["metadata"]
        there = self.objects.get((kind.name, metadata["namespace"], metadata["name"]))
        if there is not None and not force and there["metadata"].get("managedBy") == "somebody":
            raise Conflict("somebody else holds fields of it")
        if there is not None and resource_version and there["metadata"]["resourceVersion"] != resource_version:
            raise Conflict("it has changed")
        known: Json = there["metadata"] if there is not None else {"uid": f"uid-of-{kind.name}", "generation": 0}
        generation = known["generation"] + (there is None or there["spec"] != manifest["spec"])
        written = {**(there or {}), **deepcopy(dict(manifest))}
        stored = self._store(kind, {**written, "metadata": {**known, **metadata, "generation": generation}})
        self._answer("apply", kind)
        return stored

    async def apply_status(
        self, kind: Kind, namespace: str, name: str, uid: str, status: Mapping[str, Any], resource_version: str = ""
    ) -> Json:
        self._ask("status", kind)
        there = self.objects.get((kind.name, namespace, name))
        if there is None or there["metadata"]["uid"] != uid:
            raise Conflict("there is no such object")
        if resource_version and there["metadata"]["resourceVersion"] != resource_version:
            raise Conflict("it has changed")
        for part, value in status.items():
            if value == {} and there.get("status", {}).get(part):
                raise ClusterRefused(f"status.{part} must be of type object: null")
        stored = self._store(kind, {**there, "status": deepcopy(dict(status))})
        self._answer("status", kind)
        return stored

    async def set_finalizers(self, kind: Kind, obj: Mapping[str, Any], finalizers: list[str]) -> Json | None:
        self._ask("finalizers", kind)
        metadata = obj["metadata"]
        place = (kind.name, metadata["namespace"], metadata["name"])
        there = self.objects.get(place)
        if there is None:
            return None
        if there["metadata"]["resourceVersion"] != metadata["resourceVersion"]:
            raise Conflict("it has changed")
        written = self._store(kind, {**there, "metadata": {**there["metadata"], "finalizers": finalizers}})
        if there["metadata"].get("deletionTimestamp") and not finalizers:
            del self.objects[place]
        return written

    async def annotate(self, kind: Kind, obj: Mapping[str, Any], values: Mapping[str, str | None]) -> Json | None:
        self._ask("annotate", kind)
        metadata = obj["metadata"]
        there = self.objects.get((kind.name, metadata["namespace"], metadata["name"]))
        if there is None:
            return None
        if there["metadata"]["uid"] != metadata["uid"]:
            raise Conflict("another one has its name")
        changed = {**there["metadata"].get("annotations", {}), **values}
        kept = {key: value for key, value in changed.items() if value is not None}
        return self._store(kind, {**there, "metadata": {**there["metadata"], "annotations": kept}})

    async def delete(self, kind: Kind, namespace: str, name: str, uid: str, *, orphan: bool = False) -> None:
        """Its revisions go with it, or are left as orphans."""
        self._ask("delete", kind)
        self.objects.pop((kind.name, namespace, name), None)
        for place, obj in list(self.objects.items()):
            owners = obj["metadata"].get("ownerReferences", ())
            if place[0] == CONTROLLER_REVISION.name and any(owner["uid"] == uid for owner in owners):
                del self.objects[place]
                if orphan:
                    self.objects[place] = {**obj, "metadata": {**obj["metadata"], "ownerReferences": []}}

    async def create(self, kind: Kind, namespace: str, body: Mapping[str, Any]) -> Json:
        self._ask("create", kind)
        self.events.append(dict(body))
        return dict(body)

    def _ask(self, verb: str, kind: Kind) -> None:
        what = f"{verb} {kind.name}"
        self.asked.append(what)
        if failure := self.failures.pop(what, None):
            raise failure

    def _answer(self, verb: str, kind: Kind) -> None:
        if (what := f"{verb} {kind.name}") in self.lost:
            self.lost.remove(what)
            raise ClusterUnreachable("the answer got lost")

    def _store(self, kind: Kind, obj: Json) -> Json:
        self.version += 1
        stored = {**obj, "metadata": {**obj["metadata"], "resourceVersion": str(self.version)}}
        return deepcopy(self.add(kind, stored))


@dataclass
class FakeAdmin:
    removed: list[str] = field(default_factory=list)
    deleted: list[str] = field(default_factory=list)

    async def remove_members(self, group_id: str, members: Iterable[MemberRef]) -> list[str]:
        self.removed += [member.instance_id for member in members]
        return self.removed

    async def delete_group(self, group_id: str) -> None:
        self.deleted.append(group_id)


def nobody() -> KafkaView:
    """A group that is there, and that nobody is in."""
    return GroupObservation("payments", 0.0, GroupState.EMPTY, GroupType.CLASSIC)


@dataclass
class FakeConnections:
    """What `Connections` knows, as a test says."""

    seen: KafkaView = field(default_factory=nobody)
    history: GroupHistory = field(default_factory=GroupHistory)
    first_look_is_awaited: bool = False
    looks: int = 0
    again: float = math.inf
    own_namespace: str = ""
    motion: dict[Key, bool] = field(default_factory=dict)
    used: list[Key] = field(default_factory=list)
    forgotten: list[Key] = field(default_factory=list)
    kafka: FakeAdmin = field(default_factory=FakeAdmin)
    remembered: RolloutMemory = field(default_factory=RolloutMemory)
    """Of the group that was used last."""
    cluster_ids: dict[Key, str] = field(default_factory=dict)
    """By ConsumerGroup, what brokers told."""

    async def use(self, group_key: Key, group: Any, memory: RolloutMemory, connection: Any, now: float) -> None:
        self.remembered = memory
        self.used.append(group_key)

    def broker(self, group_key: Key) -> BrokerFacts | None:
        return BROKER

    def cluster_id(self, group_key: Key) -> str | None:
        return self.cluster_ids.get(group_key)

    def certificates(self, connection: Key, now: float) -> Sequence[Validity]:
        return ()

    def refresh_broker(self, group_key: Key) -> None: ...

    async def forget(self, group_key: Key) -> None:
        self.forgotten.append(group_key)

    def view(self, group_key: Key, now: float) -> tuple[KafkaView, GroupHistory]:
        return self.seen, self.history

    def worst_view(self, connection: Key) -> None: ...

    def awaits_first_look(self, group_key: Key) -> bool:
        return self.first_look_is_awaited

    def again_s(self, group_key: Key) -> float:
        return self.again

    async def look_now(self, group_key: Key) -> None:
        self.looks += 1

    def set_motion(self, group_key: Key, in_motion: bool) -> None:
        self.motion[group_key] = in_motion

    def admin(self, group_key: Key) -> FakeAdmin:
        return self.kafka


_KINDS = (
    CONSUMER_FLEET,
    CONSUMER_GROUP,
    KAFKA_CONNECTION,
    STATEFUL_SET,
    EVENT,
    Kind("v1", "Service", "services"),
    Kind("policy/v1", "PodDisruptionBudget", "poddisruptionbudgets"),
)
