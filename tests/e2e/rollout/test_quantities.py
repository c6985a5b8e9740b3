"""Quantities that the API server rewrites, and an operator that starts again in the middle of a rollout."""

from __future__ import annotations

import itertools
import time
from copy import deepcopy
from typing import Final

import pytest

from tests.e2e.kubernetes.halfway import most_down, restarts, versions_of, wait_rolled_out
from tests.e2e.stage.cluster import Json
from tests.e2e.stage.groups import REPLICAS, with_env
from tests.e2e.stage.stage import Stage
from tests.e2e.stage.waiting import wait_for

pytestmark = [pytest.mark.e2e, pytest.mark.long, pytest.mark.minutes(2), pytest.mark.timeout(480)]

ASKED: Final = {"cpu": "1000m", "memory": "1024Mi"}
WRITTEN: Final = {"cpu": "1", "memory": "1Gi"}
LITTLE: Final = {"cpu": "10m", "memory": "32Mi"}
"""What pods request: three of them have to find room."""


def test_an_operator_that_starts_again_restarts_each_pod_once(stage: Stage) -> None:
    """It dies with each step in hand, and takes none of them back: the template is what it wrote."""
    group = with_limits(stage.group("limited"))
    stage.create(group)
    assert limits(stage, "limited") == WRITTEN, "the API server left the quantities as they are"
    began = time.time()
    stage.cluster.apply(with_env(group, VERSION="2"))
    for new in range(1, REPLICAS):
        wait_for(f"{new} new pods", lambda new=new: new_pods(stage, "limited") == new, 120.0)  # type: ignore[misc]
        stage.operator.kill()
        stage.operator.start()
        stage.operator.wait_ready()
    wait_rolled_out(stage, "limited")
    assert restarts(stage, "limited", began) == {f"limited-{ordinal}": 1 for ordinal in range(REPLICAS)}
    assert most_down(stage, "limited", began) == 1
    taken = partitions(stage, "limited", began)
    assert taken == sorted(taken, reverse=True), "a step was taken back"


def with_limits(group: Json) -> Json:
    changed = deepcopy(group)
    changed["spec"]["template"]["spec"]["containers"][0]["resources"] = {"limits": ASKED, "requests": LITTLE}
    return changed


def limits(stage: Stage, name: str) -> Json:
    found = stage.cluster.get("sts", name)
    assert found is not None
    written: Json = found["spec"]["template"]["spec"]["containers"][0]["resources"]["limits"]
    return written


def new_pods(stage: Stage, name: str) -> int:
    return versions_of(stage, name).count("2")


def partitions(stage: Stage, name: str, since: float) -> list[int]:
    """What the StatefulSet held back, one value for each change, until nothing was held back any more."""
    found = [r.obj for r in stage.recorder.records("statefulsets", since) if r.name == name and not r.deleted]
    held = [obj["spec"]["updateStrategy"]["rollingUpdate"].get("partition", 0) for obj in found]
    changes = [partition for partition, _ in itertools.groupby(held)]
    return changes[: changes.index(0) + 1]
