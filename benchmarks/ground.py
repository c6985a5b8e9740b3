"""A namespace with a connection to Kafka and a topic, for one benchmark; nothing of it is left afterwards."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

from tests.e2e.stage.cluster import Cluster, Json
from tests.e2e.stage.groups import PARTITIONS, connection, consumer_group
from tests.e2e.stage.kafka import Kafka
from tests.e2e.stage.operator import ROOT, OperatorProcess
from tests.e2e.stage.waiting import wait_for

_GONE_S = 300.0


@dataclass(frozen=True)
class Ground:
    cluster: Cluster
    kafka: Kafka
    operator: OperatorProcess
    topic: str

    def group(self, name: str, replicas: int, stable_for_s: int = 1) -> Json:
        rollout = {"stableFor": f"{stable_for_s}s"}
        return consumer_group(self.cluster, name, self.topic, rollout, replicas=replicas, deletionPolicy="DeleteGroup")

    def groups(self) -> list[Json]:
        found, _ = self.cluster.api.list_all("cg", self.cluster.namespace)
        return found


@contextmanager
def prepared(kubeconfig: Path, bootstrap_servers: str, folder: Path, port: int) -> Iterator[Ground]:
    """The operator is not running yet; whoever starts it need not end it."""
    name = f"bench-{uuid4().hex[:8]}"
    cluster, kafka = Cluster(kubeconfig, name), Kafka(bootstrap_servers)
    cluster.kubectl("apply", "--server-side", "--force-conflicts", "-f", str(ROOT / "crds"))
    cluster.kubectl("wait", "--for=condition=Established", "--timeout=30s", "-f", str(ROOT / "crds"))
    cluster.kubectl("create", "namespace", name)
    kafka.make_topic(name, PARTITIONS)
    folder.mkdir(parents=True, exist_ok=True)
    operator = OperatorProcess(kubeconfig, folder / f"{name}.log", {"SLACKWATER_NAMESPACE": name}, port)
    ground = Ground(cluster, kafka, operator, name)
    try:
        cluster.apply(connection(bootstrap_servers))
        yield ground
    finally:
        _remove(ground)


def _remove(ground: Ground) -> None:
    """The groups first, as a user would, which takes an operator."""
    operator, cluster = ground.operator, ground.cluster
    try:
        if operator.process is None or operator.process.poll() is not None:
            operator.start()
            operator.wait_ready()
        cluster.kubectl("delete", "cg", "--all", "--wait=false")
        wait_for("the groups to be gone", lambda: not ground.groups(), _GONE_S, lambda: len(ground.groups()))
    finally:
        operator.kill()
        for group in ground.groups():
            cluster.patch("cg", group["metadata"]["name"], {"metadata": {"finalizers": None}})
        cluster.kubectl("delete", "namespace", cluster.namespace, "--wait=false")
        ground.kafka.remove_topics(ground.topic)
