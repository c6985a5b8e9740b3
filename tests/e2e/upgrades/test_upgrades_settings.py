"""Session and heartbeat where each protocol keeps them, within what brokers allow; for KIP-848's no pod restarts."""

from __future__ import annotations

import pytest

from tests.e2e.stage.cluster import Json
from tests.e2e.stage.progress import incarnations
from tests.e2e.stage.stage import Stage
from tests.e2e.stage.waiting import wait_for
from tests.e2e.upgrades.upgrades import RDKAFKA

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(400)]

MODERN, HASTY = "modern", "hasty"
SESSION, HEARTBEAT = "consumer.session.timeout.ms", "consumer.heartbeat.interval.ms"


def modern(stage: Stage, **consumer: str) -> Json:
    """A KIP-848 group; `consumer`: what its spec says about its timeouts."""
    timeouts: Json = {"timeouts": {"consumer": consumer}} if consumer else {}
    return stage.group(MODERN, client=RDKAFKA, protocol={"target": "Consumer"}, replicas=2, **timeouts)


@pytest.fixture(scope="module")
def groups(stage: Stage) -> None:
    hasty = stage.group(HASTY, client=RDKAFKA, replicas=1, timeouts={"session": "3s"}, protocol={"target": "Eager"})
    stage.create(modern(stage, session="50s"), hasty)


def wait_settings(stage: Stage, **wanted: str) -> None:
    """Until Kafka has exactly these for the group, and nothing else of its own."""
    expected = {{"session": SESSION, "heartbeat": HEARTBEAT}[name]: value for name, value in wanted.items()}

    def look() -> bool:
        return stage.kafka.group_settings(stage.group_id(MODERN)) == expected

    wait_for(f"settings {expected}", look, 30.0, lambda: stage.kafka.group_settings(stage.group_id(MODERN)))


def test_they_come_and_change_and_go_without_a_restart(stage: Stage, groups: None) -> None:
    wait_settings(stage, session="50000")
    stage.cluster.wait_condition(MODERN, "TimeoutsClamped", "False", "WithinBounds")
    stage.cluster.apply(modern(stage, session="55s", heartbeat="6s"))
    wait_settings(stage, session="55000", heartbeat="6000")
    stage.cluster.apply(modern(stage, heartbeat="6s"))
    wait_settings(stage, heartbeat="6000")
    stage.cluster.apply(modern(stage))
    wait_settings(stage)
    assert_untouched(stage)


def test_they_are_held_within_what_the_brokers_allow(stage: Stage, groups: None) -> None:
    stage.cluster.apply(modern(stage, session="20s", heartbeat="2s"))
    wait_settings(stage, session="45000", heartbeat="5000")
    said = stage.cluster.wait_condition(MODERN, "TimeoutsClamped", "True", "Clamped")
    assert "timeouts.consumer.session 20s" in said["message"]
    assert "it is 45s" in said["message"]
    assert "timeouts.consumer.heartbeat 2s" in said["message"]
    assert_untouched(stage)


def test_what_somebody_else_changed_is_put_right(stage: Stage, groups: None) -> None:
    stage.cluster.apply(modern(stage, session="50s"))
    wait_settings(stage, session="50000")
    stage.kafka.alter_group_settings(stage.group_id(MODERN), {SESSION: "47000"})
    stage.look_again(MODERN)
    wait_settings(stage, session="50000")
    assert_untouched(stage)


def test_a_classic_session_is_held_within_bounds_in_the_pods(stage: Stage, groups: None) -> None:
    """Outside of them no consumer could join (F22)."""
    said = stage.cluster.wait_condition(HASTY, "TimeoutsClamped", "True", "Clamped")
    assert "timeouts.session 3s" in said["message"]
    (pod,) = stage.cluster.pods(HASTY)
    values = {entry["name"]: entry.get("value") for entry in pod["spec"]["containers"][0]["env"]}
    assert values["KAFKA_SESSION_TIMEOUT_MS"] == "6000"
    assert set(stage.kafka.look(stage.group_id(HASTY)).members) == {f"{HASTY}-0"}


def assert_untouched(stage: Stage) -> None:
    pods = incarnations(stage.recorder.records("pods"), MODERN)
    assert {name: len(uids) for name, uids in pods.items()} == {f"{MODERN}-0": 1, f"{MODERN}-1": 1}
    restarts = [s["restartCount"] for pod in stage.cluster.pods(MODERN) for s in pod["status"]["containerStatuses"]]
    assert restarts == [0, 0]
