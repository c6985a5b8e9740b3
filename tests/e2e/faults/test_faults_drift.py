"""Somebody deletes or changes what the operator made; it puts it right, and restarts no pod for it that need not be."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from tests.e2e.faults.fault_stage import GROUP, POD_NAMES, FaultStage, fault_stage, is_ready
from tests.e2e.stage.cluster import Json
from tests.e2e.stage.groups import REPLICAS
from tests.e2e.stage.waiting import wait_for

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(240)]

PORT: Final = 18111
RIGHT_WITHIN_S: Final = 30.0
NOT_WAITING: Final = "--wait=false"
"""What is made again before kubectl looks is waited for by kubectl, under the same name, until its deletion."""


@pytest.fixture(scope="module")
def stage(
    crds: None, kubeconfig: Path, bootstrap_servers: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[FaultStage]:
    with fault_stage(kubeconfig, bootstrap_servers, tmp_path_factory.mktemp("drift"), PORT) as made:
        made.apply_version("first")
        made.start_operator()
        made.wait_ended()
        yield made


@pytest.mark.parametrize("kind", ["service", "poddisruptionbudget"])
def test_what_stands_beside_the_pods_is_made_again(stage: FaultStage, kind: str) -> None:
    uids, uid = stage.uids(), _uid(stage, kind)
    stage.cluster.kubectl("delete", kind, GROUP, NOT_WAITING)
    wait_for(f"another {kind}", lambda: _uid(stage, kind) not in ("", uid), RIGHT_WITHIN_S)
    assert stage.uids() == uids


def test_a_statefulset_scaled_by_hand_is_scaled_back(stage: FaultStage) -> None:
    kept = {name: stage.uids()[name] for name in POD_NAMES[:2]}
    stage.cluster.kubectl("scale", "statefulset", GROUP, "--replicas=2")
    wait_for("all pods", lambda: _all_are_back(stage), RIGHT_WITHIN_S)
    stage.wait_ended()
    assert {name: stage.uids()[name] for name in POD_NAMES[:2]} == kept


def _all_are_back(stage: FaultStage) -> bool:
    """And the StatefulSet controller is done: a pod that still ends is not there for long."""
    found, pods = stage.stateful_set(), stage.pods()
    done = found["status"].get("observedGeneration") == found["metadata"]["generation"]
    whole = found["spec"]["replicas"] == REPLICAS and tuple(pod["metadata"]["name"] for pod in pods) == POD_NAMES
    return done and whole and all(is_ready(pod) and "deletionTimestamp" not in pod["metadata"] for pod in pods)


def test_a_partition_lowered_by_hand_is_raised_again(stage: FaultStage) -> None:
    """Else the next template would run through all pods at once (F26)."""
    uids = stage.uids()
    stage.cluster.patch("statefulset", GROUP, {"spec": {"updateStrategy": {"rollingUpdate": {"partition": 0}}}})
    wait_for("the partition", lambda: _partition(stage.stateful_set()) == REPLICAS, RIGHT_WITHIN_S)
    assert stage.uids() == uids


def test_a_statefulset_deleted_with_its_pods_is_made_again(stage: FaultStage) -> None:
    before, uid = stage.recorder.snapshot(), _uid(stage, "statefulset")
    stage.cluster.kubectl("delete", "statefulset", GROUP, NOT_WAITING)
    wait_for("another StatefulSet", lambda: _uid(stage, "statefulset") not in ("", uid), RIGHT_WITHIN_S)
    stage.wait_ended()
    assert stage.recorder.restarts(before) == dict.fromkeys(POD_NAMES, 1)


def test_a_statefulset_deleted_without_its_pods_takes_them_over(stage: FaultStage) -> None:
    """Orphans are adopted: nobody stops consuming."""
    uids, uid = stage.uids(), _uid(stage, "statefulset")
    stage.cluster.kubectl("delete", "statefulset", GROUP, "--cascade=orphan", NOT_WAITING)
    wait_for("another StatefulSet", lambda: _uid(stage, "statefulset") not in ("", uid), RIGHT_WITHIN_S)
    stage.wait_ended()
    assert stage.uids() == uids


def test_a_pod_deleted_by_hand_comes_back_as_it_was(stage: FaultStage) -> None:
    before = stage.recorder.snapshot()
    stage.cluster.kubectl("delete", "pod", POD_NAMES[1], NOT_WAITING)
    wait_for("the pod's return", lambda: sum(stage.recorder.restarts(before).values()) == 1, RIGHT_WITHIN_S)
    stage.wait_ended()
    assert stage.recorder.restarts(before) == {POD_NAMES[0]: 0, POD_NAMES[1]: 1, POD_NAMES[2]: 0}
    assert stage.versions() == ["first"] * REPLICAS


def _uid(stage: FaultStage, kind: str) -> str:
    text = stage.cluster.kubectl("get", kind, GROUP, "--ignore-not-found", "-o", "jsonpath={.metadata.uid}")
    return text.strip()


def _partition(stateful_set: Json) -> int | None:
    partition: int | None = (stateful_set["spec"]["updateStrategy"].get("rollingUpdate") or {}).get("partition")
    return partition
