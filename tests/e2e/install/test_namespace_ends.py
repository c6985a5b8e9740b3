"""One of two watched namespaces is deleted with a group in it: it ends, and the other is looked after as before."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from uuid import uuid4

import pytest

from tests.chart.helm import CHART
from tests.e2e.install.releases import Release
from tests.e2e.stage.cluster import Cluster
from tests.e2e.stage.groups import PARTITIONS, connection, consumer_group, with_env
from tests.e2e.stage.kafka import Kafka
from tests.e2e.stage.rights import RELEASE
from tests.e2e.stage.stage import remove_groups
from tests.e2e.stage.waiting import wait_for

pytestmark = [pytest.mark.e2e, pytest.mark.long, pytest.mark.minutes(3), pytest.mark.timeout(480)]

NAME: Final = "orders"
ENDS_WITHIN_S: Final = 180.0
"""The operator's minute, in which its rights may come back, and what the namespace's controller takes."""


@dataclass(frozen=True, slots=True)
class Watched:
    release: Release
    home: Cluster
    doomed: Cluster

    def metrics(self) -> str:
        service = f"/api/v1/namespaces/{self.home.namespace}/services/{RELEASE}-metrics:http/proxy"
        return self.home.kubectl("get", "--raw", f"{service}/metrics", check=False)

    def is_refused(self) -> bool:
        return f'slackwater_namespace_refused{{namespace="{self.doomed.namespace}"}} 1.0' in self.metrics()

    def restart_operator(self) -> None:
        self.home.kubectl("rollout", "restart", f"deployment/{RELEASE}")
        self.home.kubectl("rollout", "status", f"deployment/{RELEASE}", "--timeout=90s")


@pytest.fixture(scope="module")
def watched(crds: None, kubeconfig: Path, bootstrap_servers: str) -> Iterator[Watched]:
    """An operator of two namespaces, with a group that runs in each."""
    name = f"e2e-ends-{uuid4().hex[:6]}"
    home, doomed = Cluster(kubeconfig, name), Cluster(kubeconfig, f"{name}-doomed")
    kafka = Kafka(bootstrap_servers)
    settings = (f"watchNamespaces={{{home.namespace},{doomed.namespace}}}", "replicas=1", "image.tag=dev")
    with ExitStack() as stack:
        for cluster in (home, doomed):
            cluster.kubectl("create", "namespace", cluster.namespace)
            stack.callback(cluster.kubectl, "delete", "namespace", cluster.namespace, "--wait=false", check=False)
        kafka.make_topic(name, PARTITIONS)
        stack.callback(kafka.remove_topics_of, name)
        stack.callback(kafka.remove_groups, name)
        stack.enter_context(kafka.load(name, 5.0))
        release = Release(home, (*settings, "crds.install=false"))
        release.install(CHART)
        stack.callback(release.uninstall)
        stack.callback(remove_groups, home)
        for cluster in (home, doomed):
            cluster.apply(connection(bootstrap_servers), consumer_group(cluster, NAME, name, replicas=2))
        for cluster in (home, doomed):
            cluster.wait_complete(NAME)
        yield Watched(release, home, doomed)


def test_rights_that_are_withdrawn_in_one_namespace_stop_nobody_in_the_other(watched: Watched) -> None:
    """By whoever removes the RoleBinding there; the operator starts without it, and finds it when it is back."""
    home = watched.home
    watched.doomed.kubectl("delete", "rolebinding", RELEASE)
    watched.restart_operator()
    wait_for("the namespace to be named", watched.is_refused, 60.0)
    home.apply(with_env(consumer_group(home, NAME, home.namespace, replicas=2), VERSION="withdrawn"))
    home.wait_complete(NAME)
    watched.release.upgrade(CHART)
    wait_for("nobody to be refused", lambda: not watched.is_refused(), 60.0)


def test_a_namespace_that_is_deleted_ends_and_takes_nobody_along(watched: Watched) -> None:
    home, doomed = watched.home, watched.doomed
    doomed.kubectl("delete", "namespace", doomed.namespace, "--wait=false")
    wait_for("the Role to be gone", lambda: not has_role(doomed), 60.0)

    watched.restart_operator()  # one that starts now may not list that namespace

    wait_for("the namespace to be named", watched.is_refused, 60.0)
    group = consumer_group(home, NAME, home.namespace, replicas=2)
    home.apply(with_env(group, VERSION="2"))
    home.wait_complete(NAME)
    wait_for("the namespace to be gone", lambda: not exists(doomed), ENDS_WITHIN_S)


def test_a_namespace_that_comes_back_with_its_role_is_looked_after_again(
    watched: Watched, bootstrap_servers: str
) -> None:
    home, again = watched.home, watched.doomed
    again.kubectl("create", "namespace", again.namespace)
    watched.release.upgrade(CHART)
    again.apply(connection(bootstrap_servers), consumer_group(again, NAME, home.namespace, replicas=2))
    again.wait_complete(NAME)
    wait_for("nobody to be refused", lambda: not watched.is_refused(), 60.0)
    remove_groups(again)


def has_role(cluster: Cluster) -> bool:
    return cluster.kubectl("get", "rolebinding", RELEASE, "--ignore-not-found").strip() != ""


def exists(cluster: Cluster) -> bool:
    return cluster.kubectl("get", "namespace", cluster.namespace, "--ignore-not-found").strip() != ""
