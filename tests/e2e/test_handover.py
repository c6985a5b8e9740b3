"""A warm rollout on a real cluster: what it costs, by what every consumer was given."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from sandbox.workload import deliveries
from sandbox.workload.delivery_log import MAX_AGE_S
from sandbox.workload.topics import create_topic
from tests.e2e.cluster import Json
from tests.e2e.groups import PARTITIONS, REPLICAS, with_env
from tests.e2e.stage import LOAD_PER_PARTITION, Stage
from tests.e2e.waiting import wait_for

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(400)]

NAME = "warm"
OF_EACH_MEMBER = LOAD_PER_PARTITION * PARTITIONS / REPLICAS
"""Messages a second."""


@dataclass(frozen=True)
class Cost:
    rebalances: int
    measured: deliveries.Measurement


def group(stage: Stage, **env: str) -> Json:
    made = stage.group(NAME, rollout={"strategy": "WarmHandover", "onFailure": "Rollback", "rejoinTimeout": "40s"})
    return with_env(made, DELIVERIES_TOPIC=topic_of(stage), **env)


def topic_of(stage: Stage) -> str:
    return f"{stage.topic}-deliveries"


def names(stage: Stage) -> list[str]:
    return sorted(pod["metadata"]["name"] for pod in stage.cluster.pods(NAME))


def rolled_out(stage: Stage, phase: str, **env: str) -> Cost:
    began = time.time()
    stage.cluster.apply(group(stage, **env))
    stage.cluster.wait_phase(NAME, phase, 240.0)
    wait_for("one StatefulSet", lambda: len(sets(stage)) == 1)
    ended = time.time()
    wait_for("what was delivered to be recorded", lambda: time.time() > ended + 2 * MAX_AGE_S)
    rows = deliveries.read({"bootstrap.servers": stage.kafka.bootstrap_servers}, topic_of(stage), int(began * 1000))
    measured = deliveries.measure(rows, PARTITIONS, int(began * 1000), int(ended * 1000))
    return Cost(stage.kafka.rebalances(stage.group_id(NAME), began, ended), measured)


def sets(stage: Stage) -> list[str]:
    found = stage.cluster.api.list_all("statefulsets", stage.cluster.namespace)[0]
    return sorted(each["metadata"]["name"] for each in found)


@pytest.fixture(scope="module")
def running(stage: Stage) -> Iterator[Stage]:
    create_topic(stage.kafka.bootstrap_servers, topic_of(stage), 1)
    stage.create(group(stage))
    yield stage


@pytest.mark.parametrize(("seconds", "version", "workload"), [("4", "2", f"{NAME}-alt"), ("12", "3", NAME)])
def test_neither_a_rebalance_nor_an_idle_partition(running: Stage, seconds: str, version: str, workload: str) -> None:
    cost = rolled_out(running, "Ready", VERSION=version, START_DELAY_SECONDS=seconds)
    assert names(running) == [f"{workload}-{ordinal}" for ordinal in range(REPLICAS)]
    assert (cost.rebalances, cost.measured.missing) == (0, 0)
    assert cost.measured.idle_partition_seconds == 0, cost
    assert cost.measured.duplicates <= REPLICAS * OF_EACH_MEMBER, cost


def test_a_version_that_never_joins_is_taken_back_and_nothing_was_idle(running: Stage) -> None:
    before = names(running)
    cost = rolled_out(running, "RolledBack", VERSION="never", NEVER_JOIN="1")
    assert names(running) == before
    assert (cost.rebalances, cost.measured.duplicates, cost.measured.idle_partition_seconds) == (0, 0, 0)
