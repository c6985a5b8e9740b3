"""Two Kubernetes clusters on one Kafka, as for fail-over: the same ConsumerGroup in both, and an operator in each.

The second one is an API server without a node, so that no pod of its own could do what its operator must not.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Final

import pytest

from tests.adapters.kafka.own_broker import free_ports
from tests.conftest import ROOT
from tests.e2e.stage.cluster import Cluster, Json
from tests.e2e.stage.groups import with_env
from tests.e2e.stage.kafka import Sighting
from tests.e2e.stage.operator import OperatorProcess
from tests.e2e.stage.own_api_server import own_api_server
from tests.e2e.stage.stage import Stage
from tests.e2e.stage.waiting import wait_for

pytestmark = [pytest.mark.e2e, pytest.mark.minutes(2), pytest.mark.timeout(600)]

NAME: Final = "orders"


@dataclass(frozen=True)
class Second:
    """The other cluster: its namespace is called as the first one's."""

    cluster: Cluster
    operator: OperatorProcess

    def wait_held(self) -> Json:
        return self.cluster.wait_condition(NAME, "RolloutGated", "True", "InstanceIdsInUse", 60.0)

    def replicas(self) -> int | None:
        """Of its StatefulSet; None where there is none."""
        made = self.cluster.get("sts", NAME)
        return None if made is None else int(made["spec"]["replicas"])


@pytest.fixture(scope="module")
def second(stage: Stage, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Second]:
    folder = tmp_path_factory.mktemp("second")
    with ExitStack() as stack:
        server = stack.enter_context(own_api_server(folder))
        cluster = Cluster(server.kubeconfig, stage.cluster.namespace)
        cluster.kubectl("create", "namespace", cluster.namespace)
        cluster.kubectl("apply", "--server-side", "-f", str(ROOT / "crds"))
        (port,) = free_ports("127.0.0.1")
        environment = {"SLACKWATER_NAMESPACE": cluster.namespace}
        operator = OperatorProcess(server.kubeconfig, folder / "operator.log", environment, port)
        operator.start()
        stack.callback(operator.kill)
        operator.wait_ready()
        yield Second(cluster, operator)


@pytest.fixture(scope="module")
def group(stage: Stage) -> Json:
    """Short sessions: they are what a fail-over waits for."""
    return with_env(stage.group(NAME, timeouts={"session": "6s"}, deletionPolicy="DeleteGroup"))


@pytest.fixture(scope="module")
def living(stage: Stage, group: Json) -> Sighting:
    """The group as it runs in the first cluster."""
    stage.create(group)
    return stage.kafka.look(stage.group_id(NAME))


def copied(stage: Stage, second: Second, group: Json) -> None:
    """As a backup of the namespace brings it: connection and group."""
    found = stage.cluster.get("kafkaconnection", "main")
    assert found is not None
    kept = {key: found[key] for key in ("apiVersion", "kind", "spec")}
    second.cluster.apply({**kept, "metadata": {"name": "main"}}, group)


def test_the_second_waits_while_the_first_lives_and_says_who_is_in_the_way(
    stage: Stage, second: Second, group: Json, living: Sighting
) -> None:
    copied(stage, second, group)
    message = second.wait_held()["message"]
    assert f"{NAME}-0" in message
    assert "another Kubernetes cluster" in message
    assert second.replicas() in (None, 0)
    assert stage.kafka.look(stage.group_id(NAME)).members == living.members


def test_a_restart_of_its_operator_changes_nothing(stage: Stage, second: Second, living: Sighting) -> None:
    second.operator.kill()
    second.operator.start()
    second.operator.wait_ready()
    second.wait_held()
    assert second.replicas() in (None, 0)
    assert stage.kafka.look(stage.group_id(NAME)).members == living.members


def test_deleting_the_copy_takes_nobody_out_and_loses_no_offset(
    stage: Stage, second: Second, group: Json, living: Sighting
) -> None:
    before = stage.kafka.committed(stage.group_id(NAME))
    assert before
    second.cluster.kubectl("delete", "cg", NAME, "--wait=false")
    wait_for("the copy to be gone or to wait", lambda: draining(second), 60.0, second.operator.log_tail)
    seen = stage.kafka.look(stage.group_id(NAME))
    assert seen.members == living.members
    after = stage.kafka.committed(stage.group_id(NAME))
    assert all(after[partition] >= offset for partition, offset in before.items())


def draining(second: Second) -> bool:
    """It is gone at once where its policy lets the group be, and else says what it waits for."""
    left = second.cluster.get("cg", NAME)
    return left is None or any(each["reason"] == "Draining" for each in left["status"]["conditions"])


def test_once_the_first_is_gone_the_second_takes_over(stage: Stage, second: Second, group: Json) -> None:
    """Its operator and its pods ended without a word, as with a data centre: sessions end, and offsets stay."""
    before = stage.kafka.committed(stage.group_id(NAME))
    with stage.operator.stopped():
        stage.cluster.kubectl("delete", "sts", NAME, "--cascade=foreground", "--timeout=60s")
        if second.cluster.get("cg", NAME) is None:
            copied(stage, second, group)
        wait_for("pods to be asked for", lambda: second.replicas() == 3, 120.0, second.operator.log_tail)
        after = stage.kafka.committed(stage.group_id(NAME))
        assert all(after[partition] >= offset for partition, offset in before.items())
        second.cluster.kubectl("delete", "cg", NAME, "--timeout=60s")
