"""A namespace is deleted while its Kafka is away: it ends."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from uuid import uuid4

import pytest

from sandbox.layout import HOST
from tests.adapters.kafka.own_broker import OwnBroker, made_broker, serving
from tests.chart.helm import CHART
from tests.e2e.install.releases import Release
from tests.e2e.install.test_namespace_ends import exists
from tests.e2e.stage.cluster import Cluster
from tests.e2e.stage.groups import PARTITIONS, connection, consumer_group, with_env
from tests.e2e.stage.kafka import Kafka
from tests.e2e.stage.waiting import wait_for

pytestmark = [pytest.mark.e2e, pytest.mark.long, pytest.mark.minutes(3), pytest.mark.timeout(600)]

KEPT, DELETED = "kept", "deleted"
ENDS_WITHIN_S: Final = 240.0


@dataclass(frozen=True, slots=True)
class Doomed:
    home: Cluster
    doomed: Cluster
    broker: OwnBroker


@pytest.fixture(scope="module")
def place(crds: None, kubeconfig: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Doomed]:
    """An operator in a namespace of its own, and another one with two groups on a broker of their own."""
    name = f"e2e-no-kafka-{uuid4().hex[:6]}"
    home, doomed = Cluster(kubeconfig, name), Cluster(kubeconfig, f"{name}-doomed")
    with ExitStack() as stack:
        broker = stack.enter_context(serving(made_broker(tmp_path_factory.mktemp("broker"), {}, host=str(HOST))))
        for cluster in (home, doomed):
            cluster.kubectl("create", "namespace", cluster.namespace)
            stack.callback(cluster.kubectl, "delete", "namespace", cluster.namespace, "--wait=false", check=False)
        Kafka(broker.bootstrap_servers).make_topic(name, PARTITIONS)
        watched = f"watchNamespaces={{{home.namespace},{doomed.namespace}}}"
        release = Release(home, (watched, "replicas=1", "image.tag=dev", "crds.install=false"))
        release.install(CHART)
        stack.callback(release.uninstall)
        doomed.apply(
            connection(broker.bootstrap_servers),
            consumer_group(doomed, KEPT, name, replicas=2),
            consumer_group(doomed, DELETED, name, deletionPolicy="DeleteGroup"),
        )
        for group in (KEPT, DELETED):
            doomed.wait_complete(group)
        yield Doomed(home, doomed, broker)


def test_it_ends_with_a_group_in_the_middle_of_a_rollout(place: Doomed) -> None:
    """Whatever is to be done with the Kafka group: `Retain` and `DeleteGroup`."""
    name = place.home.namespace
    place.doomed.apply(with_env(consumer_group(place.doomed, DELETED, name, deletionPolicy="DeleteGroup"), VERSION="2"))
    wait_for("the first step", lambda: bool(place.doomed.status(DELETED)["rollout"].get("step")), 60.0)
    place.broker.kill()
    place.doomed.wait_condition(DELETED, "GroupStable", "Unknown", "KafkaUnreachable")
    place.doomed.kubectl("delete", "namespace", place.doomed.namespace, "--wait=false")
    wait_for("the namespace to be gone", lambda: not exists(place.doomed), ENDS_WITHIN_S, lambda: left(place.doomed))


def left(cluster: Cluster) -> str:
    return cluster.kubectl("get", "namespace", cluster.namespace, "-o", "jsonpath={.status.conditions}", check=False)
