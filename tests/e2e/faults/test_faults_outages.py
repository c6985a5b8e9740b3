"""Kafka or the API server goes away in the middle of a rollout: nothing is done meanwhile, and then it goes on."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from tests.e2e.faults.fault_stage import GROUP, POD_NAMES, FaultStage, fault_stage
from tests.e2e.faults.outages import Outage, api_server_down, kafka_down
from tests.e2e.stage.audit import Write, all_writes
from tests.e2e.stage.groups import REPLICAS
from tests.e2e.stage.waiting import wait_for

pytestmark = [pytest.mark.e2e, pytest.mark.alone, pytest.mark.timeout(400)]

PORT: Final = 18110
KAFKA_DOWN_S: Final = 60.0
API_SERVER_DOWN_S: Final = 15.0
SEEN_WITHIN_S: Final = 10.0
"""A request gives up after 5 s; the next pass is a second later."""


@pytest.fixture(scope="module")
def stage(
    crds: None, kubeconfig: Path, bootstrap_servers: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[FaultStage]:
    with fault_stage(kubeconfig, bootstrap_servers, tmp_path_factory.mktemp("outages"), PORT) as made:
        made.apply_version("first")
        made.start_operator()
        made.wait_ended()
        yield made


def test_kafka_is_down_in_the_middle_of_a_rollout(stage: FaultStage, bootstrap_servers: str) -> None:
    before = stage.recorder.snapshot()
    stage.apply_version("through-kafka-outage")
    _wait_first_pod_done(stage)
    with kafka_down(bootstrap_servers, KAFKA_DOWN_S) as outage:
        _wait_gated(stage, "KafkaUnreachable")
        _assert_no_act(stage, outage)
    stage.wait_ended()
    assert stage.recorder.restarts(before) == dict.fromkeys(POD_NAMES, 1)
    assert stage.versions() == ["through-kafka-outage"] * REPLICAS


def test_the_api_server_is_killed_in_the_middle_of_a_rollout(stage: FaultStage) -> None:
    """The operator lives on: it needs nobody to start it again."""
    before, process = stage.recorder.snapshot(), stage.operator.process
    stage.apply_version("through-api-outage")
    _wait_first_pod_done(stage)
    with api_server_down(API_SERVER_DOWN_S) as outage:
        outage.outlast(lambda: _assert_lives(stage))
    stage.wait_ended()
    assert stage.recorder.restarts(before) == dict.fromkeys(POD_NAMES, 1)
    assert stage.versions() == ["through-api-outage"] * REPLICAS
    assert stage.operator.process is process
    _assert_lives(stage)


def test_a_group_that_is_changed_after_an_outage_is_still_heard_of(stage: FaultStage) -> None:
    """The watches are whole again: nobody waits for the next list of everything."""
    stage.cluster.patch("cg", GROUP, {"spec": {"replicas": REPLICAS - 1}})
    wait_for("one pod less", lambda: len(stage.cluster.pods(GROUP)) == REPLICAS - 1, 30.0)
    stage.cluster.patch("cg", GROUP, {"spec": {"replicas": REPLICAS}})
    stage.wait_ended()


def _wait_first_pod_done(stage: FaultStage) -> None:
    version = stage.cluster.get("cg", GROUP) or {}
    env = version["spec"]["template"]["spec"]["containers"][0]["env"]
    wanted = next(e["value"] for e in env if e["name"] == "VERSION")

    def is_done() -> bool:
        versions = stage.versions()
        return len(versions) == REPLICAS and versions[-1] == wanted != versions[0]

    wait_for("the first pod of three to run the new version", is_done, 60.0, stage.versions)


def _wait_gated(stage: FaultStage, reason: str) -> None:
    def look() -> bool:
        return bool(stage.cluster.condition(GROUP, "RolloutGated").get("reason") == reason)

    wait_for(f"RolloutGated with {reason}", look, SEEN_WITHIN_S, lambda: stage.cluster.summary(GROUP))


def _assert_no_act(stage: FaultStage, outage: Outage) -> None:
    """No pod is made again, and all that the operator writes is what it has to say."""
    blind_since, uids = time.time(), stage.uids()

    def watch() -> None:
        assert stage.uids() == uids, "a pod was restarted while nobody could know how the group is"

    outage.outlast(watch)
    assert [str(write) for write in all_writes(stage.cluster.namespace, blind_since) if not _only_tells(write)] == []
    assert stage.cluster.condition(GROUP, "RolloutGated")["reason"] == "KafkaUnreachable"


def _only_tells(write: Write) -> bool:
    return write.resource == "events" or write.resource.endswith("/status")


def _assert_lives(stage: FaultStage) -> None:
    process = stage.operator.process
    assert process is not None
    assert process.poll() is None, f"the operator ended: {stage.operator.log_tail()}"
