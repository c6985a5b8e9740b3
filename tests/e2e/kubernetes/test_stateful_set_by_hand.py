"""`kubectl rollout restart` and `kubectl scale` on the StatefulSet itself, at rest and in a rollout.

The restart goes through the gates as any other; the number is put back to what the ConsumerGroup says.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Final

import pytest

from slackwater.core.rollout.scaling import PUT_BACK_AT_ONCE
from tests.e2e.kubernetes.halfway import begin, gave_up, most_down, restarts, wait_rolled_out
from tests.e2e.stage.groups import REPLICAS
from tests.e2e.stage.progress import is_ready
from tests.e2e.stage.stage import Stage
from tests.e2e.stage.waiting import wait_for

pytestmark = [pytest.mark.e2e, pytest.mark.long, pytest.mark.minutes(2), pytest.mark.timeout(480)]

RESTARTED_AT: Final = "kubectl.kubernetes.io/restartedAt"
NAMES: Final = ("restart-rest", "restart-roll", "scale-rest", "scale-roll", "scale-fought")


@pytest.fixture(scope="module")
def running(stage: Stage) -> Iterator[Stage]:
    stage.create(*(stage.group(name) for name in NAMES))
    yield stage


def test_a_restart_at_rest_goes_through_the_gates(running: Stage) -> None:
    """What is asked for stands in the template beside what is ours, and is left there."""
    began = time.time()
    running.cluster.kubectl("rollout", "restart", "statefulset/restart-rest")
    wait_for("every pod to be restarted", lambda: all_marked(running, "restart-rest"), 180.0)
    wait_rolled_out(running, "restart-rest", "1")
    wait_settled(running, "restart-rest")
    assert gave_up(running, "restart-rest", began) == []
    assert most_down(running, "restart-rest", began) == 1
    assert restarts(running, "restart-rest", began) == {f"restart-rest-{ordinal}": 1 for ordinal in range(REPLICAS)}


def test_a_restart_in_a_rollout_takes_who_has_the_version_once_more(running: Stage) -> None:
    began = begin(running, running.group("restart-roll"))
    running.cluster.kubectl("rollout", "restart", "statefulset/restart-roll")
    wait_for("every pod to be restarted", lambda: all_marked(running, "restart-roll"), 180.0)
    wait_rolled_out(running, "restart-roll")
    wait_settled(running, "restart-roll")
    assert gave_up(running, "restart-roll", began) == []
    assert most_down(running, "restart-roll", began) == 1
    made = restarts(running, "restart-roll", began)
    assert made["restart-roll-0"] == 1, "it has not had the version before"
    assert set(made.values()) <= {1, 2}


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


def test_who_scales_it_again_and_again_is_told_of_and_not_fought(running: Stage) -> None:
    """As an autoscaler does that still points at the StatefulSet. What the ConsumerGroup asks for counts at once."""
    for _ in range(PUT_BACK_AT_ONCE):
        scale(running, "scale-fought", REPLICAS + 1)
        wait_for("the number", lambda: wanted(running, "scale-fought") == REPLICAS, 60.0)
    scale(running, "scale-fought", REPLICAS + 1)
    running.cluster.wait_condition("scale-fought", "Degraded", "True")
    condition = running.cluster.condition("scale-fought", "Degraded")
    assert condition["reason"] == "ScaledByOthers"
    assert "was scaled to 4 by kubectl" in condition["message"]
    assert wanted(running, "scale-fought") == REPLICAS + 1
    running.cluster.apply(running.group("scale-fought", replicas=REPLICAS - 1))
    wait_for("the number of the spec", lambda: wanted(running, "scale-fought") == REPLICAS - 1, 60.0)
    running.cluster.wait_condition("scale-fought", "Degraded", "False")


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


def all_marked(stage: Stage, name: str) -> bool:
    pods = stage.cluster.pods(name)
    marked = [pod for pod in pods if RESTARTED_AT in (pod["metadata"].get("annotations") or {}) and is_ready(pod)]
    return len(marked) == REPLICAS


def wait_settled(stage: Stage, name: str) -> None:
    """The StatefulSet controller has seen the newest template, and every pod is of its revision."""

    def is_settled() -> bool:
        found = stage.cluster.get("sts", name) or {}
        status = found["status"]
        seen = status.get("observedGeneration") == found["metadata"]["generation"]
        return bool(seen and status.get("currentRevision") == status.get("updateRevision"))

    wait_for(f"the StatefulSet {name} to settle", is_settled, 60.0)
    stage.look_again(name)
