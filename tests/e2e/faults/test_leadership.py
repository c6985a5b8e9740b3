"""Two operators on one Lease, and the one that leads dies, sleeps or goes: one acts at a time, and the rollout ends."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from tests.e2e.faults.fault_stage import GROUP, POD_NAMES, FaultStage, fault_stage
from tests.e2e.stage.groups import REPLICAS
from tests.e2e.stage.progress import down_over_time
from tests.e2e.stage.recorder import Recorder
from tests.e2e.stage.replicas import LOST, Replicas, replicas, token_id

pytestmark = [pytest.mark.e2e, pytest.mark.long, pytest.mark.quiet, pytest.mark.timeout(600)]  # `make failover`
"""Quiet, since its Lease ends after 3 s: where much else goes on, the API server may be silent for as long."""

FIRST_PORT: Final = 18130
KILLS: Final = 20


@pytest.fixture(scope="module")
def pair(
    crds: None, kubeconfig: Path, bootstrap_servers: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Replicas]:
    folder = tmp_path_factory.mktemp("leadership")
    with (
        fault_stage(kubeconfig, bootstrap_servers, folder, FIRST_PORT) as stage,
        replicas(stage, FIRST_PORT + 1) as made,
    ):
        stage.apply_version("first")
        stage.wait_ended()
        yield made


@pytest.fixture
def stage(pair: Replicas) -> FaultStage:
    return pair.stage


def test_the_leader_is_killed_twenty_times_in_a_rollout(pair: Replicas, stage: FaultStage) -> None:
    """Each second one as soon as it leads, and the others at their first write."""
    before, began = stage.recorder.snapshot(), time.time()
    with Recorder(stage.cluster.api, stage.cluster.namespace) as recorder:
        stage.apply_version("second")
        for number in range(KILLS):
            leader = pair.wait_leader()
            pair.wait_writes(leader, number % 2)
            leader.kill()
            leader.start()
        assert not stage.has_ended("Complete"), "the rollout was over before the leader had been killed so often"
        stage.wait_ended()
        down = [len(names) for at, names in down_over_time(recorder.records("pods"), GROUP, REPLICAS) if at >= began]
    assert set(down) == {0, 1}
    assert stage.recorder.restarts(before) == dict.fromkeys(POD_NAMES, 1)
    assert stage.versions() == ["second"] * REPLICAS
    writes = pair.assert_only_the_holder_wrote(began)
    assert {write.token for write in writes} == {token_id(each) for each in pair.both}


def test_a_leader_that_slept_past_its_lease_writes_nothing_and_ends(pair: Replicas, stage: FaultStage) -> None:
    before, began = stage.recorder.snapshot(), time.time()
    leader = pair.wait_leader()
    stage.apply_version("third")
    pair.wait_writes(leader, 1)
    with leader.stopped():
        pair.wait_leads(pair.other(leader))
    leader.wait_dead()
    assert leader.process is not None
    assert leader.process.returncode == 1
    assert LOST in leader.log_tail()
    stage.wait_ended()
    assert stage.recorder.restarts(before) == dict.fromkeys(POD_NAMES, 1)
    pair.assert_only_the_holder_wrote(began)
    leader.start()
    leader.wait_ready()


def test_a_leader_that_is_told_to_end_gives_the_lease_back(pair: Replicas) -> None:
    leader = pair.wait_leader()
    assert leader.stop() == 0
    assert "lease_not_released" not in leader.log_tail()
    pair.wait_leads(pair.other(leader))
    leader.start()
    leader.wait_ready()


def test_one_that_stands_by_ends_when_it_is_told_to(pair: Replicas) -> None:
    standing_by = pair.other(pair.wait_leader())
    assert standing_by.stop() == 0
    standing_by.start()
    standing_by.wait_ready()
