"""A ResourceQuota without room: Kubernetes' words are said, no version is blamed, and it ends when it is lifted."""

from __future__ import annotations

import time
from typing import Final

import pytest

from slackwater.api.annotations import WOKEN_AT
from slackwater.api.timestamps import moment
from tests.e2e.kubernetes.halfway import gave_up, restarts, wait_rolled_out
from tests.e2e.stage.groups import REPLICAS, with_env
from tests.e2e.stage.stage import Stage
from tests.e2e.stage.waiting import wait_for

pytestmark = [pytest.mark.e2e, pytest.mark.long, pytest.mark.minutes(4), pytest.mark.timeout(600)]

QUOTA: Final = "little"
REJOIN_S: Final = 60.0
ENDS_WITHIN_S: Final = 300.0
"""The StatefulSet controller tries again at ever longer intervals."""


def allow(stage: Stage, pods: int) -> None:
    """And the quota's own count is there."""
    spec = {"hard": {"pods": str(pods)}}
    stage.cluster.apply({"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": QUOTA}, "spec": spec})
    used = ("get", "resourcequota", QUOTA, "-o", "jsonpath={.status.hard.pods}/{.status.used.pods}")
    wait_for("the quota", lambda: stage.cluster.kubectl(*used).startswith(f"{pods}/"), 30.0)


def lift(stage: Stage) -> None:
    stage.cluster.kubectl("delete", "resourcequota", QUOTA, "--ignore-not-found")


def is_woken(stage: Stage, name: str) -> bool:
    found = stage.cluster.get("statefulset", name)
    return found is not None and WOKEN_AT in found["metadata"].get("annotations", {})


def test_a_pod_more_for_which_there_is_no_room_comes_when_there_is(stage: Stage) -> None:
    """Soon, though its controller waits ever longer by itself: it is woken."""
    stage.create(stage.group("more", replicas=REPLICAS))
    began = time.time()
    allow(stage, REPLICAS)
    try:
        stage.cluster.kubectl("scale", "cg", "more", f"--replicas={REPLICAS + 1}")
        refused = "exceeded quota"
        stage.recorder.first("the refusal", "events", lambda event: refused in event.get("message", ""), began)
        stage.cluster.wait_condition("more", "Ready", "False")
        wait_for("its controller to be woken", lambda: is_woken(stage, "more"), 90.0, stage.operator.log_tail)
    finally:
        lift(stage)
    wait_rolled_out(stage, "more", "1", REPLICAS + 1)
    assert gave_up(stage, "more", began) == []
    assert restarts(stage, "more", began) == {f"more-{ordinal}": int(ordinal == REPLICAS) for ordinal in range(4)}


def test_in_a_rollout_no_version_is_blamed_for_it(stage: Stage) -> None:
    stage.cluster.kubectl("delete", "cg", "more", "--ignore-not-found")
    group = stage.group("blamed", rollout={"rejoinTimeout": f"{REJOIN_S:.0f}s", "onFailure": "Rollback"})
    stage.create(group)
    began = time.time()
    allow(stage, REPLICAS - 1)
    try:
        stage.cluster.apply(with_env(group, VERSION="2"))
        stage.recorder.first("the refusal", "events", lambda event: "exceeded quota" in event.get("message", ""), began)
        wait_for(
            "Kubernetes' words in the condition",
            lambda: "exceeded quota" in stage.cluster.condition("blamed", "RolloutGated").get("message", ""),
            45.0,
            lambda: stage.cluster.summary("blamed"),
        )
        step = stage.cluster.status("blamed")["rollout"]["step"]["startedAt"]
        wait_for("rejoinTimeout to be over", lambda: time.time() > moment(step) + REJOIN_S, 2 * REJOIN_S)
        stage.look_again("blamed")
        assert gave_up(stage, "blamed", began) == []
    finally:
        lift(stage)
    stage.cluster.wait_complete("blamed", ENDS_WITHIN_S)
    wait_rolled_out(stage, "blamed")
    assert gave_up(stage, "blamed", began) == []
