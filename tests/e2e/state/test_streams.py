"""Word counts in RocksDB, three pods of two threads: rolled out without a rebalance and without a restoration, crashed,
and given other volume claims while they run. One story, in order.

Collected, and not run by whoever wrote it.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest
from confluent_kafka import Producer

from slackwater.core.world.streams import is_internal
from tests.e2e.stage.cluster import Json
from tests.e2e.stage.groups import PARTITIONS, REPLICAS, with_env
from tests.e2e.stage.stage import Stage
from tests.e2e.stage.waiting import wait_for
from tests.e2e.state.streams import THREADS, claim, counts, output_of, restored, streams_group, volumes

pytestmark = [pytest.mark.e2e, pytest.mark.long, pytest.mark.timeout(600)]

NAME: Final = "counts"
KEYS: Final = 20_000
TIMES: Final = 2


@pytest.fixture(scope="module")
def lines(stage: Stage) -> str:
    """A topic in which each word stands so many times, and nothing else ever."""
    topic = f"{stage.topic}-lines"
    stage.kafka.make_topic(topic, PARTITIONS)
    stage.kafka.make_topic(output_of(stage, NAME), PARTITIONS)
    producer = Producer({"bootstrap.servers": stage.kafka.bootstrap_servers, "linger.ms": 50})
    for number in range(KEYS * TIMES):
        producer.produce(topic, value=f"word{number % KEYS}".encode())
        producer.poll(0)
    assert producer.flush(60) == 0
    return topic


@pytest.fixture(scope="module")
def group(stage: Stage, lines: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Json]:
    made = streams_group(stage, NAME, topics=[lines])
    made = with_env(made, TOPICS=lines)
    folder: Path = tmp_path_factory.mktemp("volumes")
    with volumes(stage, NAME, folder):
        stage.create(made)
        wait_for("all words to be counted", lambda: _is_counted(stage), 120.0)
        yield made


def _is_counted(stage: Stage) -> bool:
    found = counts(stage, output_of(stage, NAME))
    return len(found) == KEYS and set(found.values()) == {TIMES}


def _uids(stage: Stage) -> dict[str, str]:
    return {each["metadata"]["name"]: each["metadata"]["uid"] for each in stage.cluster.pods(NAME)}


def test_each_thread_is_a_member_and_its_repartition_topic_is_in_the_picture(stage: Stage, group: Json) -> None:
    seen = stage.kafka.look(stage.group_id(NAME))
    assert len(seen.members) == REPLICAS * THREADS
    status = stage.cluster.status(NAME)["group"]
    assert status["partitions"] == 2 * PARTITIONS
    assert is_internal(f"{stage.group_id(NAME)}-counts-repartition", stage.group_id(NAME))


def test_a_rollout_neither_rebalances_nor_restores(stage: Stage, group: Json) -> None:
    began = time.time()
    stage.cluster.apply(with_env(group, VERSION="2"))
    stage.cluster.wait_phase(NAME, "Progressing")
    stage.cluster.wait_complete(NAME, 300.0)
    assert stage.kafka.rebalances(stage.group_id(NAME), began, time.time()) == 0
    assert restored(stage, NAME) == dict.fromkeys(_uids(stage), 0)
    assert _is_counted(stage)


def test_who_crashes_reads_no_more_than_it_had_not_written_down(stage: Stage, group: Json) -> None:
    began = time.time()
    gone = f"{NAME}-1"
    before = _uids(stage)[gone]
    stage.cluster.kubectl("delete", "pod", gone, "--grace-period=0", "--force")
    wait_for("the pod to be made again", lambda: _uids(stage).get(gone, before) != before)
    stage.cluster.wait_condition(NAME, "Ready", "True")
    assert stage.kafka.rebalances(stage.group_id(NAME), began, time.time()) == 0
    assert _is_counted(stage)


def test_other_claims_are_taken_up_around_the_pods(stage: Stage, group: Json) -> None:
    began, pods, before = time.time(), _uids(stage), stage.cluster.get("sts", NAME)
    assert before is not None
    stage.cluster.patch("cg", NAME, {"spec": {"volumeClaimTemplates": [claim("512Mi")]}})
    stage.cluster.wait_condition(NAME, "RolloutGated", "True", "VolumeClaimsChange")

    def is_made_again() -> bool:
        found = stage.cluster.get("sts", NAME)
        return found is not None and found["metadata"]["uid"] != before["metadata"]["uid"]

    wait_for("the StatefulSet to be made again", is_made_again, 90.0)
    stage.cluster.wait_condition(NAME, "Ready", "True")
    stage.look_again(NAME)
    assert _uids(stage) == pods
    assert stage.kafka.rebalances(stage.group_id(NAME), began, time.time()) == 0
    for ordinal in range(REPLICAS):
        found = stage.cluster.get("pvc", f"state-{NAME}-{ordinal}")
        assert found is not None and found["spec"]["resources"]["requests"]["storage"] == "1Gi"
