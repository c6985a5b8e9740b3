"""Gathers the world that a pass decides about: from the store, which costs nothing, or again from where it is true."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Final

from slackwater.adapters.cluster.paths import CONSUMER_GROUP, POD, STATEFUL_SET
from slackwater.adapters.cluster.snapshot import (
    Snapshot,
    needs_last_good_template,
    read_connection,
    read_last_good_template,
    read_snapshot,
    to_world,
)
from slackwater.api.kept import CutSpec
from slackwater.api.parsing import parse_consumer_group
from slackwater.api.resources import ConsumerGroup
from slackwater.core.world.memory import RolloutMemory
from slackwater.core.world.two_sets import names_of
from slackwater.core.world.world import World
from slackwater.ports import Cluster, Kind
from slackwater.shell.advice import AdviceBook
from slackwater.shell.claims import Claims
from slackwater.shell.connections import Connections
from slackwater.shell.elapsed import elapsed_s
from slackwater.shell.fleets import Fleets
from slackwater.shell.known_pods import KnownPods
from slackwater.shell.memories import Memories
from slackwater.shell.pod_events import PodEvents
from slackwater.shell.store import Key, Store, connection_key
from slackwater.shell.turns import Turns

Json = Mapping[str, Any]

DOUBTED_AGAIN_S: Final = 10.0
"""Pods that are being made or ended look the same as those of which no watch told."""


class Gathering:
    """Worlds by group. What never changes, or was parsed before, is kept until the group is forgotten."""

    def __init__(
        self,
        api: Cluster,
        store: Store,
        connections: Connections,
        advice: AdviceBook,
        now: Callable[[], float],
        fleets: Fleets | None = None,
    ) -> None:
        self._api = api
        self._store = store
        self._connections = connections
        self._advice = advice
        self._now = now
        self._fleets = fleets
        self._memories = Memories() if fleets is None else fleets.memories
        self._claims = Claims(store, connections)
        self._pod_events = PodEvents(api, now)
        self._written: dict[Key, dict[str, tuple[str, int]]] = defaultdict(dict)
        self._parsed: dict[Key, tuple[str, ConsumerGroup]] = {}
        self._pods: dict[Key, KnownPods] = defaultdict(KnownPods)
        self._templates: dict[Key, tuple[str, Json]] = {}
        """Of the one revision that each group may have to go back to now, by its name."""
        self._doubted_at: dict[Key, float] = {}

    def parse(self, key: Key, obj: Json) -> ConsumerGroup:
        """Each version once. Raises InvalidSpec."""
        version = obj["metadata"]["resourceVersion"]
        known = self._parsed.get(key)
        if known is not None and known[0] == version and not isinstance(obj.get("spec"), CutSpec):
            return known[1]
        self._parsed.pop(key, None)  # of one that is invalid by now nothing is kept
        group = parse_consumer_group(obj, None if known is None else known[1])
        self._parsed[key] = (version, group)
        return group

    def remembered(self, key: Key, obj: Json) -> RolloutMemory:
        """What the status remembers; each version is parsed once, as the spec is. Raises InvalidSpec."""
        return self._memories.of(key, obj)

    def connection(self, group: ConsumerGroup) -> Json | None:
        """The group's connection, as the store has it."""
        return self._store.get(*connection_key(group))

    async def from_store(self, key: Key, group: ConsumerGroup) -> tuple[World, Json]:
        """And the status that stands in it. Raises ClusterFailed: the last good template may have to be read."""
        obj = self._store.get(CONSUMER_GROUP, key) or {}  # gone meanwhile, perhaps: no act comes of that
        memory = self.remembered(key, obj) if obj else RolloutMemory()
        workloads = self._workloads(key)
        template = await self._last_good_template(key, obj, workloads, memory)
        written = self._written.get(key, {})
        pods = self._store.pods_of(key)
        told = self._store.told_running(key)
        known = self._pods[key]
        known.keep(pods)
        snapshot = Snapshot(obj, self.connection(group), workloads, pods, template, written, told, memory, known.read)
        return await self._join(key, snapshot, group), obj.get("status") or {}

    def may_write(self, key: Key, world: World, memory: RolloutMemory) -> bool:
        """False where it would say that the group has its turn, and its call has lapsed since the world was gathered,
        or its fleet was shut."""
        return self._fleets is None or self._fleets.may_write(key, world, memory)

    def doubts(self, key: Key, world: World) -> bool:
        """Whether to read again, once in a while, because watches may have missed an end: a StatefulSet asks for pods
        and has none, or the other way round. Kopf tells nothing when it lists a kind again and there is none left."""
        has = {pod.workload for pod in world.all_pods}
        now = self._now()
        if all(bool(each.replicas) == (each.name in has) for each in world.sets):
            return False
        if elapsed_s(self._doubted_at.get(key, -math.inf), now) < DOUBTED_AGAIN_S:
            return False
        self._doubted_at[key] = now
        return True

    async def read_again(self, key: Key, turns: Turns) -> tuple[World, Json] | None:
        """Read everything from where it is true; `turns`: of those who make worlds of what was read. None when the
        group is gone or being deleted."""
        await self._connections.look_now(key)
        known = [(STATEFUL_SET, each) for each in self._workloads(key)]
        known += [(POD, each) for each in self._store.pods_of(key)]
        remembered = partial(self.remembered, key)
        reads = partial(read_connection, self._api, self._connections.own_namespace, key.namespace)
        snapshot = await read_snapshot(self._api, key.namespace, key.name, remembered, reads)
        await turns.mine()
        self.take_in_or_drop(key, None if snapshot is None else snapshot.group)
        if snapshot is None or snapshot.group["metadata"].get("deletionTimestamp"):
            return None
        self._drop_what_is_gone(known, snapshot)
        group = self.parse(key, self._as_kept(key, snapshot.group))
        written, told = self._written.get(key, {}), self._store.told_running(key)
        snapshot = replace(snapshot, written=written, told_running=told)
        return await self._join(key, snapshot, group), snapshot.group.get("status") or {}

    def _drop_what_is_gone(self, known: Iterable[tuple[Kind, Json]], snapshot: Snapshot) -> None:
        """`known`: what the store had before; what it took in meanwhile may be newer than the snapshot."""
        there = {each["metadata"]["uid"] for each in (*snapshot.workloads, *snapshot.pods)}
        for kind, obj in known:
            if obj["metadata"]["uid"] not in there:
                self._store.drop(kind, obj)

    def take_in(self, obj: Json | None) -> None:
        """What the API server answered is newer than what the watch has told so far."""
        if obj is not None:
            self._store.put(CONSUMER_GROUP, obj)

    def take_in_or_drop(self, key: Key, obj: Json | None) -> None:
        """Gone is gone: were we to wait for the watch to say so, we would look again and again until it does."""
        known = self._store.get(CONSUMER_GROUP, key)
        if obj is None and known is not None:
            self._store.drop(CONSUMER_GROUP, known)
        self.take_in(obj)

    def _as_kept(self, key: Key, obj: Json) -> Json:
        """Of one for which there is no room no more is read than the store has. Another version of it may be there."""
        kept = self._store.get(CONSUMER_GROUP, key)
        same = kept is not None and kept["metadata"]["resourceVersion"] == obj["metadata"]["resourceVersion"]
        return kept if kept is not None and same else obj

    def take_in_workload(self, key: Key, written: Json) -> None:
        """Our own write: this StatefulSet, of this generation, needs no comparison with what we want."""
        self._store.put(STATEFUL_SET, written)
        metadata = written["metadata"]
        self._written[key][metadata["name"]] = metadata["uid"], metadata["generation"]

    def forget(self, key: Key) -> None:
        self._parsed.pop(key, None)
        self._memories.forget(key)
        self._pods.pop(key, None)
        self._written.pop(key, None)
        self._templates.pop(key, None)
        self._doubted_at.pop(key, None)
        self._pod_events.forget(key)
        self._advice.forget(key)

    def _workloads(self, key: Key) -> tuple[Json, ...]:
        named = (self._store.get(STATEFUL_SET, Key(key.namespace, name)) for name in names_of(key.name))
        return tuple(each for each in named if each is not None)

    async def _join(self, key: Key, snapshot: Snapshot, group: ConsumerGroup) -> World:
        """The cluster's half and Kafka's."""
        view, history = self._connections.view(key, self._now())
        world = to_world(snapshot, view, history, self._now(), group)
        if world.memory.claimed is None and (before := self._store.claimed_before(key, group.group_id)) is not None:
            world = world.remembering(replace(world.memory, claimed=before))
        claims = self._claims.of_others(key, group)
        cluster_id, broker = self._connections.cluster_id(key), self._connections.broker(key)
        world = replace(world, broker=broker, advice=self._advice.get(key), cluster_id=cluster_id, claims=claims)
        if self._fleets is not None:
            if not self._connections.awaits_first_look(key):
                self._fleets.sees(key, world)  # its coordinator may be another one than when it was called
            world = replace(world, turn=self._fleets.turn_of(key, world.memory))
        return await self._pod_events.explain(key, world)

    async def _last_good_template(
        self, key: Key, obj: Json, workloads: Sequence[Json], memory: RolloutMemory
    ) -> Json | None:
        """Revisions never change, so it is read once for as long as the same one is needed."""
        revision = needs_last_good_template(memory)
        if revision is None:
            self._templates.pop(key, None)
            return None
        known = self._templates.get(key)
        if known is None or known[0] != revision:
            template = await read_last_good_template(self._api, obj, workloads, memory)
            if template is None:
                return None
            known = self._templates[key] = (revision, template)
        return known[1]
