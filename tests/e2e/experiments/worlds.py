"""The same consumers in a plain Deployment or StatefulSet, rolled by kubectl, and in a ConsumerGroup."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any, Final

from confluent_kafka import KafkaException, Message, Producer

from sandbox.workload import deliveries
from tests.e2e.stage.cluster import Json
from tests.e2e.stage.groups import PARTITIONS, REPLICAS, with_env
from tests.e2e.stage.kafka import Sighting
from tests.e2e.stage.stage import LOAD_PER_PARTITION, Stage
from tests.e2e.stage.waiting import wait_for

LABEL: Final = "experiments.slackwater.dev/world"
OURS: Final = "slackwater.dev/group"
DEADLINE_S: Final = 300.0


@dataclass(frozen=True, slots=True)
class Kind:
    """What runs the consumers, and whether they are static members."""

    label: str
    resource: str
    static: bool

    @property
    def is_ours(self) -> bool:
        return self.resource == "consumergroup"

    @property
    def name(self) -> str:
        return self.label.replace(", ", "-").lower()


KINDS: Final = (
    Kind("Plain, dynamic", "deployment", static=False),
    Kind("Plain, static", "statefulset", static=True),
    Kind("Slackwater, dynamic", "consumergroup", static=False),
    Kind("Slackwater, static", "consumergroup", static=True),
)


@dataclass(eq=False)
class World:
    """One group with a topic and a load of its own. `session_s` and `max_poll_s` are its timeouts."""

    stage: Stage
    kind: Kind
    session_s: int
    max_poll_s: int = 300
    replicas: int = REPLICAS
    env: dict[str, str | None] = field(default_factory=dict)
    members_per_pod: int = 1
    partitions: int = PARTITIONS
    grace_s: int | None = None
    """Of its pods; None: the stage's."""
    spec: Json = field(default_factory=dict)
    """More of a ConsumerGroup's."""

    @property
    def name(self) -> str:
        return self.kind.name

    @property
    def topic(self) -> str:
        return f"{self.stage.topic}-{self.name}"

    @property
    def deliveries_topic(self) -> str:
        return f"{self.topic}-deliveries"

    @property
    def group_id(self) -> str:
        return self.stage.group_id(self.name)

    def apply(self, **env: str | None) -> None:
        """Ask for consumers with these variables besides those that they have; None takes one away."""
        self.env |= env
        self.stage.cluster.apply(self._group() if self.kind.is_ours else self._workload())

    def roll_out(self, **env: str | None) -> None:
        """The same, and wait until every pod has them."""
        self.apply(**env)
        self.wait_rolled_out()

    def upgrade(self) -> None:
        """Ask for KIP-848: of the operator, or by hand with the consumers' settings."""
        if self.kind.is_ours:
            self.spec = {**self.spec, "protocol": {"target": "Consumer"}}
            self.apply()
        else:
            self.apply(KAFKA_GROUP_PROTOCOL="consumer", KAFKA_SESSION_TIMEOUT_MS=None)

    def wait_rolled_out(self) -> None:
        if self.kind.is_ours:
            self.stage.cluster.wait_complete(self.name, DEADLINE_S)
            self.stage.cluster.wait_condition(self.name, "Ready", "True", deadline_s=DEADLINE_S)
        else:
            wait_for(f"the rollout of {self.name}", self._is_rolled_out, DEADLINE_S, self.pod_names)

    def remove(self) -> None:
        """Until nobody is in the group any more: static members of a plain world stay until their session ends."""
        self.stage.cluster.kubectl("delete", self.kind.resource, self.name, "--wait=false")
        wait_for(f"{self.name} to be empty", lambda: not self.now().members, DEADLINE_S, self.now)

    def scale(self, replicas: int) -> None:
        self.replicas = replicas
        self.stage.cluster.kubectl("scale", self.kind.resource, self.name, f"--replicas={replicas}")

    def pods(self) -> list[Json]:
        """By name, without those on their way out."""
        found, _ = self.stage.cluster.api.list_all("pods", self.stage.cluster.namespace, f"{self._label}={self.name}")
        alive = [pod for pod in found if "deletionTimestamp" not in pod["metadata"]]
        return sorted(alive, key=lambda pod: str(pod["metadata"]["name"]))

    def pod_names(self) -> list[str]:
        return [pod["metadata"]["name"] for pod in self.pods()]

    def now(self) -> Sighting:
        return self.stage.kafka.look(self.group_id)

    def wait_served(self, since: float | None = None) -> None:
        """Until the group is stable with all its members and each of them was given records since, of all partitions.

        Since `since` (seconds since the epoch), or the moment in which it came to be so.
        """

        so_since: float | None = None

        def look() -> bool:
            nonlocal so_since
            try:
                whole_at = self._is_whole_at()
                so_since = None if whole_at is None else so_since or whole_at
                return so_since is not None and self._gives_records_to_all(since or so_since)
            except (KafkaException, TimeoutError):  # a broker is away, or a coordinator moves
                return False

        wait_for(f"{self.name} to be served by all its pods", look, DEADLINE_S, self.pod_names)

    def owners(self) -> dict[int, str]:
        """Partition → the pod that was given its last record."""
        rows = deliveries.read(self._connection, self.deliveries_topic, 0)
        return {row.partition: row.pod for row in sorted(rows, key=lambda row: row.at_ms)}

    def send(self, value: str | bytes, partition: int) -> int:
        """One record more in that partition; returns its offset."""
        sent: list[Message] = []
        producer = Producer(self._connection)
        producer.produce(self.topic, value, partition=partition, on_delivery=lambda _, message: sent.append(message))
        assert producer.flush(30) == 0
        return int(sent[0].offset())

    def rows(self, since: float) -> list[deliveries.Delivery]:
        return deliveries.read(self._connection, self.deliveries_topic, int(since * 1000))

    def _is_whole_at(self) -> float | None:
        """When the group was looked at, if it was stable then, with all its members and partitions."""
        pods, seen = set(self.pod_names()), self.now()
        owners = {owner for _, owner in seen.owners}
        owns = min(self.partitions, self.replicas * self.members_per_pod)
        is_whole = (seen.state, seen.owned, len(owners)) == ("STABLE", self.partitions, owns)
        return seen.asked_at if is_whole and len(pods) == self.replicas else None

    def _gives_records_to_all(self, since: float) -> bool:
        rows = self.rows(since)
        pods = set(self.pod_names())
        return {row.partition for row in rows} == set(range(self.partitions)) and {row.pod for row in rows} >= pods

    @property
    def _connection(self) -> dict[str, str]:
        return {"bootstrap.servers": self.stage.kafka.bootstrap_servers}

    @property
    def _label(self) -> str:
        return OURS if self.kind.is_ours else LABEL

    def _is_rolled_out(self) -> bool:
        workload = self.stage.cluster.get(self.kind.resource, self.name) or {}
        status, wanted = workload["status"], workload["spec"]["replicas"]
        observed = status.get("observedGeneration") == workload["metadata"]["generation"]
        counts = {status.get(count) for count in ("replicas", "readyReplicas", "updatedReplicas")}
        current = status.get("currentRevision") == status.get("updateRevision")
        return bool(observed and current and counts == {wanted} and len(self.pods()) == wanted)

    def _group(self) -> Json:
        spec: Json = {"membership": "Static" if self.kind.static else "Dynamic", "replicas": self.replicas}
        spec |= {"membersPerPod": self.members_per_pod, "timeouts": self._timeouts}
        group = self.stage.group(self.name, self.topic, **(spec | self.spec))
        return self._with_grace(with_env(group, **self._environment))

    def _with_grace(self, group: Json) -> Json:
        if self.grace_s is not None:
            group["spec"]["template"]["spec"]["terminationGracePeriodSeconds"] = self.grace_s
        return group

    @property
    def _timeouts(self) -> Json:
        modern = self.spec.get("protocol", {}).get("target") == "Consumer"
        session: Json = {"consumer": {"session": f"{self.session_s}s"}} if modern else {"session": f"{self.session_s}s"}
        return session | {"maxPollInterval": f"{self.max_poll_s}s"}

    def _workload(self) -> Json:
        """By hand what the operator writes into a ConsumerGroup's pods."""
        settings: dict[str, str | Mapping[str, Any] | None] = {
            "KAFKA_BOOTSTRAP_SERVERS": self.stage.kafka.bootstrap_servers,
            "KAFKA_GROUP_ID": self.group_id,
            "KAFKA_SESSION_TIMEOUT_MS": str(self.session_s * 1000),
            "KAFKA_MAX_POLL_INTERVAL_MS": str(self.max_poll_s * 1000),
        }
        if self.kind.static:
            settings["KAFKA_GROUP_INSTANCE_ID"] = {"fieldRef": {"fieldPath": "metadata.name"}}
        group = self._with_grace(with_env(self.stage.group(self.name, self.topic), **(settings | self._environment)))
        labels = {LABEL: self.name}
        spec: Json = {
            "replicas": self.replicas,
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, **group["spec"]["template"]},
        }
        kinds = {"deployment": "Deployment", "statefulset": "StatefulSet"}
        if self.kind.resource == "statefulset":
            spec |= {"serviceName": self.name, "podManagementPolicy": "Parallel"}
        metadata = {"name": self.name, "namespace": self.stage.cluster.namespace}
        return {"apiVersion": "apps/v1", "kind": kinds[self.kind.resource], "metadata": metadata, "spec": spec}

    @property
    def _environment(self) -> dict[str, str | None]:
        return {"TOPICS": self.topic, "DELIVERIES_TOPIC": self.deliveries_topic, **self.env}


@contextmanager
def played(*worlds: World) -> Iterator[tuple[World, ...]]:
    """Under load, and served by all their pods; they are gone at the end."""
    with ExitStack() as stack:
        for world in worlds:
            world.stage.kafka.make_topic(world.topic, world.partitions)
            world.stage.kafka.make_topic(world.deliveries_topic, 1)
            stack.enter_context(world.stage.kafka.load(world.topic, LOAD_PER_PARTITION))
            world.apply()
            stack.callback(world.remove)
        for world in worlds:
            world.wait_rolled_out()
            world.wait_served()
        yield worlds
