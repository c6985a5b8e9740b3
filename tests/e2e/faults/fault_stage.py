"""A namespace with a loaded topic, a ConsumerGroup and an operator that the test starts and kills as it likes.

Other than `stage`, it outlives the operator, the broker and the API server.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final
from uuid import uuid4

from tests.e2e.stage.cluster import Cluster, Json
from tests.e2e.stage.groups import PARTITIONS, REPLICAS, connection, consumer_group, with_env
from tests.e2e.stage.kafka import Kafka
from tests.e2e.stage.operator import OperatorProcess
from tests.e2e.stage.pod_recorder import PodRecorder
from tests.e2e.stage.rights import operator_kubeconfig
from tests.e2e.stage.waiting import wait_for

GROUP: Final = "orders"
POD_NAMES: Final = tuple(f"{GROUP}-{ordinal}" for ordinal in range(REPLICAS))
STABLE_FOR_S: Final = 1.0
LOAD_PER_PARTITION: Final = 2.0
"""Messages a second: every member's commits move, by which the operator sees that it lives."""


@dataclass
class FaultStage:
    cluster: Cluster
    operator: OperatorProcess
    recorder: PodRecorder
    topic: str
    rollout: Json = field(default_factory=dict)

    def apply_version(self, version: str, *, never_joins: bool = False) -> None:
        """Ask for a version; whether an operator is there to roll it out is another matter."""
        rollout = {"stableFor": f"{STABLE_FOR_S:.0f}s", **self.rollout}
        group = consumer_group(self.cluster, GROUP, self.topic, rollout)
        never_join = "1" if never_joins else None
        self.cluster.apply(with_env(group, VERSION=version, START_DELAY_SECONDS="0", NEVER_JOIN=never_join))

    def start_operator(self, **environment: str) -> None:
        """Wait until it has read the cluster."""
        self.operator.start(**environment)
        self.operator.wait_ready()

    def has_ended(self, phase: str) -> bool:
        """Whether the rollout of the newest spec came to this end, with all pods Ready and held where they are."""
        obj = self.cluster.get("cg", GROUP) or {}
        status = obj.get("status", {})
        seen = status.get("observedGeneration") == obj["metadata"]["generation"]
        ended = status.get("rollout", {}).get("phase") == phase and status.get("readyReplicas") == REPLICAS
        return seen and ended and self._is_parked()

    def wait_ended(self, phase: str = "Complete", deadline_s: float = 300.0) -> None:
        wait_for(f"the end {phase}", lambda: self.has_ended(phase), deadline_s, lambda: self.cluster.summary(GROUP))

    def stateful_set(self) -> Json:
        found = self.cluster.get("statefulset", GROUP)
        assert found is not None, f"there is no StatefulSet {GROUP}"
        return found

    def pods(self) -> list[Json]:
        """By name; those that are being deleted too."""
        found, _ = self.cluster.api.list_all("pods", self.cluster.namespace)
        return sorted(found, key=lambda pod: str(pod["metadata"]["name"]))

    def uids(self) -> dict[str, str]:
        return {pod["metadata"]["name"]: pod["metadata"]["uid"] for pod in self.pods()}

    def versions(self) -> list[str]:
        """What the pods run, by ordinal."""
        env = [pod["spec"]["containers"][0]["env"] for pod in self.cluster.pods(GROUP)]
        return [next(e["value"] for e in variables if e["name"] == "VERSION") for variables in env]

    def _is_parked(self) -> bool:
        """The last thing done in a rollout (F26)."""
        found = self.stateful_set()
        update, status = found["spec"]["updateStrategy"], found["status"]
        held = (update.get("rollingUpdate") or {}).get("partition") == REPLICAS
        return bool(held and status.get("currentRevision") == status.get("updateRevision"))


@contextmanager
def fault_stage(
    kubeconfig: Path, bootstrap_servers: str, folder: Path, port: int, load: float = LOAD_PER_PARTITION
) -> Iterator[FaultStage]:
    """Set one up, no operator running yet, and leave nothing of it behind."""
    name = f"faults-{uuid4().hex[:8]}"
    cluster, kafka = Cluster(kubeconfig, name), Kafka(bootstrap_servers)
    cluster.kubectl("create", "namespace", name)
    kafka.make_topic(name, PARTITIONS)
    cluster.apply(connection(bootstrap_servers))
    own = folder / name
    own.mkdir(parents=True)
    operator = OperatorProcess(
        operator_kubeconfig(cluster, own), own / "operator.log", {"SLACKWATER_NAMESPACE": name}, port
    )
    stage = FaultStage(cluster, operator, PodRecorder(kubeconfig, name), name)
    with kafka.load(name, load), stage.recorder.recording():
        try:
            yield stage
        finally:
            _strike(stage)
    kafka.remove_topics(name)


def _strike(stage: FaultStage) -> None:
    """Remove the groups as a user would, which takes an operator, and then the rest."""
    cluster, process = stage.cluster, stage.operator.process
    try:
        if process is None or process.poll() is not None:
            stage.start_operator()
        cluster.kubectl("delete", "cg", "--all", "--timeout=120s")
    finally:
        stage.operator.kill()
        for group in cluster.kubectl("get", "cg", "-o", "name").split():
            cluster.kubectl("patch", group, "--type=merge", "-p", '{"metadata": {"finalizers": null}}')
        cluster.kubectl("delete", "namespace", cluster.namespace, "--wait=false")


def is_ready(pod: Json) -> bool:
    conditions: Any = pod.get("status", {}).get("conditions", ())
    return any(c["type"] == "Ready" and c["status"] == "True" for c in conditions)
