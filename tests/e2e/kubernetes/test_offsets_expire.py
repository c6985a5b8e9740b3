"""Offsets expire while nobody runs, on a broker that keeps them for a minute: a rollout afterwards ends."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from sandbox.layout import HOST
from tests.adapters.kafka.own_broker import own_broker
from tests.conftest import ROOT
from tests.e2e.kubernetes.halfway import begin, gave_up, most_down, restarts, wait_rolled_out
from tests.e2e.stage.groups import PARTITIONS, REPLICAS, with_env
from tests.e2e.stage.stage import Stage, staged
from tests.e2e.stage.waiting import wait_for

pytestmark = [pytest.mark.e2e, pytest.mark.long, pytest.mark.minutes(4), pytest.mark.timeout(600)]

FORGETFUL: Final = {"offsets.retention.minutes": "1", "offsets.retention.check.interval.ms": "1000"}


@pytest.fixture(scope="module")
def stage(crds: None, kubeconfig: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    with own_broker(tmp_path_factory.mktemp("forgetful"), FORGETFUL, host=str(HOST)) as servers:
        directory = ROOT / "build" / "e2e" / "offsets_expire"
        with staged("offsets_expire", kubeconfig, servers, directory) as made:
            yield made


@pytest.mark.parametrize("reset", ["earliest", "latest"])
def test_offsets_that_expired_while_nobody_ran_do_not_keep_a_rollout(stage: Stage, reset: str) -> None:
    """Brokers keep those of a group with members. Nobody writes any more: from the latest on nothing is committed."""
    name = f"expired-{reset}"
    topic = f"{stage.topic}-{name}"
    stage.kafka.make_topic(topic, PARTITIONS)
    group = with_env(stage.group(name, topic), KAFKA_AUTO_OFFSET_RESET=reset)
    with stage.kafka.load(topic, 5.0):
        stage.create(group)
        wait_for("commits", lambda: len(stage.kafka.committed(stage.group_id(name))) == PARTITIONS, 60.0)
    stage.cluster.kubectl("scale", "cg", name, "--replicas=0")
    wait_for("nobody to be in it", lambda: not stage.kafka.look(stage.group_id(name)).members, 120.0)
    assert stage.kafka.committed(stage.group_id(name)), "the offsets went with the members: none can expire"
    wait_for("the offsets to expire", lambda: not stage.kafka.committed(stage.group_id(name)), 180.0)
    stage.cluster.kubectl("scale", "cg", name, f"--replicas={REPLICAS}")
    wait_rolled_out(stage, name, "1")
    began = begin(stage, group)
    wait_rolled_out(stage, name)
    assert gave_up(stage, name, began) == []
    assert most_down(stage, name, began) == 1
    assert restarts(stage, name, began) == {f"{name}-{ordinal}": 1 for ordinal in range(REPLICAS)}
