"""A version that fails is stopped at its first pod, and given up or held as `onFailure` says. Commands by annotation.

All bad versions are applied at once, so that their timeouts pass side by side.
"""

from __future__ import annotations

import pytest

from slackwater.api.timestamps import moment
from tests.e2e.stage.cluster import Cluster, Json, condition
from tests.e2e.stage.groups import failing_on_last_pod, with_env, with_image
from tests.e2e.stage.progress import incarnations
from tests.e2e.stage.recorder import Record, Recorder
from tests.e2e.stage.stage import Stage
from tests.e2e.stage.waiting import wait_for

pytestmark = [pytest.mark.e2e, pytest.mark.minutes(3), pytest.mark.timeout(900)]

PODS = 2
ROLLBACK = {"onFailure": "Rollback"}
PAUSE = {"onFailure": "Pause"}
SWITCH = "switch"
PASSES = 20
CANARY_HOLD_S = 3


def impatient(group: Json) -> Json:
    """Long enough for a good pod on a busy machine, short enough to be waited for."""
    rollout = {**group["spec"]["rollout"], "rejoinTimeout": "75s"}
    return {**group, "spec": {**group["spec"], "rollout": rollout}}


def never_joining(group: Json) -> Json:
    return impatient(with_env(group, VERSION="2", NEVER_JOIN="1"))


def never_joining_while_switched(group: Json) -> Json:
    """The fault stands outside the template, in a ConfigMap, and can be mended there."""
    switched = {"configMapKeyRef": {"name": SWITCH, "key": "never-join"}}
    return impatient(with_env(group, VERSION="2", NEVER_JOIN=switched))


def imageless(group: Json) -> Json:
    return with_env(with_image(group, "slackwater/consumer:no-such-tag"), VERSION="2")


@pytest.fixture(scope="module")
def failing(stage: Stage) -> dict[str, Json]:
    """Good groups that were just told to take a bad version; by name, as they were when good.

    Another one, `canary`, was told to take a good version in steps.
    """
    bad = {
        "absent": (ROLLBACK, never_joining),
        "imageless": (ROLLBACK, imageless),
        "crashing": (ROLLBACK, lambda group: with_env(group, VERSION="2", CRASH_TIMES="1000")),
        "late": (ROLLBACK, lambda group: impatient(failing_on_last_pod(group))),
        "retried": (PAUSE, never_joining_while_switched),
        "replaced": (PAUSE, never_joining),
        "aborted": (PAUSE, never_joining),
    }
    groups = {name: stage.group(name, rollout=rollout, replicas=PODS) for name, (rollout, _) in bad.items()}
    stage.cluster.kubectl("create", "configmap", SWITCH, "--from-literal=never-join=1")
    canary = stage.group("canary", rollout={"canary": [{"replicas": 1, "hold": f"{CANARY_HOLD_S}s"}, {"replicas": 2}]})
    stage.create(*groups.values(), canary)
    # Without `impatient` they have five minutes, in which a container crashes often enough to count as stuck.
    stage.cluster.apply(*(spoil(groups[name]) for name, (_, spoil) in bad.items()), with_env(canary, VERSION="2"))
    return groups


def restarts(recorder: Recorder, group: str) -> dict[int, int]:
    """Ordinal → how often its pod was replaced."""
    uids = incarnations(recorder.records("pods"), group)
    return {int(name.rpartition("-")[2]): len(each) - 1 for name, each in uids.items()}


def versions(cluster: Cluster, group: str) -> list[str]:
    """What the pods that are there were told to be, by ordinal."""
    envs = [pod["spec"]["containers"][0]["env"] for pod in cluster.pods(group)]
    return [next(entry["value"] for entry in env if entry["name"] == "VERSION") for env in envs]


def assert_rolled_back(stage: Stage, name: str, why: str, told_as: str = "RollingBack") -> None:
    """Every pod works with the first version again, and people are told why."""
    stage.cluster.wait_phase(name, "RolledBack")
    stage.cluster.wait_condition(name, "Ready", "True")
    assert versions(stage.cluster, name) == ["1"] * PODS
    degraded = stage.cluster.condition(name, "Degraded")
    assert (degraded["status"], degraded["reason"]) == ("True", "RolloutFailed")
    assert why in degraded["message"]

    def is_told() -> bool:  # Events come after the status
        return {event["reason"] for event in stage.cluster.events(name)} >= {told_as, "RolledBack"}

    wait_for("Events that tell of it", is_told)


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("absent", "absent-1 is Ready but has not joined the group"),
        ("imageless", "imageless-1 is stuck in"),
        ("crashing", "crashing-1 is stuck in CrashLoopBackOff"),
    ],
)
def test_a_bad_version_touches_one_pod_and_is_rolled_back(
    stage: Stage, failing: dict[str, Json], name: str, why: str
) -> None:
    assert_rolled_back(stage, name, why)
    assert restarts(stage.recorder, name) == {0: 0, 1: 2}


