"""What the pipeline recommends reaches the consumers: at once under KIP-848, by approval or the next rollout else."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Final

import pytest
from confluent_kafka import Producer

from slackwater.api.recommendation import Recommendation, RecommendationStatus, RecommendedSetting
from slackwater.api.telemetry.events import MemberRestartedEvent, SettingsChangedEvent, read_line
from slackwater.api.telemetry.words import ChangedBy, Outcome, RestartReason
from tests.e2e.stage.cluster import Json
from tests.e2e.stage.groups import CONNECTION, with_env
from tests.e2e.stage.progress import incarnations
from tests.e2e.stage.stage import Stage
from tests.e2e.stage.waiting import wait_for
from tests.e2e.upgrades.upgrades import RDKAFKA

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(400)]

MODERN, CLASSIC, NEXT = "modern", "classic", "next"
REPLICAS: Final = 2


def recommendation(stage: Stage, name: str, session_ms: int, heartbeat_ms: int) -> Recommendation:
    """A recommendation that leaves no doubt, made just now for the spec as it is."""
    generation = (stage.cluster.get("cg", name) or {})["metadata"]["generation"]

    def exactly(value_ms: int) -> RecommendedSetting:
        return RecommendedSetting(current=None, lower=value_ms, target=value_ms, upper=value_ms, why="so it is")

    return Recommendation(
        cluster="",
        namespace=stage.cluster.namespace,
        name=name,
        group_id=stage.group_id(name),
        as_of=datetime.now(UTC),
        spec_generation=generation,
        restarts=120,
        observed_days=30,
        status=RecommendationStatus.RECOMMENDED,
        why="members come back within 20 s",
        session_timeout_ms=exactly(session_ms),
        heartbeat_interval_ms=exactly(heartbeat_ms),
    )


class Recommendations:
    """The compacted topic that the operator follows."""

    def __init__(self, stage: Stage, bootstrap_servers: str) -> None:
        self.topic = f"{stage.topic}-recommendations"
        self._stage = stage
        self._producer = Producer({"bootstrap.servers": bootstrap_servers})

    def tell(self, name: str, session_ms: int, heartbeat_ms: int) -> None:
        found = recommendation(self._stage, name, session_ms, heartbeat_ms)
        self.write(f"{found.namespace}/{found.name}", found.message())

    def write(self, key: str, text: str) -> None:
        self._producer.produce(self.topic, key=key.encode(), value=text.encode())
        assert self._producer.flush(30) == 0


def group(stage: Stage, name: str, mode: str, target: str = "Eager") -> Json:
    return stage.group(name, client=RDKAFKA, protocol={"target": target}, replicas=REPLICAS, timeouts={"mode": mode})


@pytest.fixture(scope="module")
def telemetry(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that the operator writes its events to."""
    return tmp_path_factory.mktemp("telemetry")


@pytest.fixture(scope="module")
def told(stage: Stage, bootstrap_servers: str, telemetry: Path) -> Recommendations:
    """Three groups of an operator that follows a topic with something unreadable in it."""
    recommendations = Recommendations(stage, bootstrap_servers)
    stage.kafka.make_topic(recommendations.topic, 2)
    recommendations.write("x/y", "no recommendation")
    stage.operator.kill()
    place = f"kafka:{stage.cluster.namespace}/{CONNECTION}/{recommendations.topic}"
    stage.operator.start(SLACKWATER_RECOMMENDATIONS=place, SLACKWATER_TELEMETRY=f"file:{telemetry}")
    stage.operator.wait_ready()
    stage.create(
        group(stage, MODERN, "Auto", "Consumer"), group(stage, CLASSIC, "Recommend"), group(stage, NEXT, "Auto")
    )
    return recommendations


def wait_said(stage: Stage, name: str, reason: str) -> Json:
    """Until status.recommendation gives this reason; returns it."""

    def said() -> Json:
        return dict(stage.cluster.status(name).get("recommendation") or {})

    wait_for(f"the recommendation of {name} to be {reason}", lambda: said().get("reason") == reason, 60.0, said)
    return said()


def sessions(stage: Stage, name: str) -> set[str]:
    """session.timeout.ms of the group's pods."""
    containers = [pod["spec"]["containers"][0] for pod in stage.cluster.pods(name)]
    return {e["value"] for c in containers for e in c["env"] if e["name"] == "KAFKA_SESSION_TIMEOUT_MS"}


