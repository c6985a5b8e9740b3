"""How pods ended, as the cluster tells it."""

from __future__ import annotations

import json
import tracemalloc
from typing import Any

import pytest

from slackwater.adapters.telemetry.pod_ends import PodEnds
from slackwater.api.telemetry.words import RestartReason
from slackwater.core.telemetry.sight import PodEnd

NOON = 1_769_860_800.0
GROUP = ("shop", "payments")


def pod(uid: str = "uid-1", *, reason: str = "", disruption: str = "", **consumer: Any) -> dict[str, Any]:
    sidecar = {"name": "proxy", "state": {"terminated": {"finishedAt": "2026-01-31T13:00:00Z", "reason": "Error"}}}
    status: dict[str, Any] = {"containerStatuses": [sidecar, {"name": "consumer", **consumer}]}
    if reason:
        status["reason"] = reason
    if disruption:
        status["conditions"] = [{"type": "DisruptionTarget", "status": "True", "reason": disruption}]
    return {"metadata": {"uid": uid}, "status": status}


def terminated(at: str, reason: str = "Completed") -> dict[str, Any]:
    return {"terminated": {"finishedAt": at, "reason": reason, "exitCode": 137}}


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        (pod(state=terminated("2026-01-31T12:00:00Z")), PodEnd(NOON)),
        (pod(state=terminated("2026-01-31T12:00:00Z", "OOMKilled")), PodEnd(NOON, RestartReason.OUT_OF_MEMORY)),
        (
            pod(
                state={"running": {"startedAt": "2026-01-31T12:00:01Z"}},
                lastState=terminated("2026-01-31T12:00:00Z", "OOMKilled"),
            ),
            PodEnd(NOON, RestartReason.OUT_OF_MEMORY),
        ),
        (
            pod(state=terminated("2026-01-31T12:00:00Z"), lastState=terminated("2026-01-31T11:00:00Z", "OOMKilled")),
            PodEnd(NOON),
        ),
        (
            pod(disruption="EvictionByEvictionAPI", state=terminated("2026-01-31T12:00:00Z")),
            PodEnd(NOON, RestartReason.EVICTED),
        ),
        (pod(disruption="DeletionByTaintManager", state={"running": {}}), PodEnd(None, RestartReason.NODE_LOST)),
        (pod(reason="NodeLost", state={"running": {}}), PodEnd(None, RestartReason.NODE_LOST)),
        (pod(reason="Evicted"), PodEnd(None, RestartReason.EVICTED)),
        (pod(state={"running": {}}), PodEnd(None)),
    ],
)
def test_what_is_told(told: dict[str, Any], expected: PodEnd) -> None:
    ends = PodEnds()
    ends.take(GROUP, told)
    assert ends.of(GROUP, "consumer") == {"uid-1": expected}


def test_pods_that_run_are_not_kept() -> None:
    ends = PodEnds()
    ends.take(GROUP, {"metadata": {"uid": "uid-1"}, "status": {"containerStatuses": [{"name": "consumer"}]}})
    ends.take(GROUP, {"metadata": {"uid": "uid-2"}, "status": {}})
    assert ends.of(GROUP, "consumer") == {}


def test_only_so_many_are_kept() -> None:
    ends = PodEnds(kept=2)
    for number in (1, 2, 1, 3):
        ends.take(GROUP, pod(f"uid-{number}", state=terminated("2026-01-31T12:00:00Z")))
    assert sorted(ends.of(GROUP, "consumer")) == ["uid-1", "uid-3"]
    ends.forget(GROUP)
    assert ends.of(GROUP, "consumer") == {}


def test_a_pod_that_has_ended_costs_a_few_hundred_bytes_and_not_its_whole_status() -> None:
    pods, ends = 200, PodEnds()
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        for number in range(pods):
            told = pod(f"uid-{number}", state=terminated("2026-01-31T12:00:00Z"))
            told["status"]["conditions"] = [{"type": "Ready", "status": "False", "message": "m" * 100}] * 10
            ends.take(GROUP, json.loads(json.dumps(told)))  # its strings are its own, as the API server's are
        after, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(ends.of(GROUP, "consumer")) == pods
    assert (after - before) / pods < 700
