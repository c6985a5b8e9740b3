"""Fifty groups with a live member each, under a slight load: nothing is written, and Kafka is asked as for a few.

Each has a real pod, but with the least of consumers, so that a small machine can run them all.
"""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from tests.e2e.faults.fault_stage import FaultStage, fault_stage
from tests.e2e.stage.audit import all_writes
from tests.e2e.stage.cluster import Json, condition
from tests.e2e.stage.groups import consumer_group
from tests.e2e.stage.waiting import wait_for

pytestmark = [pytest.mark.e2e, pytest.mark.long, pytest.mark.quiet, pytest.mark.timeout(600)]

PORT: Final = 18112
FEW: Final = 5
MANY: Final = 50
REST_INTERVAL_S: Final = 5.0
"""A third of the default: more passes that could write something or ask too much."""
LOAD: Final = 0.2
"""Messages a second into each partition: a young group, whose lag is all that it has not read yet, stays below the
thousand records that are worth a write."""
SILENT_FOR_S: Final = 3 * REST_INTERVAL_S
QUIET_S: Final = 120.0
PASSES_OF_FEW: Final = 4

_CONSUMER: Final = """\
import os, signal, sys
from confluent_kafka import Consumer
from sandbox.workload.settings import properties
signal.signal(signal.SIGTERM, lambda *_: sys.exit())
consumer = Consumer({**properties(os.environ), "fetch.wait.max.ms": "5000", "fetch.min.bytes": "100000"})
consumer.subscribe([os.environ["TOPICS"]])
while True:
    consumer.poll(0.5)
"""
_WRITTEN: Final = re.compile(
    r'^slackwater_kubernetes_requests_total\{(?=.*verb="(?:PATCH|POST|DELETE)").*\} (\S+)$', re.MULTILINE
)
_REQUESTS: Final = re.compile(r'^slackwater_kafka_requests_total\{api="(\w+)"\} (\S+)$', re.MULTILINE)


@pytest.fixture(scope="module")
def stage(
    crds: None, kubeconfig: Path, bootstrap_servers: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[FaultStage]:
    with fault_stage(kubeconfig, bootstrap_servers, tmp_path_factory.mktemp("at-rest"), PORT, LOAD) as made:
        yield made


def test_at_rest_nothing_is_written_and_kafka_is_asked_as_for_one_group(stage: FaultStage) -> None:
    stage.start_operator(SLACKWATER_REST_INTERVAL_S=str(REST_INTERVAL_S))
    stage.cluster.apply(*(_group(stage, number) for number in range(FEW)))
    _wait_settled(stage, FEW)
    before = _requests(stage)
    wait_for("some passes", lambda: _passes(_requests(stage) - before) >= PASSES_OF_FEW, 60.0)
    few = _requests(stage) - before

    stage.cluster.apply(*(_group(stage, number) for number in range(FEW, MANY)))
    _wait_settled(stage, MANY)
    began, before, told = time.time(), _requests(stage), _statuses(stage)
    wait_for("two minutes to be over", lambda: time.time() - began >= QUIET_S, QUIET_S + 30.0)
    many = _requests(stage) - before

    assert _statuses(stage) == told
    assert [str(write) for write in all_writes(stage.cluster.namespace, began)] == []
    assert _a_pass(many) == _a_pass(few)
    print(f"requests a pass: {_a_pass(few)} for {FEW} groups, {_a_pass(many)} for {MANY}")  # noqa: T201 - a figure


def _group(stage: FaultStage, number: int) -> Json:
    group = consumer_group(stage.cluster, f"rest-{number}", stage.topic, {"stableFor": "1s"}, replicas=1)
    container = {
        "name": "consumer",
        "image": "slackwater/consumer:dev",
        "command": ["python3", "-c", _CONSUMER],
        "env": [{"name": "TOPICS", "value": stage.topic}],
    }
    group["spec"]["template"] = {"spec": {"terminationGracePeriodSeconds": 1, "containers": [container]}}
    return group


def _wait_settled(stage: FaultStage, groups: int) -> None:
    """Until every group is at rest, and the operator has said all that it had to say about that."""

    def are_ready() -> bool:
        found, _ = stage.cluster.api.list_all("cg", stage.cluster.namespace)
        return sum(_is_at_rest(group) for group in found) == groups

    wait_for(f"{groups} groups at rest", are_ready, 300.0, lambda: _states(stage))
    wait_for("the operator to fall silent", _Silence(stage).is_long, 120.0)


class _Silence:
    """Since when the operator has not written, by its own count: the audit log is too long to be read all the time."""

    def __init__(self, stage: FaultStage) -> None:
        self._stage = stage
        self._count, self._since = -1.0, 0.0

    def is_long(self) -> bool:
        count = sum(float(count) for count in _WRITTEN.findall(self._stage.operator.metrics()))
        if count != self._count:
            self._count, self._since = count, time.monotonic()
        return time.monotonic() - self._since > SILENT_FOR_S


def _is_at_rest(group: Json) -> bool:
    complete = (group.get("status") or {}).get("rollout", {}).get("phase") == "Complete"
    return (
        complete and condition(group, "Ready").get("status") == condition(group, "GroupStable").get("status") == "True"
    )


def _states(stage: FaultStage) -> Counter[str]:
    found, _ = stage.cluster.api.list_all("cg", stage.cluster.namespace)
    return Counter(str(condition(group, "Ready").get("reason")) for group in found)


def _statuses(stage: FaultStage) -> dict[str, Json]:
    found, _ = stage.cluster.api.list_all("cg", stage.cluster.namespace)
    return {group["metadata"]["name"]: group["status"] for group in found}


def _requests(stage: FaultStage) -> Counter[str]:
    """Sent to Kafka so far, by API."""
    return Counter({api: int(float(count)) for api, count in _REQUESTS.findall(stage.operator.metrics())})


def _passes(requests: Counter[str]) -> int:
    """Each pass asks for metadata once."""
    return requests["Metadata"]


def _a_pass(requests: Counter[str]) -> dict[str, int]:
    """One look may fall into the middle of a pass: rounded to whole requests. What is asked once in five minutes is
    none of it, and may come or not."""
    found = {api: round(count / _passes(requests)) for api, count in sorted(requests.items())}
    return {api: count for api, count in found.items() if count}
