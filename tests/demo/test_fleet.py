"""What kubectl tells in JSON is read as pods and as progress."""

from __future__ import annotations

from typing import Any

import pytest

from demo.fleet import Progress, consumer_pods, progress
from demo.modes import Kind


def pod(name: str, **changes: Any) -> dict[str, Any]:
    status = {
        "phase": "Running",
        "conditions": [{"type": "Ready", "status": "True"}],
        "containerStatuses": [{"restartCount": 2, "state": {"running": {}}}],
    }
    return {
        "metadata": {"name": name, "uid": f"uid-{name}", **changes.get("metadata", {})},
        "spec": {"containers": [{"env": [{"name": "VERSION", "value": "v1"}]}]},
        "status": {**status, **changes.get("status", {})},
    }


def stateful_set(**status: Any) -> dict[str, Any]:
    whole = {
        "observedGeneration": 2,
        "currentRevision": "b",
        "updateRevision": "b",
        "updatedReplicas": 6,
        "readyReplicas": 6,
    }
    return {"metadata": {"generation": 2}, "spec": {"replicas": 6}, "status": whole | status}


def deployment(**status: Any) -> dict[str, Any]:
    whole = {"observedGeneration": 2, "replicas": 6, "updatedReplicas": 6, "availableReplicas": 6, "readyReplicas": 6}
    return {"metadata": {"generation": 2}, "spec": {"replicas": 6}, "status": whole | status}


def consumer_group(reason: str, status: str, message: str = "as it is", observed: int = 2) -> dict[str, Any]:
    condition = {"type": "Progressing", "status": status, "reason": reason, "message": message}
    return {
        "metadata": {"generation": 2},
        "spec": {},
        "status": {"observedGeneration": observed, "conditions": [condition]},
    }


def test_pods_are_read_in_order() -> None:
    pods = consumer_pods([pod("orders-1"), pod("orders-0")])
    assert [(each.name, each.version, each.state, each.restarts) for each in pods] == [
        ("orders-0", "v1", "Ready", 2),
        ("orders-1", "v1", "Ready", 2),
    ]


@pytest.mark.parametrize(
    ("changes", "state"),
    [
        ({"metadata": {"deletionTimestamp": "2026-01-01T00:00:00Z"}}, "ending"),
        ({"status": {"conditions": []}}, "starting"),
        ({"status": {"conditions": [], "phase": "Pending", "containerStatuses": []}}, "Pending"),
        (
            {"status": {"conditions": [], "containerStatuses": [{"state": {"waiting": {"reason": "ErrImagePull"}}}]}},
            "ErrImagePull",
        ),
    ],
)
def test_a_pod_has_one_word_for_its_state(changes: dict[str, Any], state: str) -> None:
    assert consumer_pods([pod("orders-0", **changes)])[0].state == state


@pytest.mark.parametrize(
    ("kind", "workload", "done"),
    [
        (Kind.STATEFUL_SET, stateful_set(), True),
        (Kind.STATEFUL_SET, stateful_set(observedGeneration=1), False),
        (Kind.STATEFUL_SET, stateful_set(currentRevision="a", updatedReplicas=5), False),
        (Kind.STATEFUL_SET, stateful_set(readyReplicas=5), False),
        (Kind.DEPLOYMENT, deployment(), True),
        (Kind.DEPLOYMENT, deployment(observedGeneration=1), False),
        (Kind.DEPLOYMENT, deployment(replicas=7), False),
        (Kind.DEPLOYMENT, deployment(availableReplicas=5), False),
        (Kind.CONSUMER_GROUP, consumer_group("Progressing", "True"), False),
        (Kind.CONSUMER_GROUP, consumer_group("RolloutComplete", "False"), True),
        (Kind.CONSUMER_GROUP, consumer_group("RolloutComplete", "False", observed=1), False),
        (Kind.CONSUMER_GROUP, consumer_group("RollingBack", "True"), False),
        (Kind.CONSUMER_GROUP, {"metadata": {"generation": 1}, "spec": {}}, False),
    ],
)
def test_a_rollout_is_done_when_its_owner_says_so_of_the_newest_spec(
    kind: Kind, workload: dict[str, Any], done: bool
) -> None:
    assert progress(kind, workload).done is done


def test_a_rollback_and_a_failure_are_ends_of_their_own() -> None:
    assert progress(Kind.CONSUMER_GROUP, consumer_group("RolledBack", "False")).rolled_back
    failed = progress(Kind.CONSUMER_GROUP, consumer_group("RolloutFailed", "False", "pod orders-5 is stuck"))
    assert failed == Progress(done=True, phase="RolloutFailed · pod orders-5 is stuck", failed="pod orders-5 is stuck")


def test_what_holds_a_rollout_up_is_told() -> None:
    workload = consumer_group("Progressing", "True", "rolling out version 5")
    gated = {"type": "RolloutGated", "status": "True", "reason": "GroupRebalancing", "message": "it rebalances"}
    workload["status"]["conditions"].append(gated)
    assert progress(Kind.CONSUMER_GROUP, workload).phase == "Progressing · GroupRebalancing: it rebalances"


def test_a_rollout_that_is_one_step_of_an_upgrade_is_not_the_end() -> None:
    workload = consumer_group("RolloutComplete", "False")
    way = {"current": "Eager", "from": "Eager", "to": "Cooperative", "strategy": "TwoBounce", "step": "1 of 2"}
    workload["status"]["protocol"] = way
    found = progress(Kind.CONSUMER_GROUP, workload)
    assert not found.done
    assert found.step == "1 of 2"
    assert found.protocol == "Eager → Cooperative, TwoBounce, step 1 of 2"
    workload["status"]["protocol"] = {"current": "Cooperative"}
    assert progress(Kind.CONSUMER_GROUP, workload).done


def test_a_protocol_that_is_refused_is_a_failure_in_the_operators_words() -> None:
    workload = consumer_group("RolloutComplete", "False")
    refused = {"type": "ProtocolUpgrade", "status": "False", "reason": "BrokerCannot", "message": "it is too old"}
    workload["status"]["conditions"].append(refused)
    assert progress(Kind.CONSUMER_GROUP, workload).failed == "BrokerCannot: it is too old"


def test_the_operators_pods_tell_what_they_are_made_for() -> None:
    made = pod("orders-0", metadata={"annotations": {"slackwater.dev/protocol": "Eager"}})
    assert consumer_pods([made])[0].profile == "Eager"
