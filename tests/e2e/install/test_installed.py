"""The operator as users have it: installed by Helm, a pod of its own image, under its own service account."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from uuid import uuid4

import pytest

from tests.chart.helm import CHART, helm
from tests.e2e.stage.cluster import Cluster
from tests.e2e.stage.groups import PARTITIONS, connection, consumer_group, with_env
from tests.e2e.stage.kafka import Kafka
from tests.e2e.stage.waiting import wait_for

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(240)]

RELEASE = "slackwater"
NAME = "orders"


@pytest.fixture(scope="module")
def installed(crds: None, kubeconfig: Path, bootstrap_servers: str) -> Iterator[Cluster]:
    """A restricted namespace with the release, a topic under load and a connection."""
    cluster = Cluster(kubeconfig, f"e2e-installed-{uuid4().hex[:6]}")
    kafka = Kafka(bootstrap_servers)
    values = (f"watchNamespaces={{{cluster.namespace}}}", "replicas=1", "image.tag=dev", "crds.install=false")
    settings = (f"--namespace={cluster.namespace}", *(f"--set={value}" for value in values))
    with ExitStack() as stack:
        cluster.kubectl("create", "namespace", cluster.namespace)
        stack.callback(cluster.kubectl, "delete", "namespace", cluster.namespace, "--wait=false")
        cluster.kubectl("label", "namespace", cluster.namespace, "pod-security.kubernetes.io/warn=restricted")
        kafka.make_topic(cluster.namespace, PARTITIONS)
        stack.callback(kafka.remove_topics_of, cluster.namespace)
        stack.callback(kafka.remove_groups, f"{cluster.namespace}-")
        stack.enter_context(kafka.load(cluster.namespace, 5.0))
        helm("install", RELEASE, str(CHART), *settings, "--wait", "--timeout=90s", kubeconfig=kubeconfig)
        stack.callback(helm, "uninstall", RELEASE, f"--namespace={cluster.namespace}", kubeconfig=kubeconfig)
        cluster.apply(connection(bootstrap_servers))
        yield cluster
        cluster.kubectl("delete", "cg", "--all", "--timeout=90s")


def operator_pod(cluster: Cluster) -> str:
    selector = f"app.kubernetes.io/instance={RELEASE}"
    return cluster.kubectl("get", "pods", "-l", selector, "-o", "jsonpath={.items[0].metadata.name}")


def test_a_group_is_created_and_rolled_by_the_installed_operator(installed: Cluster) -> None:
    group = consumer_group(installed, NAME, installed.namespace)
    installed.apply(group)
    installed.wait_complete(NAME)
    before = {pod["metadata"]["uid"] for pod in installed.pods(NAME)}

    installed.apply(with_env(group, VERSION="2"))
    installed.wait_complete(NAME)

    after = {pod["metadata"]["uid"] for pod in installed.pods(NAME)}
    assert len(after) == len(before)
    assert not after & before
    told = {"Created", "RolloutStarted", "RestartingPod", "RolloutComplete"}
    wait_for(f"Events of {told}", lambda: told <= {event["reason"] for event in installed.events(NAME)}, 60.0)


def test_the_operator_answers_its_probes_and_shows_metrics(installed: Cluster) -> None:
    service = f"/api/v1/namespaces/{installed.namespace}/services/{RELEASE}-metrics:http/proxy"
    assert installed.kubectl("get", "--raw", f"{service}/healthz") == "ok"
    assert installed.kubectl("get", "--raw", f"{service}/readyz") == "ok"
    metrics = wait_for(
        "the group's lag among the metrics",
        lambda: (
            (text := installed.kubectl("get", "--raw", f"{service}/metrics"))
            and "slackwater_group_lag{" in text
            and text
        ),
    )
    assert 'slackwater_reconciles_total{result="ok"}' in str(metrics)


def test_the_operator_logs_json_and_has_not_been_restarted(installed: Cluster) -> None:
    pod = installed.get("pods", operator_pod(installed)) or {}
    assert [status["restartCount"] for status in pod["status"]["containerStatuses"]] == [0]
    lines = installed.kubectl("logs", operator_pod(installed)).splitlines()
    assert any('"reason": "RolloutComplete"' in line for line in lines)
    assert all(line.startswith("{") for line in lines)