def test_a_version_that_fails_at_the_last_pod_is_rolled_back_everywhere(stage: Stage, failing: dict[str, Json]) -> None:
    """By then the StatefulSet takes the bad revision for its current one (F25)."""
    assert_rolled_back(stage, "late", "late-0 is Ready but has not joined the group")
    assert restarts(stage.recorder, "late") == {0: 2, 1: 2}


def assert_stopped(stage: Stage, name: str) -> None:
    """At the first pod, and nothing moves however often the operator looks."""
    stage.cluster.wait_phase(name, "Failed")
    gated = stage.cluster.wait_condition(name, "RolloutGated", "True", "RolloutFailed")
    assert f"{name}-1 is Ready but has not joined" in gated["message"]
    stage.wait_passes(PASSES)
    assert restarts(stage.recorder, name) == {0: 0, 1: 1}


def test_pause_waits_for_retry(stage: Stage, failing: dict[str, Json]) -> None:
    assert_stopped(stage, "retried")
    stage.cluster.patch("configmap", SWITCH, {"data": {"never-join": "0"}})
    stage.cluster.patch("cg", "retried", {"spec": {"rollout": {"rejoinTimeout": "2m"}}})
    stage.cluster.annotate("retried", "retry", "mended")
    stage.cluster.wait_complete("retried")
    assert restarts(stage.recorder, "retried") == {0: 1, 1: 2}
    assert stage.cluster.condition("retried", "Degraded")["status"] == "False"


def test_pause_waits_for_another_template(stage: Stage, failing: dict[str, Json]) -> None:
    assert_stopped(stage, "replaced")
    stage.cluster.apply(with_env(failing["replaced"], VERSION="3"))
    stage.cluster.wait_complete("replaced")
    assert restarts(stage.recorder, "replaced") == {0: 1, 1: 2}
    assert versions(stage.cluster, "replaced") == ["3"] * PODS


def test_abort_goes_back(stage: Stage, failing: dict[str, Json]) -> None:
    assert_stopped(stage, "aborted")
    stage.cluster.annotate("aborted", "abort", "now")
    assert_rolled_back(stage, "aborted", "aborted by annotation", told_as="Aborted")
    assert restarts(stage.recorder, "aborted") == {0: 0, 1: 2}


def test_restart_rolls_every_pod(stage: Stage, failing: dict[str, Json]) -> None:
    """After a rollback too: the template that is restarted is the last good one, applied again."""
    stage.cluster.wait_phase("absent", "RolledBack")
    stage.cluster.apply(failing["absent"])
    stage.cluster.wait_complete("absent")
    before = restarts(stage.recorder, "absent")
    stage.cluster.annotate("absent", "restart", "today")
    wait_for("the command to be obeyed", lambda: stage.cluster.status("absent").get("commands"))
    stage.cluster.wait_complete("absent")
    assert restarts(stage.recorder, "absent") == {ordinal: count + 1 for ordinal, count in before.items()}


def test_canaries_hold_for_their_time_and_until_promoted(stage: Stage, failing: dict[str, Json]) -> None:
    wait_for("the second pod", lambda: restarts(stage.recorder, "canary") == {0: 0, 1: 1, 2: 1})
    first = stage.recorder.first("the first hold", "consumergroups", lambda obj: holds_canary(obj, 0), 0.0)
    second = stage.recorder.first("the second hold", "consumergroups", lambda obj: holds_canary(obj, 1), 0.0)
    assert _held_since(second) - _held_since(first) >= CANARY_HOLD_S
    stage.wait_passes(PASSES)
    assert restarts(stage.recorder, "canary") == {0: 0, 1: 1, 2: 1}
    stage.cluster.annotate("canary", "promote", "now")
    stage.cluster.wait_complete("canary")
    assert restarts(stage.recorder, "canary") == {0: 1, 1: 1, 2: 1}
    assert "Promoted" in {event["reason"] for event in stage.cluster.events("canary")}


def _held_since(record: Record) -> float:
    return moment(record.obj["status"]["rollout"]["canary"]["heldSince"])


def holds_canary(obj: Json, index: int) -> bool:
    held = condition(obj, "RolloutGated").get("reason") == "CanaryHold"
    canary = obj.get("status", {}).get("rollout", {}).get("canary") or {}
    return bool(held and canary.get("index") == index)
