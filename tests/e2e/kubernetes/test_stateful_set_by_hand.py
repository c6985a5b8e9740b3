"""`kubectl rollout restart` and `kubectl scale` on the StatefulSet: the ConsumerGroup says what is, and wins.

A restart by kubectl is a change of the template by somebody else: it is taken back, and no pod is restarted for it. Who
wants one annotates the ConsumerGroup.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Final

import pytest

from tests.e2e.kubernetes.halfway import begin, gave_up, restarts, wait_rolled_out
from tests.e2e.stage.cluster import Json
from tests.e2e.stage.groups import REPLICAS
from tests.e2e.stage.stage import Stage
from tests.e2e.stage.waiting import wait_for

pytestmark = [pytest.mark.e2e, pytest.mark.minutes(2), pytest.mark.timeout(480)]

RESTARTED_AT: Final = "kubectl.kubernetes.io/restartedAt"
NAMES: Final = ("restart-rest", "restart-roll", "scale-rest", "scale-roll")


@pytest.fixture(scope="module")
def running(stage: Stage) -> Iterator[Stage]:
    stage.create(*(stage.group(name) for name in NAMES))
    yield stage


def test_a_restart_at_rest_is_taken_back(running: Stage) -> None:
    began = time.time()
    running.cluster.kubectl("rollout", "restart", "statefulset/restart-rest")
    wait_for("the template to be as it was", lambda: not is_marked(running, "restart-rest"), 60.0)
    wait_settled(running, "restart-rest")
    assert sum(restarts(running, "restart-rest", began).values()) == 0
    wait_rolled_out(running, "restart-rest", "1")


def test_a_restart_in_a_rollout_is_taken_back_and_each_pod_restarts_once(running: Stage) -> None:
    began = begin(running, running.group("restart-roll"))
    running.cluster.kubectl("rollout", "restart", "statefulset/restart-roll")
    wait_for("the template to be as asked", lambda: not is_marked(running, "restart-roll"), 60.0)
    wait_rolled_out(running, "restart-roll")
    wait_settled(running, "restart-roll")
    assert gave_up(running, "restart-roll", began) == []
    assert set(restarts(running, "restart-roll", began).values()) <= {1, 2}
    assert not any(RESTARTED_AT in annotations_of(pod) for pod in running.cluster.pods("restart-roll"))


@pytest.mark.parametrize("replicas", [REPLICAS + 1, REPLICAS - 1])
def test_at_rest_the_number_is_put_back(running: Stage, replicas: int) -> None:
    began = time.time()
    scale(running, "scale-rest", replicas)
    wait_for("the number", lambda: wanted(running, "scale-rest") == REPLICAS, 60.0)
    wait_rolled_out(running, "scale-rest", "1")
    made = restarts(running, "scale-rest", began)
    assert {name: made[name] for name in ("scale-rest-0", "scale-rest-1")} == {"scale-rest-0": 0, "scale-rest-1": 0}


def test_in_a_rollout_the_number_is_put_back_and_the_rollout_goes_on(running: Stage) -> None:
    began = begin(running, running.group("scale-roll"))
    scale(running, "scale-roll", REPLICAS - 1)
    wait_for("the number", lambda: wanted(running, "scale-roll") == REPLICAS, 60.0)
    wait_rolled_out(running, "scale-roll")
    assert gave_up(running, "scale-roll", began) == []
    made = restarts(running, "scale-roll", began)
    assert (made["scale-roll-0"], made["scale-roll-1"]) == (1, 1)


def scale(stage: Stage, name: str, replicas: int) -> None:
    """Returns when the StatefulSet's record shows that it was so."""
    since = time.time()
    stage.cluster.kubectl("scale", "statefulset", name, f"--replicas={replicas}")
    stage.recorder.first(
        "the change by hand",
        "statefulsets",
        lambda obj: obj["metadata"]["name"] == name and obj["spec"]["replicas"] == replicas,
        since,
    )


def wanted(stage: Stage, name: str) -> int | None:
    found: int | None = ((stage.cluster.get("sts", name) or {}).get("spec") or {}).get("replicas")
    return found


def annotations_of(obj: Json) -> Json:
    found: Json = obj["metadata"].get("annotations") or {}
    return found


def is_marked(stage: Stage, name: str) -> bool:
    stateful_set = stage.cluster.get("sts", name) or {}
    return RESTARTED_AT in annotations_of(stateful_set["spec"]["template"])


def wait_settled(stage: Stage, name: str) -> None:
    """The StatefulSet controller has seen the newest template, and every pod is of its revision."""

    def is_settled() -> bool:
        found = stage.cluster.get("sts", name) or {}
        status = found["status"]
        seen = status.get("observedGeneration") == found["metadata"]["generation"]
        return bool(seen and status.get("currentRevision") == status.get("updateRevision"))

    wait_for(f"the StatefulSet {name} to settle", is_settled, 60.0)
    stage.look_again(name)
