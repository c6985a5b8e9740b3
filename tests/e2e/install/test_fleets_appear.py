"""A chart without ConsumerFleets and FleetCampaigns, upgraded to one with them: nobody waits, and nothing is written.

On an API server of its own, since types are of a whole cluster: there is no node, so the group has no pod. The operator
is today's all along, first without the types, then with them, then as another process: an upgrade of the chart makes
new types and new pods. That no pod moves when the chart is upgraded is in `test_chart_upgrade`, what Helm does to types
in `test_crd_upgrade`, and the same over fakes in `tests/shell/test_kinds_appear`.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Final
from uuid import uuid4

import pytest

from tests.adapters.kafka.own_broker import free_ports
from tests.chart.helm import CHART
from tests.e2e.install.releases import FLEET_KINDS, Release, chart_without_fleets
from tests.e2e.stage.audit import Write, all_writes
from tests.e2e.stage.cluster import Cluster, Json
from tests.e2e.stage.groups import PARTITIONS, connection, consumer_group
from tests.e2e.stage.kafka import Kafka
from tests.e2e.stage.operator import OperatorProcess
from tests.e2e.stage.own_api_server import OwnApiServer, own_api_server
from tests.e2e.stage.rights import RELEASE, account_kubeconfig
from tests.e2e.stage.waiting import wait_for

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(300)]

NAME: Final = "orders"
HOME: Final = "operations"
TEAM: Final = "team-a"
_PASSES: Final = re.compile(r'^slackwater_reconciles_total\{result="ok"\} ([0-9.]+)$', re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Upgraded:
    server: OwnApiServer
    release: Release
    operator: OperatorProcess
    team: Cluster

    def writes(self, since: float) -> list[Write]:
        """Of the operator, but for its Lease."""
        found = all_writes(HOME, since, self.server.audit_log)
        return [write for write in found if write.resource != "leases"]

    def looks_again(self, label: str) -> None:
        """Somebody labels the group, and the operator has looked at it since."""
        before = passes(self.operator)
        self.team.kubectl("label", "cg", NAME, f"looked-at={label}", "--overwrite")
        wait_for("a pass", lambda: passes(self.operator) > before, 60.0, self.operator.log_tail)


@pytest.fixture(scope="module")
def before(sandbox_up: None, bootstrap_servers: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Upgraded]:
    """An operator that leads in a cluster without fleets, and a group that it has made."""
    folder = tmp_path_factory.mktemp("without-fleets")
    kafka, topic = Kafka(bootstrap_servers), f"e2e-fleets-appear-{uuid4().hex[:6]}"
    with ExitStack() as stack:
        kafka.make_topic(topic, PARTITIONS)
        stack.callback(kafka.remove_topics_of, topic)
        server = stack.enter_context(own_api_server(folder))
        home, team = Cluster(server.kubeconfig, HOME), Cluster(server.kubeconfig, TEAM)
        for each in (home, team):
            each.kubectl("create", "namespace", each.namespace)
        release = Release(home, wait="--wait=hookOnly")
        release.install(chart_without_fleets(folder))
        (port,) = free_ports("127.0.0.1")
        environment = {
            "SLACKWATER_LEASE": f"{HOME}/{RELEASE}-leader",
            "SLACKWATER_LEASE_S": "3",
            "SLACKWATER_POD_NAMESPACE": HOME,
        }
        operator = OperatorProcess(account_kubeconfig(home, folder), folder / "operator.log", environment, port)
        operator.start()
        stack.callback(operator.kill)
        operator.wait_ready()
        team.apply(connection(bootstrap_servers), consumer_group(team, NAME, topic, replicas=0))
        wait_for("the StatefulSet", lambda: team.get("sts", NAME), 60.0, operator.log_tail)
        taken_up = {"status": {"replicas": 0, "observedGeneration": 1, "currentRevision": "r", "updateRevision": "r"}}
        # There is no controller that would say so.
        team.kubectl("patch", "sts", NAME, "--subresource=status", "--type=merge", "-p", json.dumps(taken_up))
        yield Upgraded(server, release, operator, team)


def test_without_the_types_a_group_waits_for_nobody(before: Upgraded) -> None:
    assert [kind for kind in FLEET_KINDS if has_type(before.team, kind)] == []
    before.team.wait_phase(NAME, "Ready")
    assert "turn" not in before.team.status(NAME).get("rollout", {})


def test_types_that_appear_write_nothing_and_make_nobody_wait(before: Upgraded) -> None:
    before.looks_again("without")
    since, was = time.time(), kept(before.team)
    before.release.upgrade(CHART)
    for kind in FLEET_KINDS:
        before.team.kubectl("wait", "--for=condition=Established", "--timeout=60s", f"crd/{kind}.slackwater.dev")
    before.looks_again("with")
    before.operator.kill()
    before.operator.start()
    before.operator.wait_ready()
    before.looks_again("again")
    assert before.writes(since) == []
    assert kept(before.team) == was


def has_type(cluster: Cluster, plural: str) -> bool:
    return bool(cluster.kubectl("get", "crd", f"{plural}.slackwater.dev", "-o", "name", "--ignore-not-found"))


def passes(operator: OperatorProcess) -> float:
    found = _PASSES.search(operator.metrics())
    return float(found[1]) if found else 0.0


def kept(cluster: Cluster) -> Json:
    group, workload = cluster.get("cg", NAME) or {}, cluster.get("sts", NAME) or {}
    return {"status": group["status"], "StatefulSet": workload["metadata"]["generation"]}
