"""Three brokers, of which the one that coordinates the group restarts in the middle of a rollout: it ends."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from confluent_kafka.admin import AdminClient

from tests.adapters.kafka.own_broker import OwnBroker
from tests.conftest import ROOT
from tests.e2e.kubernetes.halfway import begin, gave_up, most_down, restarts, wait_rolled_out
from tests.e2e.kubernetes.own_brokers import restart, three_brokers
from tests.e2e.stage.groups import REPLICAS
from tests.e2e.stage.stage import Stage, staged

pytestmark = [pytest.mark.e2e, pytest.mark.quiet, pytest.mark.long, pytest.mark.minutes(4), pytest.mark.timeout(600)]


@dataclass(frozen=True, slots=True)
class Place:
    stage: Stage
    brokers: list[OwnBroker]


@pytest.fixture(scope="module")
def place(crds: None, kubeconfig: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    with three_brokers(tmp_path_factory.mktemp("brokers")) as brokers:
        servers = ",".join(each.bootstrap_servers for each in brokers)
        directory = ROOT / "build" / "e2e" / "three_brokers"
        with staged("three_brokers", kubeconfig, servers, directory) as stage:
            yield Place(stage, brokers)


def test_the_coordinator_restarts_in_a_rollout(place: Place) -> None:
    stage = place.stage
    group = stage.group("orders")
    stage.create(group)
    began = begin(stage, group)
    restart(place.brokers[coordinator(stage, "orders") - 1])
    wait_rolled_out(stage, "orders")
    assert gave_up(stage, "orders", began) == []
    assert most_down(stage, "orders", began) == 1
    assert restarts(stage, "orders", began) == {f"orders-{ordinal}": 1 for ordinal in range(REPLICAS)}


def coordinator(stage: Stage, name: str) -> int:
    """Its number."""
    admin = AdminClient({"bootstrap.servers": stage.kafka.bootstrap_servers, "log_level": 0})
    group_id = stage.group_id(name)
    found: int = admin.describe_consumer_groups([group_id])[group_id].result(20.0).coordinator.id
    return found
