"""The operator of all namespaces does with the chart's ClusterRole, on an API server that nobody else has groups on.

No pod ever starts there, so this is about what differs from `test_rights_used`: reading at the scope of the cluster,
and the one right that no request takes, which the operator needs where the API server's administrator wants it so.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Final

import pytest

from tests.adapters.kafka.own_broker import free_ports
from tests.chart.helm import CHART, helm
from tests.e2e.rights.used_rights import OF_ADMISSION, forbidden, granted, used
from tests.e2e.stage.audit_log import Event, events_of
from tests.e2e.stage.cluster import Cluster, Json
from tests.e2e.stage.groups import connection, consumer_group
from tests.e2e.stage.operator import OperatorProcess
from tests.e2e.stage.own_api_server import OwnApiServer, own_api_server
from tests.e2e.stage.rights import RELEASE, account_kubeconfig
from tests.e2e.stage.waiting import wait_for

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(240)]

NAME: Final = "orders"
HOME: Final = "operations"
SHARED: Final = "shared"
READING: Final = ("list", "watch")


@dataclass(frozen=True, slots=True)
class Everywhere:
    server: OwnApiServer
    operator: OperatorProcess

    def namespace(self, name: str) -> Cluster:
        return Cluster(self.server.kubeconfig, name)

    def requests(self) -> list[Event]:
        return events_of(f"{HOME}:{RELEASE}", 0.0, self.server.audit_log)


@pytest.fixture(scope="module")
def everywhere(sandbox_up: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Everywhere]:
    """An operator that reads the whole cluster, in which there is no group yet."""
    folder = tmp_path_factory.mktemp("everywhere")
    with ExitStack() as stack:
        server = stack.enter_context(own_api_server(folder))
        home = Cluster(server.kubeconfig, HOME)
        home.kubectl("create", "namespace", HOME)
        helm("install", RELEASE, str(CHART), f"--namespace={HOME}", kubeconfig=server.kubeconfig)
        environment = {
            "SLACKWATER_LEASE": f"{HOME}/{RELEASE}-leader",
            "SLACKWATER_LEASE_S": "3",
            "SLACKWATER_POD_NAMESPACE": HOME,
        }
        (port,) = free_ports("127.0.0.1")
        account = account_kubeconfig(home, folder)
        operator = OperatorProcess(account, folder / "operator.log", environment, port)
        operator.start()
        stack.callback(operator.kill)
        operator.wait_ready()
        yield Everywhere(server, operator)


def test_it_works_in_every_namespace(everywhere: Everywhere, bootstrap_servers: str) -> None:
    for name in ("team-a", "team-b"):
        make_group(everywhere.namespace(name), bootstrap_servers)
        wait_made(everywhere, name)
    everywhere.namespace("team-b").kubectl("delete", "cg", NAME, "--timeout=60s")
    assert forbidden(everywhere.requests()) == []


def test_it_reads_in_all_of_them_at_once(everywhere: Everywhere) -> None:
    """And each kind that it is allowed to, but for Events: those are asked for where a pod is missing."""
    clusterwide = [each for each in everywhere.requests() if "namespace" not in each.get("objectRef", {})]
    allowed = granted(RELEASE, HOME, everywhere.server.kubeconfig)
    assert used(clusterwide) == {right for right in allowed if right.verb in READING and right.resource != "events"}
    assert sorted(map(str, used(everywhere.requests()) - allowed)) == []


def test_without_the_right_that_admission_asks_for_nothing_is_made(
    everywhere: Everywhere, bootstrap_servers: str
) -> None:
    home = everywhere.namespace(HOME)
    role = json.loads(home.kubectl("get", "clusterrole", RELEASE, "-o", "json"))
    resource = OF_ADMISSION.resource.partition(".")[0]
    rules = [rule for rule in role["rules"] if resource not in rule["resources"]]
    assert len(rules) == len(role["rules"]) - 1
    home.patch("clusterrole", RELEASE, {"rules": rules})
    make_group(everywhere.namespace("team-c"), bootstrap_servers)
    refused = wait_for(
        "a refusal", lambda: forbidden(everywhere.requests()) or None, 60.0, everywhere.operator.log_tail
    )
    assert any("/namespaces/team-c/" in each for each in refused), refused
    home.patch("clusterrole", RELEASE, {"rules": role["rules"]})
    wait_made(everywhere, "team-c")


def test_a_cluster_connection_serves_the_namespaces_that_it_names(
    everywhere: Everywhere, bootstrap_servers: str
) -> None:
    """And tells whether Kafka answers; a namespace that is named later is served from then on."""
    home, mine, other = map(everywhere.namespace, (HOME, "team-d", "team-e"))
    before = forbidden(everywhere.requests())
    home.apply(cluster_connection(bootstrap_servers, mine))
    for team in (mine, other):
        team.kubectl("create", "namespace", team.namespace)
        reference = {"kind": "ClusterKafkaConnection", "name": SHARED}
        team.apply(consumer_group(team, NAME, team.namespace, connectionRef=reference))
    wait_made(everywhere, mine.namespace)
    held = wait_for("it to hold", lambda: held_for(other, "GroupNotAllowed"), 60.0, everywhere.operator.log_tail)
    assert f"ClusterKafkaConnection {SHARED} is not for namespace {other.namespace}" in held["message"]
    assert other.get("sts", NAME) is None
    assert reason_of_connection(home) == "Connected"
    assert forbidden(everywhere.requests()) == before
    home.apply(cluster_connection(bootstrap_servers, mine, other))
    wait_made(everywhere, other.namespace)
    other.kubectl("delete", "cg", NAME, "--timeout=60s")


def cluster_connection(bootstrap_servers: str, *teams: Cluster) -> Json:
    tenants = [{"namespaces": [team.namespace], "groups": [f"{team.namespace}-"]} for team in teams]
    made = connection(bootstrap_servers, SHARED, tenants=tenants)
    return made | {"kind": "ClusterKafkaConnection"}


def held_for(cluster: Cluster, reason: str) -> Json | None:
    conditions = ((cluster.get("cg", NAME) or {}).get("status") or {}).get("conditions") or ()
    return next((each for each in conditions if each["reason"] == reason), None)


def reason_of_connection(cluster: Cluster) -> str:
    path = '{.status.conditions[?(@.type=="Ready")].reason}'
    return cluster.kubectl("get", "clusterkafkaconnection", SHARED, "-o", f"jsonpath={path}")


def make_group(cluster: Cluster, bootstrap_servers: str) -> None:
    cluster.kubectl("create", "namespace", cluster.namespace)
    cluster.apply(connection(bootstrap_servers), consumer_group(cluster, NAME, cluster.namespace))


def wait_made(everywhere: Everywhere, namespace: str) -> None:
    cluster = everywhere.namespace(namespace)
    what = f"the StatefulSet in {namespace}"
    wait_for(what, lambda: cluster.get("sts", NAME) is not None, 60.0, everywhere.operator.log_tail)