def made(stage: Stage, name: str) -> dict[str, int]:
    """How many pods there have been of each name."""
    return {pod: len(uids) for pod, uids in incarnations(stage.recorder.records("pods"), name).items()}


def once(name: str) -> dict[str, int]:
    return {f"{name}-{ordinal}": 1 for ordinal in range(REPLICAS)}


def twice(name: str) -> dict[str, int]:
    return dict.fromkeys(once(name), 2)


def test_a_kip848_group_gets_them_at_once_and_no_pod_restarts(stage: Stage, told: Recommendations) -> None:
    told.tell(MODERN, 55_000, 9_000)
    said = wait_said(stage, MODERN, "AsRecommended")
    assert said["applied"]["settings"] == {"consumer.session": "55s", "consumer.heartbeat": "9s"}
    assert said["restarts"] == 120
    wanted = {"consumer.session.timeout.ms": "55000", "consumer.heartbeat.interval.ms": "9000"}
    settings = partial(stage.kafka.group_settings, stage.group_id(MODERN))
    wait_for("the brokers to have them", lambda: settings() == wanted, 30.0, settings)  # the status is written first
    assert made(stage, MODERN) == once(MODERN)


def test_what_the_brokers_would_refuse_is_shown_and_not_applied(stage: Stage, told: Recommendations) -> None:
    told.tell(MODERN, 70_000, 9_000)
    said = wait_said(stage, MODERN, "RecommendationOutOfBounds")
    assert "45s to 60s" in said["message"]
    settings = stage.kafka.group_settings(stage.group_id(MODERN))
    assert settings["consumer.session.timeout.ms"] == "55000"


def test_recommend_waits_for_a_person(stage: Stage, told: Recommendations) -> None:
    told.tell(CLASSIC, 20_000, 6_000)
    said = wait_said(stage, CLASSIC, "AwaitsApproval")
    assert said["settings"]["session"]["target"] == "20s"
    stage.look_again(CLASSIC)
    assert (sessions(stage, CLASSIC), made(stage, CLASSIC)) == ({"45000"}, once(CLASSIC))

    stage.cluster.annotate(CLASSIC, "approve", "1")
    wait_for("the pods to have it", lambda: sessions(stage, CLASSIC) == {"20000"}, 120.0)
    stage.cluster.wait_complete(CLASSIC)
    assert made(stage, CLASSIC) == twice(CLASSIC)


def test_auto_takes_them_along_with_the_next_rollout(stage: Stage, told: Recommendations) -> None:
    told.tell(NEXT, 20_000, 6_000)
    wait_said(stage, NEXT, "WithNextRollout")
    stage.look_again(NEXT)
    assert (sessions(stage, NEXT), made(stage, NEXT)) == ({"45000"}, once(NEXT))

    # A restart of the operator in between loses nothing.
    stage.operator.stop()
    stage.operator.start()
    stage.operator.wait_ready()
    stage.cluster.apply(with_env(group(stage, NEXT, "Auto"), VERSION="2"))
    wait_for("the pods to have it", lambda: sessions(stage, NEXT) == {"20000"}, 120.0)
    stage.cluster.wait_complete(NEXT)
    assert made(stage, NEXT) == twice(NEXT)


def test_what_happened_was_told(stage: Stage, told: Recommendations, telemetry: Path) -> None:
    """By the operator that was stopped before the last rollout: what it had to tell was written when it ended."""
    files = [file for file in telemetry.rglob("*") if file.is_file()]
    events = [read_line(line) for file in files for line in file.read_text().splitlines()]
    told_of = [event for event in events if isinstance(event, MemberRestartedEvent) and event.name == CLASSIC]
    restarts = [event.member_restarted for event in told_of]
    assert {restart.pod for restart in restarts if restart.outcome is Outcome.RETURNED} == set(once(CLASSIC))
    assert {restart.reason for restart in restarts} == {RestartReason.ROLLOUT}
    for restart in restarts:
        moments = [restart.last_seen_at, restart.stopped_at, restart.started_at, restart.rejoined_at]
        known = [moment for moment in moments if moment is not None]
        assert known == sorted(known)
    changes = [event.settings_changed.how for event in events if isinstance(event, SettingsChangedEvent)]
    assert set(changes) >= {ChangedBy.ROLLOUT, ChangedBy.GROUP_CONFIG}
    assert len({event.id for event in events}) == len(events)
