"""The chart upgraded from the release before, rolled back, and taken away: no pod moves, and nothing is forgotten.

Nothing is released yet, and a shallow clone has no history, so `releases.chart_before` makes the release before out of
today's chart. Both run the same image: what is tried here is Helm, and one operator that takes over from another, and
not whether another build of the operator renders the same pod template. What becomes of the resource types, which all
namespaces of a cluster share, is in `test_crd_upgrade`.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from uuid import uuid4

import pytest

from tests.chart.helm import CHART
from tests.e2e.install.releases import BEFORE, TODAY, Release, chart_before
from tests.e2e.stage.cluster import Cluster, Json
from tests.e2e.stage.groups import CONNECTION, PARTITIONS, connection, consumer_group, group_id, with_env
from tests.e2e.stage.kafka import Kafka
from tests.e2e.stage.stage import remove_groups
from tests.e2e.stage.waiting import wait_for

pytestmark = [pytest.mark.e2e, pytest.mark.long, pytest.mark.minutes(2), pytest.mark.timeout(480)]

NAME: Final = "orders"
REPLICAS: Final = 2
KEPT: Final = ("observedGeneration", "rollout", "protocol", "history", "replicas", "selector")
"""Of a group's status, besides its conditions: what only the operators remember, or nobody has asked to change."""


@dataclass(frozen=True, slots=True)
class Running:
    release: Release
    cluster: Cluster
    kafka: Kafka
    group: Json


@pytest.fixture(scope="module")
def running(
    crds: None, kubeconfig: Path, bootstrap_servers: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Running]:
    """A group that the operator of the release before has made, and has rolled out once."""
    cluster = Cluster(kubeconfig, f"e2e-releases-{uuid4().hex[:6]}")
    settings = (f"watchNamespaces={{{cluster.namespace}}}", "image.tag=dev", "leaseSeconds=3", "crds.install=false")
    kafka, release = Kafka(bootstrap_servers), Release(cluster, settings)
    before = chart_before(tmp_path_factory.mktemp("chart"))
    with ExitStack() as stack:
        cluster.kubectl("create", "namespace", cluster.namespace)
        stack.callback(cluster.kubectl, "delete", "namespace", cluster.namespace, "--wait=false")
        kafka.make_topic(cluster.namespace, PARTITIONS)
        stack.callback(kafka.remove_topics_of, cluster.namespace)
        stack.callback(kafka.remove_groups, cluster.namespace)
        stack.enter_context(kafka.load(cluster.namespace, 5.0))
        release.install(before)
        stack.callback(release.uninstall)
        stack.callback(remove_groups, cluster)
        group = consumer_group(cluster, NAME, cluster.namespace, {"stableFor": "1s"}, replicas=REPLICAS)
        cluster.apply(connection(bootstrap_servers), group)
        cluster.wait_complete(NAME)
        made = Running(release, cluster, kafka, group)
        roll_out(made, "2")
        yield made


def test_an_upgrade_moves_no_pod_and_loses_no_status(running: Running) -> None:
    with nothing_moves(running):
        running.release.upgrade(CHART)
        running.release.wait_led_by(TODAY)
    roll_out(running, "3")


def test_so_does_a_rollback(running: Running) -> None:
    with nothing_moves(running):
        running.release.rollback()
        running.release.wait_led_by(BEFORE)
    roll_out(running, "4")


def test_what_is_uninstalled_leaves_groups_running_until_it_is_there_again(running: Running) -> None:
    with nothing_moves(running):
        running.release.uninstall()
        assert running.kafka.look(group_id(running.cluster, NAME)).state == "STABLE"
        running.release.install(CHART)
        running.release.wait_led_by(TODAY)
    roll_out(running, "5")


@contextmanager
def nothing_moves(running: Running) -> Iterator[None]:
    """Neither in the cluster nor in Kafka. What was forgotten for a while shows too: it would begin again."""
    began, before, status = time.time(), identities(running.cluster), kept(running.cluster)
    yield
    running.cluster.wait_condition(NAME, "Ready", "True")
    assert identities(running.cluster) == before
    assert kept(running.cluster) == status
    assert running.kafka.rebalances(group_id(running.cluster, NAME), began, time.time()) == 0


def identities(cluster: Cluster) -> Json:
    """What has another value if anything was made again, restarted or given another template."""
    workload = cluster.get("sts", NAME) or {}
    return {
        "pods": [(pod["metadata"]["uid"], revision(pod), restarts(pod)) for pod in cluster.pods(NAME)],
        "StatefulSet": (workload["metadata"]["uid"], workload["metadata"]["generation"]),
        "objects": [uid(cluster.get(*which)) for which in (("cg", NAME), ("kafkaconnections", CONNECTION))],
    }


def kept(cluster: Cluster) -> Json:
    """Since when it is Ready may change: of a pod that is younger than a session, an operator that has just started
    cannot tell for a moment whether it is the one that joined (docs/adr/0005)."""
    status = cluster.status(NAME)
    conditions = {
        each["type"]: (each["status"], "" if each["type"] == "Ready" else each["lastTransitionTime"])
        for each in status["conditions"]
    }
    return {"conditions": conditions, **{name: status[name] for name in KEPT if name in status}}


def roll_out(running: Running, version: str) -> None:
    """Each pod is replaced, by who leads now; until nothing more is to be done."""
    before = {uid(pod) for pod in running.cluster.pods(NAME)}
    running.cluster.apply(with_env(running.group, VERSION=version))
    running.cluster.wait_complete(NAME)
    running.cluster.wait_phase(NAME, "Ready")
    wait_for("the StatefulSet to be held where it is", lambda: is_parked(running.cluster))
    since = {uid(pod) for pod in running.cluster.pods(NAME)}
    assert len(since) == REPLICAS
    assert not since & before


def is_parked(cluster: Cluster) -> bool:
    """The last thing done in a rollout (F26)."""
    update = (cluster.get("sts", NAME) or {})["spec"]["updateStrategy"]
    return bool(update["rollingUpdate"]["partition"] == REPLICAS)


def uid(obj: Json | None) -> str:
    return str((obj or {})["metadata"]["uid"])


def revision(pod: Json) -> str:
    return str(pod["metadata"]["labels"]["controller-revision-hash"])


def restarts(pod: Json) -> list[int]:
    return [container["restartCount"] for container in pod["status"]["containerStatuses"]]
