"""The operator's own parts in this process: store, connections, observer and reconciler over recorded answers."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any, Final, Self

from benchmarks.scale.recorded import (
    KEY,
    KINDS,
    NAME,
    NAMESPACE,
    NotAtRest,
    Recorded,
    connection_object,
    controlled,
    group_object,
    name_of,
    pod_object,
    recorded_of,
    topic_of,
    view_of,
)
from slackwater.adapters.cluster.paths import CONSUMER_GROUP, KAFKA_CONNECTION, POD, STATEFUL_SET
from slackwater.adapters.cluster.snapshot import memory_in
from slackwater.adapters.kafka.connected import ConnectedKafka
from slackwater.adapters.kafka.observer import Observer
from slackwater.api.parsing import parse_consumer_group
from slackwater.api.resources import Connection
from slackwater.core.world.broker import BrokerFacts
from slackwater.core.world.observation import KafkaView
from slackwater.ports import Kind, Secrets
from slackwater.shell.advice import AdviceBook
from slackwater.shell.connections import Connections
from slackwater.shell.metrics import Metrics
from slackwater.shell.reconciler import Reconciler
from slackwater.shell.store import Key, Store
from slackwater.shell.witnesses import Witness
from tests.core.factories import BROKER
from tests.shell.fakes import FakeApi

Json = dict[str, Any]

SERVERS: Final = "127.0.0.1:9092"
STEP_S: Final = 5.0
_STEPS, _AT_REST = 200, 12
_NEVER_S: Final = 1e9


class RecordedReader:
    """A `GroupReader` of groups that are all well."""

    def __init__(self, pods: int, now: Callable[[], float]) -> None:
        self.pods = pods
        self.there = False
        self._now = now

    async def observe(
        self, topics_by_group: Mapping[str, frozenset[str]], settings_of: Collection[str] = ()
    ) -> Mapping[str, KafkaView]:
        pods = self.pods if self.there else 0
        return {group: view_of(group, pods, self._now()) for group in topics_by_group}

    async def read(self) -> BrokerFacts:
        return BROKER

    async def close(self) -> None:
        return None


class _Wire:
    """What `ConnectedKafka` asks of one."""

    cluster_id = "recorded"
    requests: Mapping[str, int] = {}


def recorded_connections(connections: Connections, pods: int) -> None:
    """Have them answered by what was recorded, as often as the operator looks."""
    reader = RecordedReader(pods, time.time)
    reader.there = True
    answered_by(connections, reader)


def answered_by(connections: Connections, reader: RecordedReader) -> None:
    """The same by one's own reader."""

    def opened(connection: Connection, secrets: Secrets, on_change: Callable[[str], None]) -> ConnectedKafka:
        wire: Any = _Wire()
        return ConnectedKafka(wire, Observer(reader, on_change, brokers=reader))

    connections._open_kafka = opened  # noqa: SLF001 - the operator makes its own


