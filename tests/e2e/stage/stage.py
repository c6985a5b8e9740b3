"""A namespace with a loaded topic, an operator of its own and a recorder: what a module of tests plays on."""

from __future__ import annotations

import json
import re
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from uuid import uuid4

from tests.e2e.stage.cluster import Cluster, Json
from tests.e2e.stage.groups import PARTITIONS, connection, consumer_group, group_id
from tests.e2e.stage.kafka import Kafka
from tests.e2e.stage.operator import OperatorProcess
from tests.e2e.stage.recorder import Recorder
from tests.e2e.stage.rights import operator_kubeconfig
from tests.e2e.stage.waiting import wait_for

LOAD_PER_PARTITION: Final = 5.0
"""Messages a second."""
_PASSES = re.compile(r'^slackwater_reconciles_total\{result="ok"\} (\S+)$', re.MULTILINE)


@dataclass(frozen=True)
class Stage:
    cluster: Cluster
    kafka: Kafka
    topic: str
    operator: OperatorProcess
    recorder: Recorder

    def group(self, name: str, topic: str | None = None, **settings: object) -> Json:
        """A ConsumerGroup of three pods on the loaded topic, not applied yet."""
        return consumer_group(self.cluster, name, topic or self.topic, **settings)  # type: ignore[arg-type]

    def group_id(self, name: str) -> str:
        return group_id(self.cluster, name)

    def create(self, *groups: Json) -> None:
        """Apply new groups, and wait until all of them run."""
        self.cluster.apply(*groups)
        for group in groups:
            self.cluster.wait_complete(group["metadata"]["name"])
            self.cluster.wait_condition(group["metadata"]["name"], "Ready", "True")

    def wait_passes(self, count: int) -> None:
        """Until the operator has made so many passes more: it had every chance to do what it must not."""
        goal = self._passes() + count
        wait_for(f"{count} passes of the operator", lambda: self._passes() >= goal, 60.0, self.operator.log_tail)

    def wait_first_passes(self, count: int) -> None:
        """Until an operator that was just started has made so many passes: at rest it makes hardly more."""
        wait_for(f"{count} passes of the operator", lambda: self._passes() >= count, 60.0, self.operator.log_tail)

    def look_again(self, *names: str) -> None:
        """Have the operator pass over each of these groups once more: it had every chance to do what it must not."""
        goal = self._passes() + len(names)
        for name in names:
            self.cluster.annotate(name, "looked-at", str(time.time()))
        self.wait_first_passes(int(goal))

    def _passes(self) -> float:
        found = _PASSES.search(self.operator.metrics())
        return float(found.group(1)) if found else 0.0


@contextmanager
def staged(name: str, kubeconfig: Path, bootstrap_servers: str, directory: Path) -> Iterator[Stage]:
    """Set one up, and leave nothing of it behind."""
    kafka = Kafka(bootstrap_servers)
    with ExitStack() as stack:
        cluster = stack.enter_context(_namespace(kubeconfig, f"e2e-{name.replace('_', '-')}-{uuid4().hex[:6]}"))
        topic = cluster.namespace
        kafka.make_topic(topic, PARTITIONS)
        stack.callback(kafka.remove_topics_of, topic)
        stack.callback(kafka.remove_groups, f"{cluster.namespace}-")
        cluster.apply(connection(bootstrap_servers))
        directory.mkdir(parents=True, exist_ok=True)
        log = directory / "operator.log"
        log.unlink(missing_ok=True)
        settings = {"SLACKWATER_NAMESPACE": cluster.namespace}
        operator = OperatorProcess(operator_kubeconfig(cluster, directory), log, settings, free_port())
        operator.start()
        stack.callback(operator.kill)
        operator.wait_ready()
        stack.callback(remove_groups, cluster)
        stack.enter_context(kafka.load(topic, LOAD_PER_PARTITION))
        recorder = stack.enter_context(Recorder(cluster.api, cluster.namespace))
        yield Stage(cluster, kafka, topic, operator, recorder)


@contextmanager
def _namespace(kubeconfig: Path, name: str) -> Iterator[Cluster]:
    """A new namespace for one module of tests, deleted with all that is in it."""
    cluster = Cluster(kubeconfig, name)
    cluster.kubectl("create", "namespace", name)
    try:
        yield cluster
    finally:
        cluster.kubectl("delete", "namespace", name, "--wait=false", "--ignore-not-found")


def remove_groups(cluster: Cluster) -> None:
    """While the operator can still do its part; of one that cannot, the finalizers are taken away."""
    cluster.kubectl("delete", "cg", "--all", "--wait=false")

    def gone() -> bool:
        return not cluster.api.list_all("cg", cluster.namespace)[0]

    try:
        wait_for("the groups to be gone", gone, 60.0)
    except AssertionError:
        for left in cluster.api.list_all("cg", cluster.namespace)[0]:
            cluster.kubectl("patch", "cg", left["metadata"]["name"], "--type=merge", "-p", _NO_FINALIZERS)
        raise


_NO_FINALIZERS: Final = json.dumps({"metadata": {"finalizers": None}})


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("", 0))
        port: int = probe.getsockname()[1]
        return port
