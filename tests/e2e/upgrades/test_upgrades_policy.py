"""Brokers that let a group go to KIP-848 but not back: a way back would strand members, so it is not begun."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator

import pytest

from tests.adapters.kafka.own_broker import own_broker
from tests.e2e.stage.audit import operator_writes
from tests.e2e.stage.groups import PARTITIONS, connection
from tests.e2e.stage.kafka import Kafka
from tests.e2e.stage.stage import Stage
from tests.e2e.upgrades.upgrades import RDKAFKA, upgrade, with_target

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(400)]

NAME = "oneway"
ONE_WAY = {"group.consumer.migration.policy": "upgrade"}


@pytest.fixture(scope="module")
def one_way(stage: Stage, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    """The stage with brokers of its own, which only let groups upgrade."""
    address = _address_towards(stage.kafka.bootstrap_servers)
    with own_broker(tmp_path_factory.mktemp("one-way"), ONE_WAY, host=address) as bootstrap_servers:
        kafka = Kafka(bootstrap_servers)
        kafka.make_topic(stage.topic, PARTITIONS)
        stage.cluster.apply(connection(bootstrap_servers, "one-way"))
        yield Stage(stage.cluster, kafka, stage.topic, stage.operator, stage.recorder)
        stage.cluster.kubectl("delete", "cg", NAME)


def _address_towards(servers: str) -> str:
    """The address of this machine that pods reach as they reach the brokers."""
    host, _, port = servers.split(",", maxsplit=1)[0].rpartition(":")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect((host, int(port)))
        address: str = probe.getsockname()[0]
        return address


def test_up_but_not_down(one_way: Stage) -> None:
    cluster = one_way.cluster
    group = one_way.group(
        NAME, replicas=1, client=RDKAFKA, connectionRef={"name": "one-way"}, protocol={"target": "Eager"}
    )
    one_way.create(group)
    upgraded = upgrade(one_way, with_target(group, "Consumer"))[NAME]
    assert upgraded.moves() == set()

    pods = [pod["metadata"]["uid"] for pod in cluster.pods(NAME)]
    asked_at = time.time()
    cluster.apply(group)
    said = cluster.wait_condition(NAME, "ProtocolUpgrade", "False", "MigrationPolicyForbids")
    assert "group.consumer.migration.policy" in said["message"]
    assert "bidirectional" in said["message"]
    one_way.look_again(NAME)
    assert operator_writes(cluster.namespace, "statefulsets", NAME, asked_at) == []
    assert [pod["metadata"]["uid"] for pod in cluster.pods(NAME)] == pods
