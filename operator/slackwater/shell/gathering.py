"""Gathers the world that a pass decides about: from the store, which costs nothing, or again from where it is true."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from slackwater.adapters.cluster.paths import CONSUMER_GROUP, KAFKA_CONNECTION, STATEFUL_SET
from slackwater.adapters.cluster.snapshot import (
    Snapshot,
    memory_in,
    needs_last_good_template,
    read_last_good_template,
    read_snapshot,
    to_world,
)
from slackwater.api.parsing import parse_consumer_group
from slackwater.api.resources import ConsumerGroup
from slackwater.core.world.memory import RolloutMemory
from slackwater.core.world.two_sets import names_of
from slackwater.core.world.world import World
from slackwater.ports import Cluster
from slackwater.shell.advice import AdviceBook
from slackwater.shell.connections import Connections
from slackwater.shell.missing_pods import MissingPods
from slackwater.shell.store import Key, Store

Json = Mapping[str, Any]


class Gathering:
    """Worlds by group. What never changes, or was parsed before, is kept until the group is forgotten."""

    def __init__(
        self, api: Cluster, store: Store, connections: Connections, advice: AdviceBook, now: Callable[[], float]
    ) -> None:
        self._api = api
        self._store = store
        self._connections = connections
        self._advice = advice
        self._now = now
        self._missing = MissingPods(api, now)
        self._written_generations: dict[Key, dict[str, int]] = defaultdict(dict)
        self._parsed: dict[Key, tuple[str, ConsumerGroup]] = {}
        self._memories: dict[Key, tuple[str, RolloutMemory]] = {}
        self._templates: dict[Key, tuple[str, Json]] = {}
        """Of the one revision that each group may have to go back to now, by its name."""

    def parse(self, key: Key, obj: Json) -> ConsumerGroup:
        """Each version once. Raises InvalidSpec."""
        version = obj["metadata"]["resourceVersion"]
        known = self._parsed.get(key)
        if known is not None and known[0] == version:
            return known[1]
        group = parse_consumer_group(obj)
        self._parsed[key] = (version, group)
        return group

    def remembered(self, key: Key, obj: Json) -> RolloutMemory:
        """What the status remembers; each version is parsed once, as the spec is. Raises InvalidSpec."""
        version = obj["metadata"]["resourceVersion"]
        known = self._memories.get(key)
        if known is None or known[0] != version:
            known = self._memories[key] = (version, memory_in(obj))
        return known[1]

    def connection(self, group: ConsumerGroup) -> Json | None:
        """The group's KafkaConnection, as the store has it."""
        return self._store.get(KAFKA_CONNECTION, Key(group.namespace, group.spec.connection_ref.name))

    async def from_store(self, key: Key, group: ConsumerGroup) -> tuple[World, Json]:
        """And the status that stands in it. Raises ClusterFailed: the last good template may have to be read."""
        obj = self._store.get(CONSUMER_GROUP, key) or {}  # gone meanwhile, perhaps: no act comes of that
        memory = self.remembered(key, obj) if obj else RolloutMemory()
        named = (self._store.get(STATEFUL_SET, Key(key.namespace, name)) for name in names_of(key.name))
        workloads = tuple(each for each in named if each is not None)
        template = await self._last_good_template(key, memory)
        written = self._written_generations.get(key, {})
        pods = self._store.pods_of(key)
        told = self._store.told_running(key)
        snapshot = Snapshot(obj, self.connection(group), workloads, pods, template, written, told, memory)
        return await self._join(key, snapshot, group), obj.get("status") or {}

    async def read_again(self, key: Key) -> tuple[World, Json] | None:
        """Read everything from where it is true. None when the group is gone or being deleted."""
        await self._connections.look_now(key)
        snapshot = await read_snapshot(self._api, key.namespace, key.name, partial(self.remembered, key))
        self.take_in_or_drop(key, None if snapshot is None else snapshot.group)
        if snapshot is None or snapshot.group["metadata"].get("deletionTimestamp"):
            return None
        group = self.parse(key, snapshot.group)
        written, told = self._written_generations.get(key, {}), self._store.told_running(key)
        snapshot = replace(snapshot, written_generations=written, told_running=told)
        return await self._join(key, snapshot, group), snapshot.group.get("status") or {}

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

    def take_in_workload(self, key: Key, written: Json) -> None:
        """Our own write: a StatefulSet of this generation needs no comparison with what we want."""
        self._store.put(STATEFUL_SET, written)
        self._written_generations[key][written["metadata"]["name"]] = written["metadata"]["generation"]

    def forget(self, key: Key) -> None:
        self._parsed.pop(key, None)
        self._memories.pop(key, None)
        self._written_generations.pop(key, None)
        self._templates.pop(key, None)
        self._missing.forget(key)

    async def _join(self, key: Key, snapshot: Snapshot, group: ConsumerGroup) -> World:
        """The cluster's half and Kafka's."""
        view, history = self._connections.view(key, self._now())
        world = to_world(snapshot, view, history, self._now(), group)
        world = replace(world, broker=self._connections.broker(key), advice=self._advice.get(key))
        return replace(world, not_made=said) if (said := await self._missing.why(key, world)) else world

    async def _last_good_template(self, key: Key, memory: RolloutMemory) -> Json | None:
        """Revisions never change, so it is read once for as long as the same one is needed."""
        revision = needs_last_good_template(memory)
        if revision is None:
            self._templates.pop(key, None)
            return None
        known = self._templates.get(key)
        if known is None or known[0] != revision:
            template = await read_last_good_template(self._api, key.namespace, memory)
            if template is None:
                return None
            known = self._templates[key] = (revision, template)
        return known[1]
