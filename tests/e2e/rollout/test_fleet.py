"""Four groups in a fleet that lets one move at a time: one apply, a killed operator, a pause, and a bad version.

How many moved is read from pods, and who wrote what from the API server's audit log, not from what the operator says.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any, Final

import pytest

from tests.e2e.stage.audit import operator_writes
from tests.e2e.stage.cluster import Json, condition
from tests.e2e.stage.groups import with_env
from tests.e2e.stage.progress import down_over_time, incarnations, pods_of
from tests.e2e.stage.stage import Stage
from tests.e2e.stage.waiting import wait_for

pytestmark = [pytest.mark.e2e, pytest.mark.long, pytest.mark.timeout(1200), pytest.mark.minutes(6)]

FLEET: Final = "one-at-a-time"
NAMES: Final = ("alpha", "beta", "gamma", "delta")
REPLICAS: Final = 2
KILLS: Final = 4
LOOKS_AT_REST: Final = 12
"""Passes over groups that wait: each has had its turn to do what it must not."""


@pytest.fixture(scope="module", autouse=True)
def fleet(stage: Stage) -> Iterator[None]:
    stage.cluster.apply(manifest())
    stage.create(*(group(stage, name, "1") for name in NAMES))
    yield
    stage.cluster.kubectl("delete", "consumerfleet", FLEET, "--ignore-not-found")


def manifest(**spec: Any) -> Json:
    """Its budget is one group, and the first that fails halts it."""
    said = {"selector": {}, "budgets": [{"name": "all", "max": 1}], "halt": {"failures": 0}, **spec}
    metadata = {"name": FLEET}
    return {"apiVersion": "slackwater.dev/v1alpha1", "kind": "ConsumerFleet", "metadata": metadata, "spec": said}


def group(stage: Stage, name: str, version: str, **variables: str | None) -> Json:
    made = stage.group(name, replicas=REPLICAS, rollout={"rejoinTimeout": "60s"})
    return with_env(made, VERSION=version, **variables)


def most_at_once(stage: Stage, since: float) -> int:
    """How many groups had a pod away at the same time, at most."""
    changes = sorted(
        (at, name, bool(down))
        for name in NAMES
        for at, down in down_over_time(stage.recorder.records("pods"), name, REPLICAS)
        if at >= since
    )
    away, most = dict.fromkeys(NAMES, False), 0
    for _, name, is_down in changes:
        away[name] = is_down
        most = max(most, sum(away.values()))
    return most


def versions(stage: Stage, name: str) -> set[str]:
    """All that its pods ever had, by the records."""
    found = (record.obj["spec"]["containers"][0]["env"] for record in pods_of(stage.recorder.records("pods"), name))
    return {each["value"] for env in found for each in env if each["name"] == "VERSION"}


def turn(stage: Stage, name: str) -> Json:
    found: Json = (stage.cluster.status(name).get("rollout") or {}).get("turn") or {}
    return found


def having(stage: Stage) -> list[str]:
    found = {name: turn(stage, name) for name in NAMES}
    return [name for name, each in found.items() if each.get("givenAt") and not each.get("doneAt")]


def of_the_fleet(stage: Stage, kind: str) -> Json:
    return condition(stage.cluster.get("consumerfleet", FLEET) or {}, kind)


def test_one_moves_at_a_time_though_the_operator_is_killed(stage: Stage) -> None:
    began, before = time.time(), {name: incarnations(stage.recorder.records("pods"), name) for name in NAMES}
    stage.cluster.apply(*(group(stage, name, "2") for name in NAMES))
    for number in range(KILLS):
        wait_for(f"a group to have its turn, {number}", lambda: having(stage), 180.0, stage.operator.log_tail)
        stage.operator.kill()
        stage.operator.start()
        stage.operator.wait_ready()
    for name in NAMES:
        stage.cluster.wait_complete(name, 600.0)
    assert most_at_once(stage, began) == 1
    after = {name: incarnations(stage.recorder.records("pods"), name) for name in NAMES}
    made = {pod: len(uids) for each in after.values() for pod, uids in each.items()}
    assert made == {pod: len(uids) + 1 for each in before.values() for pod, uids in each.items()}


def test_who_waits_is_written_of_once(stage: Stage) -> None:
    """While the fleet is paused nobody begins, and the groups that wait cost the API server nothing."""
    stage.cluster.apply(manifest(pause="an audit"))
    wait_for("the pause to be seen", lambda: of_the_fleet(stage, "Open").get("reason") == "Paused")
    stage.cluster.apply(*(group(stage, name, "3") for name in NAMES))
    for name in NAMES:
        stage.cluster.wait_condition(name, "RolloutGated", "True", "AwaitingTurn")
    since = time.time()
    stage.wait_passes(LOOKS_AT_REST)
    assert {name: operator_writes(stage.cluster.namespace, "consumergroups/status", name, since) for name in NAMES} == {
        name: [] for name in NAMES
    }
    assert not having(stage)
    began = time.time()
    stage.cluster.apply(manifest())
    for name in NAMES:
        stage.cluster.wait_complete(name, 600.0)
    assert most_at_once(stage, began) == 1


def test_a_bad_version_reaches_one_group_and_the_right_one_lifts_the_halt(stage: Stage) -> None:
    stage.cluster.apply(*(group(stage, name, "bad", NEVER_JOIN="1") for name in NAMES))
    wait_for("the halt", lambda: of_the_fleet(stage, "Halted").get("status") == "True", 300.0, stage.operator.log_tail)
    stage.wait_passes(LOOKS_AT_REST)
    broken = [name for name in NAMES if "bad" in versions(stage, name)]
    assert len(broken) == 1
    assert not having(stage)
    stage.cluster.apply(group(stage, broken[0], "4", NEVER_JOIN=None))
    stage.cluster.wait_complete(broken[0], 600.0)
    wait_for("the halt to be lifted", lambda: of_the_fleet(stage, "Halted").get("status") == "False")
    stage.cluster.apply(*(group(stage, name, "4", NEVER_JOIN=None) for name in NAMES))
    for name in NAMES:
        stage.cluster.wait_complete(name, 600.0)
    assert [name for name in NAMES if "bad" in versions(stage, name)] == broken


def test_a_fleet_that_is_deleted_moves_nobody(stage: Stage) -> None:
    before = {name: incarnations(stage.recorder.records("pods"), name) for name in NAMES}
    stage.cluster.kubectl("delete", "consumerfleet", FLEET)
    stage.look_again(*NAMES)
    assert {name: incarnations(stage.recorder.records("pods"), name) for name in NAMES} == before
    assert {stage.cluster.status(name)["rollout"]["phase"] for name in NAMES} == {"Complete"}
