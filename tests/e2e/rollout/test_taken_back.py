"""What a version brought along besides its image goes again with it: an account, a second consumer; and nothing that
happens meanwhile loses the way back. All groups change at once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import pytest

from tests.e2e.stage.cluster import Json
from tests.e2e.stage.groups import with_command, with_env
from tests.e2e.stage.stage import Stage
from tests.e2e.stage.waiting import wait_for

pytestmark = [pytest.mark.e2e, pytest.mark.minutes(3), pytest.mark.timeout(600)]

DEADLINE_S: Final = 240.0
BACK: Final = {"onFailure": "Rollback", "rejoinTimeout": "30s"}
TWO_CONSUMERS: Final = (
    "(unset KAFKA_GROUP_INSTANCE_ID; READY_PORT=8081 STATE_DIRECTORY=/tmp exec python3 -m sandbox.workload.consumer) &"
    " exec python3 -m sandbox.workload.consumer"
)


def with_account(group: Json, name: str) -> Json:
    template = group["spec"]["template"]
    changed = {**template, "spec": {**template["spec"], "serviceAccountName": name}}
    return {**group, "spec": {**group["spec"], "template": changed}}


def accounts(stage: Stage, name: str) -> set[Any]:
    """Of its pods, and what its StatefulSet asks for by each of the field's two names."""
    made = stage.cluster.get("sts", name)
    assert made is not None
    pod = made["spec"]["template"]["spec"]
    asked = {pod.get("serviceAccountName"), pod.get("serviceAccount")}
    return asked | {each["spec"]["serviceAccountName"] for each in stage.cluster.pods(name)}


@pytest.fixture(scope="module")
def applied(stage: Stage) -> Iterator[dict[str, Json]]:
    """Each group has its second version, which is no good but for that of `worker`."""
    stage.cluster.kubectl("create", "serviceaccount", "worker")
    begun = {
        "nobody": stage.group("nobody", rollout=BACK),
        "worker": stage.group("worker"),
        "second": stage.group("second", rollout=BACK),
    }
    wanted = {
        "nobody": with_account(with_env(begun["nobody"], VERSION="2"), "nobody"),
        "worker": with_account(with_env(begun["worker"], VERSION="2"), "worker"),
        "second": with_command(with_env(begun["second"], VERSION="2"), TWO_CONSUMERS),
    }
    stage.create(*begun.values())
    stage.cluster.apply(*wanted.values())
    yield begun


def wait_back(stage: Stage, name: str, members: int = 3) -> None:
    stage.cluster.wait_phase(name, "RolledBack", DEADLINE_S)
    stage.cluster.wait_condition(name, "Ready", "True")
    wait_for(f"{members} members", lambda: stage.cluster.status(name)["group"]["members"] == members)


def test_an_account_that_does_not_exist_keeps_nobody_from_going_back(stage: Stage, applied: dict[str, Json]) -> None:
    wait_back(stage, "nobody")
    assert accounts(stage, "nobody") == {None, "default"}


def test_an_account_that_is_asked_for_no_more_is_gone(stage: Stage, applied: dict[str, Json]) -> None:
    stage.cluster.wait_complete("worker", DEADLINE_S)
    assert accounts(stage, "worker") == {"worker"}
    stage.cluster.apply(with_env(applied["worker"], VERSION="3"))
    stage.cluster.wait_complete("worker", DEADLINE_S)
    assert accounts(stage, "worker") == {None, "default"}


def test_a_second_consumer_without_an_instance_id_goes_no_further(stage: Stage, applied: dict[str, Json]) -> None:
    """Its pods are in the group, and each of them twice."""
    wait_back(stage, "second")
    failed = {str(event["message"]) for event in stage.cluster.events("second") if event["reason"] == "RollingBack"}
    assert any("has had 2 members in the group" in message for message in failed), failed


def test_scaled_to_nothing_and_back_in_mid_handover_the_good_version_is_not_lost(stage: Stage) -> None:
    """At 0 the StatefulSet of the good version is emptied, and goes."""
    group = stage.group("to-nothing", rollout={**BACK, "strategy": "WarmHandover"})
    stage.create(group)
    stage.cluster.apply(with_env(group, VERSION="2", NEVER_JOIN="1"))
    wait_for("a replacement", lambda: len(stage.cluster.pods("to-nothing")) == 4, DEADLINE_S)
    stage.cluster.kubectl("scale", "cg", "to-nothing", "--replicas=0")

    def left() -> list[str]:
        sets = stage.cluster.kubectl("get", "sts", "-l", "slackwater.dev/group=to-nothing", "-o", "name")
        return [*sets.split(), *(str(pod["metadata"]["name"]) for pod in stage.cluster.pods("to-nothing"))]

    wait_for("one StatefulSet, and no pod", lambda: len(left()) == 1, DEADLINE_S, left)
    stage.cluster.kubectl("scale", "cg", "to-nothing", "--replicas=2")
    wait_back(stage, "to-nothing", 2)
