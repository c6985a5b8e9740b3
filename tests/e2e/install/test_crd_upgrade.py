"""The resource types over an upgrade of the chart, a rollback and an uninstall: no object goes, nor its status.

On an API server of its own: a type that changes ends every watch of its objects, whoever they belong to. There is no
operator: what Helm does to the types is tried here, and what operators do meanwhile in `test_chart_upgrade`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest

from tests.chart.helm import CHART
from tests.e2e.install.releases import Release, chart_before
from tests.e2e.stage.cluster import Cluster, Json
from tests.e2e.stage.groups import CONNECTION, connection, consumer_group
from tests.e2e.stage.own_api_server import own_api_server

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(240)]

NAME: Final = "orders"
GROUPS, CONNECTIONS = "consumergroups.slackwater.dev", "kafkaconnections.slackwater.dev"
OBJECTIVE: Final = {"timeouts": {"objective": {"recoverWithin": "60s"}}}
STATUS: Final = {"observedGeneration": 1, "phase": "Ready", "rollout": {"phase": "Complete"}}


@dataclass(frozen=True, slots=True)
class Installed:
    release: Release
    before: Path
    """The chart that stands for the release before."""
    objects: Json
    """As they were at first."""

    @property
    def cluster(self) -> Cluster:
        return self.release.cluster


@pytest.fixture(scope="module")
def installed(sandbox_up: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installed]:
    """The release before, a connection, and a group with a status."""
    folder = tmp_path_factory.mktemp("types")
    before = chart_before(folder)
    with own_api_server(folder) as server:
        release = Release(Cluster(server.kubeconfig, "operations"), wait="--wait=hookOnly")
        cluster = release.cluster
        cluster.kubectl("create", "namespace", cluster.namespace)
        release.install(before)
        cluster.kubectl("wait", "--for=condition=Established", "--timeout=60s", f"crd/{GROUPS}", f"crd/{CONNECTIONS}")
        cluster.apply(connection("broker:9092"), consumer_group(cluster, NAME, "orders"))
        cluster.kubectl(
            "patch", "cg", NAME, "--subresource=status", "--type=merge", "-p", json.dumps({"status": STATUS})
        )
        yield Installed(release, before, objects(cluster))


def test_an_upgrade_brings_the_types_up_to_date(installed: Installed) -> None:
    assert not has_objective(installed), "the release before knows it already"
    installed.release.upgrade(CHART)
    assert objects(installed.cluster) == installed.objects
    assert has_objective(installed)


def test_a_rollback_takes_back_the_types_and_no_object(installed: Installed) -> None:
    """Even of a group that has a field which the release before does not know."""
    installed.release.rollback()
    assert objects(installed.cluster) == installed.objects
    assert not has_objective(installed)


def test_an_uninstall_leaves_the_types_and_their_objects(installed: Installed) -> None:
    installed.release.uninstall()
    assert installed.cluster.get("cg", NAME) is not None
    assert installed.cluster.kubectl("get", "deployments", "-o", "name") == ""
    assert objects(installed.cluster) == installed.objects


def test_what_is_installed_again_finds_them(installed: Installed) -> None:
    installed.release.install(CHART)
    assert objects(installed.cluster) == installed.objects
    assert has_objective(installed)


def has_objective(installed: Installed) -> bool:
    """Whether the type has the field that a group is given here, in so far as it has it."""
    installed.cluster.patch("cg", NAME, {"spec": OBJECTIVE})
    group = installed.cluster.get("cg", NAME) or {}
    return "objective" in group["spec"]["timeouts"]


def objects(cluster: Cluster) -> Json:
    """What has another value if anything was made again, or was written to; but for what is asked of the group."""
    group, found = cluster.get("cg", NAME) or {}, cluster.get("kafkaconnections", CONNECTION) or {}
    types = [cluster.kubectl("get", "crd", name, "-o", "jsonpath={.metadata.uid}") for name in (GROUPS, CONNECTIONS)]
    return {
        "group": (group["metadata"]["uid"], group["status"]),
        "connection": (found["metadata"]["uid"], found["metadata"]["resourceVersion"], found["spec"]),
        "types": types,
    }
