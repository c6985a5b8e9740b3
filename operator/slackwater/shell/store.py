"""The newest version of every object that the operator watches. Filled by lists, watches and our own writes."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping
from typing import Any, Final, NamedTuple, Protocol, TypeVar

from slackwater.adapters.cluster.paths import (
    CLUSTER_KAFKA_CONNECTION,
    CONSUMER_FLEET,
    CONSUMER_GROUP,
    FLEET_CAMPAIGN,
    KAFKA_CONNECTION,
    POD,
    POD_DISRUPTION_BUDGET,
    SERVICE,
    STATEFUL_SET,
    connection_place,
    place_of_connection,
)
from slackwater.adapters.cluster.runs import told_of
from slackwater.adapters.cluster.translation import group_of
from slackwater.api.resources import ConsumerGroup
from slackwater.core.world.claimed import Claimed
from slackwater.ports import Kind
from slackwater.shell.gone_claims import GoneClaims, claimed_id, claimed_in
from slackwater.shell.room import NoRoom, Room

Json = Mapping[str, Any]

LABELLED: Final = (STATEFUL_SET, POD, SERVICE, POD_DISRUPTION_BUDGET)
"""Kinds of which only objects with our label are looked at."""
CONNECTIONS: Final = (KAFKA_CONNECTION, CLUSTER_KAFKA_CONNECTION)
RIVALS: Final = 20
"""So many ConsumerGroups of one groupId in one namespace learn of each other at once, and not in their next pass."""
WATCHED: Final = (CONSUMER_GROUP, *CONNECTIONS, CONSUMER_FLEET, FLEET_CAMPAIGN, *LABELLED)
LATER_KINDS: Final = (CLUSTER_KAFKA_CONNECTION, CONSUMER_FLEET, FLEET_CAMPAIGN)
"""Their CRDs are newer than the others: without one, all else goes on."""
TELLS_OF: Final = (CONSUMER_GROUP, CONSUMER_FLEET, FLEET_CAMPAIGN)


class Listener(Protocol):
    """Is told of each new version of a group, a fleet or a campaign; None: it is gone. It does not wait."""

    def __call__(self, kind: Kind, key: Key, obj: Json | None) -> None: ...


_Place = TypeVar("_Place", bound=Hashable)
_Index = dict[_Place, set["Key"]]


class Key(NamedTuple):
    """A name, and its namespace; that of an object which no namespace holds is empty."""

    namespace: str
    name: str

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name}" if self.namespace else self.name


class Claimant(NamedTuple):
    """What others with its groupId ask of a ConsumerGroup: of many that a tenant makes, each asks it of all of them."""

    connection: tuple[Kind, Key]
    claimed: Claimed | None
    made_at: str
    """As the API server writes it; empty for one that is not there."""


class Store:
    """Objects by kind and key. An older version never replaces a newer one."""

    def __init__(self, now: Callable[[], float] = time.time, room: Room | None = None) -> None:
        self._now, self._room = now, room or Room()
        self.listener: Listener | None = None
        self._objects: dict[Kind, dict[Key, Json]] = defaultdict(dict)
        self._pods_of: _Index[Key] = {}
        self._claimants: _Index[str] = {}
        self._claimants_in: _Index[tuple[str, str]] = {}
        """Kafka group id, and with a namespace → the ConsumerGroups that claim it."""
        self._asked: dict[Key, Claimant] = {}
        """Found out once for each version of a ConsumerGroup, where somebody asks."""
        self._users: _Index[Key] = {}
        """KafkaConnection, or ClusterKafkaConnection → the ConsumerGroups that refer to it."""
        self._newest: dict[Kind, int] = defaultdict(int)
        self._gone_claims: GoneClaims[Key] = GoneClaims(now)
        self._told_running: dict[Key, dict[str, float]] = {}
        """By pod: since when its containers that run are known to run."""

    def get(self, kind: Kind, key: Key) -> Json | None:
        return self._objects[kind].get(key)

    def newest(self, kind: Kind) -> int:
        """The highest version that any object of the kind ever had here."""
        return self._newest[kind]

    def keys(self, kind: Kind) -> list[Key]:
        return list(self._objects[kind])

    def count(self, kind: Kind) -> int:
        return len(self._objects[kind])

    def pods_of(self, group: Key) -> list[Json]:
        pods = self._objects[POD]
        return [pods[key] for key in self._pods_of.get(group, ())]

    def claimants(self, group_id: str) -> Collection[Key]:
        """ConsumerGroups of this Kafka group id that do not want it deleted, in whatever Kafka cluster."""
        return self._claimants.get(group_id, frozenset())

    def claimant(self, group: Key) -> Claimant:
        if (known := self._asked.get(group)) is not None:
            return known
        there = self.get(CONSUMER_GROUP, group)
        if there is None:
            return Claimant(connection_of({"metadata": {"namespace": group.namespace}}), None, "")
        self._asked[group] = found = Claimant(connection_of(there), claimed_in(there), made_at(there))
        return found

    def claimed_before(self, key: Key, group_id: str) -> Claimed | None:
        """What a ConsumerGroup had in Kafka that was deleted a moment ago: one that is made again under its name has it
        still."""
        return self._gone_claims.of(key, group_id)

    def told_running(self, group: Key) -> dict[str, float]:
        """When this store was first told that a container of the group's pods runs, by the container's id."""
        return {
            container: at
            for pod in self._pods_of.get(group, ())
            for container, at in self._told_running.get(pod, {}).items()
        }

    def put(self, kind: Kind, obj: Json) -> tuple[Key, ...]:
        """Take in an object; returns the ConsumerGroups to which that makes a difference."""
        self._room.settle()
        return (*self._taken_in(kind, obj), *self._cut())

    def put_all(self, kind: Kind, objects: Iterable[Json]) -> set[Key]:
        """Some of a list."""
        self._room.settle()
        changed = {group for obj in objects for group in self._taken_in(kind, obj, is_one_of_many=True)}
        return changed.union(self._cut())

    def _taken_in(self, kind: Kind, obj: Json, *, is_one_of_many: bool = False) -> tuple[Key, ...]:
        key = key_of(obj)
        known = self._objects[kind].get(key)
        if known is not None and _version(known) >= _version(obj) and not self._room.has_come(kind, known, obj):
            return ()
        return self._put(kind, key, self._room.kept(kind, obj, is_one_of_many=is_one_of_many))

    def _cut(self) -> tuple[Key, ...]:
        """Those that have lost their room."""
        lost = self._room.taken_lost(lambda place: self.get(place.kind, Key(place.namespace, place.name)))
        return tuple(group for place, obj in lost for group in self._put(place.kind, key_of(obj), obj))

    def _put(self, kind: Kind, key: Key, obj: Json) -> tuple[Key, ...]:
        known = self._objects[kind].get(key)
        self._objects[kind][key] = obj
        self._newest[kind] = max(self._newest[kind], _version(obj))
        self._tell(kind, key, obj)
        before = None if known is None else owner(kind, known)
        group = owner(kind, obj)
        if kind is CONSUMER_GROUP:
            self._asked.pop(key, None)
            if known is not None and known["metadata"]["uid"] != obj["metadata"]["uid"]:
                self._gone_claims.remember(key, claimed_id(known), claimed_in(known))
            self._use(key, known, obj)
            return (key, *self._claim(key, known, obj))
        if kind is POD:
            _move(self._pods_of, key, before, group)
            self._told_running[key] = told_of(obj, self._told_running.get(key, {}), self._now())
        if kind in CONNECTIONS:  # its status is ours: were that a reason to look, looking would give another
            return () if known is not None and _spec_of(known) == _spec_of(obj) else self.groups_using(key)
        return tuple(each for each in dict.fromkeys((before, group)) if each is not None)

    def drop(self, kind: Kind, obj: Json) -> tuple[Key, ...]:
        """Forget an object that was deleted, unless another one of its name has come since; returns as `put` does."""
        key = key_of(obj)
        known = self._objects[kind].get(key)
        if known is None or known["metadata"]["uid"] != obj["metadata"]["uid"]:
            return ()
        del self._objects[kind][key]
        self._room.release(kind, *key)
        self._tell(kind, key, None)
        if kind is POD:
            self._told_running.pop(key, None)
        if kind in CONNECTIONS:
            return self.groups_using(key)
        if kind is CONSUMER_GROUP:
            self._asked.pop(key, None)
            self._gone_claims.remember(key, claimed_id(known), claimed_in(known))
            self._use(key, known, None)
            return (key, *self._claim(key, known, None))
        group = owner(kind, known)
        if kind is POD:
            _move(self._pods_of, key, group, None)
        return () if group is None else (group,)

    def replace(
        self, kind: Kind, objects: Iterable[Json], listed_version: int, unlisted: Collection[str] = ()
    ) -> set[Key]:
        """Take in a whole list, forgetting what it lacks; returns the groups concerned. A watch may have been quicker:
        what is newer than the list stays; who is older has room first. `unlisted`: namespaces that could not be listed;
        what is there stays, too."""
        listed = {key_of(obj): obj for obj in sorted(objects, key=by_age)}
        changed = self.put_all(kind, listed.values())
        known = list(self._objects[kind].items())
        for obj in (obj for key, obj in known if key not in listed and key.namespace not in unlisted):
            if _version(obj) <= listed_version:
                changed.update(self.drop(kind, obj))
        return changed

    def _tell(self, kind: Kind, key: Key, obj: Json | None) -> None:
        if self.listener is not None and kind in TELLS_OF:
            self.listener(kind, key, obj)

    def _claim(self, key: Key, before: Json | None, now: Json | None) -> tuple[Key, ...]:
        """Keep who claims which Kafka group; returns the others in its namespace, for which that changes something.

        There may be one of each tenant, all in clusters of their own: those elsewhere learn of it in their next pass.
        So do those of one namespace where they are so many that nobody has made them for use.
        """
        had, has = claimed_id(before), claimed_id(now)
        if had == has:
            return ()
        _move(self._claimants, key, had, has)
        places = [None if each is None else (each, key.namespace) for each in (had, has)]
        _move(self._claimants_in, key, *places)
        concerned = [self._claimants_in.get(place, ()) for place in places if place is not None]
        return tuple(sorted({other for those in concerned if len(those) <= RIVALS for other in those} - {key}))

    def _use(self, key: Key, before: Json | None, now: Json | None) -> None:
        """Keep which ConsumerGroups a connection is for."""
        _move(self._users, key, *(None if obj is None else connection_of(obj)[1] for obj in (before, now)))

    def groups_using(self, connection: Key) -> tuple[Key, ...]:
        """ConsumerGroups that refer to a connection."""
        return tuple(sorted(self._users.get(connection, ())))


def _move(index: _Index[_Place], key: Key, before: _Place | None, now: _Place | None) -> None:
    """Keep a key under another place, None being nowhere; nothing stays of a place where nobody is."""
    if before is not None and before in index:
        index[before].discard(key)
        if not index[before]:
            del index[before]
    if now is not None:
        index.setdefault(now, set()).add(key)


def key_of(obj: Json) -> Key:
    return Key(obj["metadata"].get("namespace", ""), obj["metadata"]["name"])


def connection_of(group: Json) -> tuple[Kind, Key]:
    """What a ConsumerGroup refers to, whether it can be parsed or not."""
    reference = (group.get("spec") or {}).get("connectionRef") or {}
    kind, namespace, name = connection_place(group["metadata"]["namespace"], reference)
    return kind, Key(namespace, name)


def connection_key(group: ConsumerGroup) -> tuple[Kind, Key]:
    """What it refers to."""
    kind, namespace, name = place_of_connection(group)
    return kind, Key(namespace, name)


def owner(kind: Kind, obj: Json) -> Key | None:
    """The ConsumerGroup that an object belongs to; of KafkaConnections there may be many, see `groups_using`."""
    if kind is CONSUMER_GROUP:
        return key_of(obj)
    if kind in LABELLED:
        name = group_of(obj)
        return None if name is None else Key(obj["metadata"]["namespace"], name)
    return None


def by_age(obj: Json) -> tuple[str, str]:
    """To sort those of one kind: the oldest first."""
    return made_at(obj), obj["metadata"]["name"]


def made_at(obj: Json) -> str:
    """As the API server writes it; empty where it does not say. What sorts first is older."""
    return str(obj["metadata"].get("creationTimestamp") or "")


def _spec_of(obj: Json) -> tuple[str, int, bool]:
    """Which spec it is: only a change of the spec makes a new generation, and one may have no room."""
    return obj["metadata"]["uid"], obj["metadata"].get("generation", 0), isinstance(obj.get("spec"), NoRoom)


def _version(obj: Json) -> int:
    """Resource versions of one kind may be compared as numbers (Kubernetes 1.35 and later say so; all do it)."""
    return int(obj["metadata"].get("resourceVersion") or 0)
