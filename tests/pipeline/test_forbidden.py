"""A broker that lets nobody do what was not granted: each job says what it lacks, and needs no more than it says."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AclOperation, ResourceType

from tests.adapters.kafka.strict_broker import LOGIN_MODULE, OPERATOR, PASSWORD, ROOT, StrictBroker, strict_broker
from tests.pipeline.commands import Done, ran
from tests.pipeline.recommend.test_job import lake_of
from tests.pipeline.telling import event

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.e2e, pytest.mark.long, pytest.mark.spark, pytest.mark.timeout(600)]

LOGIN = {
    "security.protocol": "SASL_PLAINTEXT",
    "sasl.mechanism": "PLAIN",
    "sasl.jaas.config": f'{LOGIN_MODULE} required username="{OPERATOR}" password="{PASSWORD}";',
}
WITHIN_S = 120.0


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StrictBroker]:
    with strict_broker(tmp_path_factory.mktemp("broker")) as broker:
        yield broker


@pytest.fixture
def login(tmp_path: Path) -> str:
    """Out of sight: a command line is everybody's to see."""
    secrets = tmp_path / "client.properties"
    secrets.write_text("".join(f"{name}={value}\n" for name, value in LOGIN.items()))
    return f"--kafka-config={secrets}"


def until_done(*command: str) -> Done:
    """An authorizer learns of a grant a moment later."""
    deadline = time.monotonic() + WITHIN_S
    while (done := ran(*command)).code != 0:
        assert time.monotonic() < deadline, done
    return done


def test_ingest_needs_read_and_describe(
    kafka_spark: SparkSession, broker: StrictBroker, login: str, tmp_path: Path
) -> None:
    broker.make_topic("telemetry")
    producer = Producer({**broker.confluent(ROOT)})
    producer.produce("telemetry", value=event("poll_observed", "a"))
    assert producer.flush(30) == 0
    command = ["pipeline", "ingest", f"--lake={tmp_path / 'lake'}", f"--bootstrap-servers={broker.bootstrap}"]
    command += ["--topic=telemetry", login]

    assert "allow the user to" in ran(*command).complaint.lower()
    broker.grant(ResourceType.TOPIC, "telemetry", AclOperation.DESCRIBE, AclOperation.READ)
    assert until_done(*command).stdout == "1 events, 0 in quarantine\n"


def test_audit_of_forbidden_groups_ends_with_what_to_grant(
    kafka_spark: SparkSession, broker: StrictBroker, login: str, tmp_path: Path
) -> None:
    done = ran("pipeline", "audit", f"--lake={tmp_path / 'lake'}", f"--bootstrap-servers={broker.bootstrap}", login)
    assert "grant it Describe and Read on that topic" in done.complaint
    assert PASSWORD not in done.stderr


def test_recommend_needs_write_and_the_lake_has_them_anyway(
    kafka_spark: SparkSession, broker: StrictBroker, login: str, tmp_path: Path
) -> None:
    broker.make_topic("recommendations")
    lake = lake_of(kafka_spark, tmp_path / "lake", [event("group_observed")])
    command = ["pipeline", "recommend", f"--lake={lake}", f"--bootstrap-servers={broker.bootstrap}"]
    command += ["--out-topic=recommendations", login]

    complaint = ran(*command).complaint
    assert "the recommendations are in the lake, but cannot be sent to the topic recommendations" in complaint
    assert "TopicAuthorizationException" in complaint
    broker.grant(ResourceType.TOPIC, "recommendations", AclOperation.DESCRIBE, AclOperation.WRITE)
    done = until_done(*command)
    assert "1 recommendations written to the topic." in done.stdout
    assert "may not see whether the topic recommendations is compacted" in " ".join(done.stderr.split())
