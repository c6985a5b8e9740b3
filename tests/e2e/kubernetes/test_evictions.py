"""Pods are evicted in the middle of a rollout: no second one goes because of us, and its budget is kept."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from sandbox.layout import NODE_NAME
from tests.e2e.kubernetes.halfway import begin, evict, gave_up, most_down, restarts, versions_of, wait_rolled_out
from tests.e2e.stage.groups import REPLICAS
from tests.e2e.stage.progress import is_ready
from tests.e2e.stage.stage import Stage
from tests.e2e.stage.waiting import wait_for

pytestmark = [pytest.mark.e2e, pytest.mark.long, pytest.mark.minutes(2), pytest.mark.timeout(480)]


def test_while_a_pod_is_away_for_us_no_other_may_be_evicted(stage: Stage) -> None:
    group = stage.group("budget")
    stage.create(group)
    began = begin(stage, group)
    assert [is_ready(pod) for pod in stage.cluster.pods("budget")].count(False) == 1, "no pod is away"
    assert not evict(stage.cluster, "budget-0")
    wait_rolled_out(stage, "budget")
    assert most_down(stage, "budget", began) == 1
    assert restarts(stage, "budget", began) == {f"budget-{ordinal}": 1 for ordinal in range(REPLICAS)}


def test_while_a_pod_is_away_by_eviction_we_restart_no_other(stage: Stage) -> None:
    """A pause holds the rollout until the eviction has begun."""
    group = stage.group("evicted")
    stage.create(group)
    began = begin(stage, group)
    stage.cluster.annotate("evicted", "pause", "until one is evicted")
    stage.cluster.wait_condition("evicted", "RolloutGated", "True", "Paused")
    wait_for("room in the budget", lambda: evict(stage.cluster, "evicted-0"), 120.0)
    assert "2" in versions_of(stage, "evicted"), "the rollout is not in the middle"
    stage.cluster.annotate("evicted", "pause", None)
    wait_rolled_out(stage, "evicted")
    assert most_down(stage, "evicted", began) == 1
    assert gave_up(stage, "evicted", began) == []
    made = restarts(stage, "evicted", began)
    assert made == {"evicted-0": 2, "evicted-1": 1, "evicted-2": 1}


@pytest.mark.alone
def test_a_drain_ends_and_so_does_the_rollout(stage: Stage) -> None:
    """The node takes new pods again as soon as the drain has begun: there is no other one for them."""
    group = stage.group("drained")
    stage.create(group)
    began = begin(stage, group)
    with drain(stage, "drained") as draining:
        wait_for("the drain's end", lambda: draining.poll() is not None, 240.0)
        assert draining.returncode == 0
    wait_rolled_out(stage, "drained")
    assert most_down(stage, "drained", began) == 1
    assert gave_up(stage, "drained", began) == []


@contextmanager
def drain(stage: Stage, name: str) -> Iterator[subprocess.Popen[bytes]]:
    """Only of this group's pods."""
    command = ["kubectl", f"--kubeconfig={stage.cluster.kubeconfig}", "drain", NODE_NAME, "--delete-emptydir-data"]
    command += [f"--pod-selector=slackwater.dev/group={name}", "--timeout=200s"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait_for("the drain to begin", lambda: is_cordoned(stage) or process.poll() is not None, 30.0)
        stage.cluster.kubectl("uncordon", NODE_NAME)
        yield process
    finally:
        process.kill()
        process.wait()
        stage.cluster.kubectl("uncordon", NODE_NAME)


def is_cordoned(stage: Stage) -> bool:
    return stage.cluster.kubectl("get", "node", NODE_NAME, "-o", "jsonpath={.spec.unschedulable}") == "true"
