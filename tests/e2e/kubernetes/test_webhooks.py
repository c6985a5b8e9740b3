"""A cluster's own webhooks change pods and StatefulSets: rollouts end as without them, and nothing is rewritten."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Final

import pytest

from tests.e2e.kubernetes.halfway import begin, gave_up, most_down, restarts, wait_rolled_out
from tests.e2e.kubernetes.webhooks import mutating
from tests.e2e.stage.audit import operator_writes
from tests.e2e.stage.cluster import Json
from tests.e2e.stage.groups import REPLICAS
from tests.e2e.stage.stage import Stage
from tests.e2e.stage.waiting import wait_for

pytestmark = [pytest.mark.e2e, pytest.mark.long, pytest.mark.minutes(2), pytest.mark.timeout(480)]

SIDECAR: Final = "proxy"
LOOKS: Final = 5


def with_sidecar(pod: Json) -> list[Json]:
    """First in the list, as meshes put it; and defaults where the pod has none."""
    containers = pod["spec"]["containers"]
    if any(each["name"] == SIDECAR for each in containers):
        return []
    consumer = next(each for each in containers if each["name"] == "consumer")
    sidecar = {
        "name": SIDECAR,
        "image": consumer["image"],
        "imagePullPolicy": "Never",
        "command": ["python3", "-c", "import signal; signal.sigwait([signal.SIGTERM])"],
    }
    tolerations = [*pod["spec"].get("tolerations", ()), {"key": "mesh", "operator": "Exists"}]
    return [
        {"op": "add", "path": "/spec/containers/0", "value": sidecar},
        {"op": "add", "path": "/spec/tolerations", "value": tolerations},
        {"op": "add", "path": "/metadata/annotations/mesh.example.com~1injected", "value": "true"},
    ]


def with_defaults(stateful_set: Json) -> list[Json]:
    """An annotation and a label of the object, and a label and a default of its template."""
    metadata, template = stateful_set["metadata"], stateful_set["spec"]["template"]
    labels, own = metadata.get("labels") or {}, template["metadata"].get("labels") or {}
    return [
        {"op": "add", "path": "/metadata/annotations", "value": {**(metadata.get("annotations") or {}), "cost": "x"}},
        {"op": "add", "path": "/metadata/labels", "value": {**labels, "cost": "x"}},
        {"op": "add", "path": "/spec/template/metadata/labels", "value": {**own, "cost": "x"}},
        {"op": "add", "path": "/spec/template/spec/priorityClassName", "value": ""},
    ]


def test_a_sidecar_that_comes_in_the_middle_of_a_rollout_is_not_taken_for_the_consumer(
    stage: Stage, tmp_path: Path
) -> None:
    group = stage.group("sidecar")
    stage.create(group)
    began = begin(stage, group)
    with mutating(stage.cluster, tmp_path, "", "pods", with_sidecar):
        wait_rolled_out_past_the_sidecar(stage, "sidecar")
        assert gave_up(stage, "sidecar", began) == []
        assert most_down(stage, "sidecar", began) == 1
        assert restarts(stage, "sidecar", began) == {f"sidecar-{ordinal}": 1 for ordinal in range(REPLICAS)}
        assert_nothing_is_rewritten(stage, "sidecar")

        began = time.time()
        stage.cluster.annotate("sidecar", "restart", "with all of them injected")
        wait_for("every pod to be injected", lambda: injected(stage, "sidecar") == REPLICAS, 180.0)
        stage.cluster.wait_complete("sidecar")
        stage.cluster.wait_condition("sidecar", "Ready", "True")
        assert most_down(stage, "sidecar", began) == 1


def test_what_a_webhook_adds_to_the_stateful_set_is_left_and_not_fought_over(stage: Stage, tmp_path: Path) -> None:
    group = stage.group("defaulted")
    stage.create(group)
    began = begin(stage, group)
    with mutating(stage.cluster, tmp_path, "apps", "statefulsets", with_defaults):
        wait_rolled_out(stage, "defaulted")
        assert gave_up(stage, "defaulted", began) == []
        assert most_down(stage, "defaulted", began) == 1
        assert_nothing_is_rewritten(stage, "defaulted")
        began = begin(stage, group, "3")
        wait_rolled_out(stage, "defaulted", "3")
        assert restarts(stage, "defaulted", began) == {f"defaulted-{ordinal}": 1 for ordinal in range(REPLICAS)}
        assert_nothing_is_rewritten(stage, "defaulted")
        found = stage.cluster.get("sts", "defaulted") or {}
        assert found["metadata"]["labels"]["cost"] == "x"


def wait_rolled_out_past_the_sidecar(stage: Stage, name: str) -> None:
    stage.cluster.wait_complete(name)
    stage.cluster.wait_condition(name, "Ready", "True")
    assert 1 <= injected(stage, name) < REPLICAS, "the webhook did not come in the middle"


def injected(stage: Stage, name: str) -> int:
    return sum(pod["spec"]["containers"][0]["name"] == SIDECAR for pod in stage.cluster.pods(name))


def assert_nothing_is_rewritten(stage: Stage, name: str) -> None:
    """However often the operator looks, once it has held every pod in place, which is the last thing of a rollout."""
    wait_for(f"{name} to be held in place", lambda: is_parked(stage, name), 60.0)
    since = time.time()
    for _ in range(LOOKS):
        stage.look_again(name)
    assert operator_writes(stage.cluster.namespace, "statefulsets", name, since) == []


def is_parked(stage: Stage, name: str) -> bool:
    found = stage.cluster.get("sts", name) or {}
    update, status = found["spec"]["updateStrategy"], found["status"]
    held = (update.get("rollingUpdate") or {}).get("partition") == REPLICAS
    return bool(held and status.get("currentRevision") == status.get("updateRevision"))