class Around:
    """All that passes need, without a process around it. `now` is ahead of the clock as far as a test says."""

    def __init__(self, pods: int) -> None:
        self.later_s = 0.0
        self.stopped_at: float | None = None
        """Where the clock stands still."""
        self.api, self.store = FakeApi(), Store(self.now)
        self.reader = RecordedReader(pods, self.now)
        self.metrics = Metrics()
        api: Any = self.api
        self.connections = Connections(api, self._open, lambda _: None)
        witnesses: Iterable[Witness] = (self.metrics,)
        advice = AdviceBook(lambda _: None)
        self.reconciler = Reconciler(api, self.store, self.connections, advice, self.now, tuple(witnesses))

    def now(self) -> float:
        return time.time() + self.later_s if self.stopped_at is None else self.stopped_at

    def _open(self, connection: Connection, secrets: Secrets, on_change: Callable[[str], None]) -> ConnectedKafka:
        observer = Observer(self.reader, on_change, brokers=self.reader, rest_interval_s=_NEVER_S)
        wire: Any = _Wire()
        return ConnectedKafka(wire, observer)

    async def close(self) -> None:
        await self.connections.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def put(self, kind: Kind, obj: Json) -> None:
        """Into the cluster in memory, and as a watch brings it."""
        self.store.put(kind, self.api.add(kind, obj))

    async def pass_over(self, key: Key) -> None:
        await self.reconciler.reconcile(key)

    def fill(self, recorded: Recorded, numbers: Iterable[int]) -> list[Key]:
        """Copies of a group, with all their objects."""
        keys = []
        for number in numbers:
            for kind in KINDS:
                for obj in recorded.objects(kind, number):
                    self.put(kind, obj)
            keys.append(Key(NAMESPACE, name_of(number)))
        return keys

    async def add_neighbours(self, recorded: Recorded, number: int) -> None:
        """Other groups of the connection, each with its look and its place; with one set of pods for all of them, so
        that fifty thousand have room."""
        (obj,) = recorded.objects(CONSUMER_GROUP, 1)
        group, memory = parse_consumer_group(obj), memory_in(obj)
        for each in range(1, number + 1):
            name = name_of(each)
            spec = {**obj["spec"], "groupId": name, "topics": [topic_of(name)]}
            self.store.put(CONSUMER_GROUP, {**obj, "metadata": {**obj["metadata"], "name": name}, "spec": spec})
            own = group.spec.model_copy(update={"explicit_group_id": name, "topics": (topic_of(name),)})
            like_it = group.model_copy(update={"spec": own})
            key = Key(NAMESPACE, name)
            await self.connections.use(key, like_it, memory, recorded.connection, self.now())
        if number:
            await self.connections.look_now(key)

    async def settle(self, keys: Iterable[Key]) -> None:
        """Until a pass over each finds nothing to do. Raises NotAtRest."""
        for key in keys:
            await self.pass_over(key)
        for key in keys:
            await self.connections.look_now(key)
        for _ in range(_AT_REST):
            self.api.asked.clear()
            self.later_s += STEP_S
            for key in keys:
                self.connections.look_soon(key)
            await self.connections.look_now(next(iter(keys)))
            for key in keys:
                await self.pass_over(key)
        if self.api.writes():
            raise NotAtRest(f"copies of a group at rest are written: {self.api.writes()[:5]}")


async def record(pods: int) -> Recorded:
    """Bring one group to rest. Raises NotAtRest."""
    async with Around(pods) as around:
        around.later_s = -_STEPS * STEP_S
        around.put(KAFKA_CONNECTION, connection_object(SERVERS))
        around.put(CONSUMER_GROUP, group_object(pods))
        quiet = 0
        for _ in range(_STEPS):
            around.api.asked.clear()
            await around.pass_over(KEY)
            around.connections.look_soon(KEY)
            await around.connections.look_now(KEY)
            _play(around, pods)
            around.later_s += STEP_S
            quiet = 0 if around.api.writes() else quiet + 1
            if quiet > _AT_REST and ("StatefulSet", *KEY) in around.api.objects:
                return recorded_of(around.api.objects, pods)
        raise NotAtRest(f"{NAME} does not come to rest: {around.api.asked}")


def _play(around: Around, pods: int) -> None:
    """What others do about what the operator has written."""
    objects = around.api.objects
    workload = objects.get(("StatefulSet", *KEY))
    if workload is None:
        return
    if workload.get("status", {}).get("observedGeneration") != workload["metadata"]["generation"]:
        around.api.add(STATEFUL_SET, controlled(workload, pods))
        around.store.put(STATEFUL_SET, around.api.changed_by_somebody(STATEFUL_SET, KEY))
    for ordinal in range(pods):
        place = Key(NAMESPACE, f"{NAME}-{ordinal}")
        if ("Pod", *place) not in objects:
            around.api.add(POD, pod_object(objects["StatefulSet", *KEY], ordinal, around.now()))
            around.store.put(POD, around.api.changed_by_somebody(POD, place))
    around.reader.there = True
