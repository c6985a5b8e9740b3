"""A broker that lets nobody do what was not granted: each job says what it lacks, and needs no more than it says."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AclOperation, ResourceType

from tests.adapters.kafka.own_broker import own_broker
from tests.adapters.kafka.test_real_brokers import OPERATOR, PASSWORD, ROOT, StrictBroker
from tests.pipeline.commands import Done, ran
from tests.pipeline.recommend.test_job import lake_of
from tests.pipeline.telling import event

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.e2e, pytest.mark.spark, pytest.mark.timeout(600)]

MODULE = "org.apache.kafka.common.security.plain.PlainLoginModule"
LOGIN = {
    "security.protocol": "SASL_PLAINTEXT",
    "sasl.mechanism": "PLAIN",
    "sasl.jaas.config": f'{MODULE} required username="{OPERATOR}" password="{PASSWORD}";',
}
AS_OPTIONS = [f"--option=kafka.{name}={value}" for name, value in LOGIN.items()]
WITHIN_S = 120.0


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StrictBroker]:
    users = " ".join(f'user_{name}="{PASSWORD}"' for name in (ROOT, OPERATOR))
    settings = {
        "sasl.enabled.mechanisms": "PLAIN",
        "sasl.mechanism.inter.broker.protocol": "PLAIN",
        "listener.name.clients.plain.sasl.jaas.config": (
            f'{MODULE} required username="{ROOT}" password="{PASSWORD}" {users};'
        ),
        "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
        "super.users": f"User:{ROOT};User:ANONYMOUS",
    }
    with own_broker(tmp_path_factory.mktemp("broker"), settings, protocol="SASL_PLAINTEXT") as bootstrap:
        yield StrictBroker(bootstrap)


def until_done(*command: str) -> Done:
    """An authorizer learns of a grant a moment later."""
    deadline = time.monotonic() + WITHIN_S
    while (done := ran(*command)).code != 0:
        assert time.monotonic() < deadline, done
    return done


def test_ingest_needs_read_and_describe(kafka_spark: SparkSession, broker: StrictBroker, tmp_path: Path) -> None:
    broker.make_topic("telemetry")
    producer = Producer({**broker.confluent(ROOT)})
    producer.produce("telemetry", value=event("poll_observed", "a"))
    assert producer.flush(30) == 0
    secrets = tmp_path / "client.properties"
    secrets.write_text("".join(f"{name}={value}\n" for name, value in LOGIN.items()))
    command = ["pipeline", "ingest", f"--lake={tmp_path / 'lake'}", f"--bootstrap-servers={broker.bootstrap}"]
    command += ["--topic=telemetry", f"--kafka-config={secrets}"]

    assert "allow the user to" in ran(*command).complaint.lower()
    broker.grant(ResourceType.TOPIC, "telemetry", AclOperation.DESCRIBE, AclOperation.READ)
    assert until_done(*command).stdout == "1 events, 0 in quarantine\n"


def test_audit_of_forbidden_groups_ends_with_what_to_grant(
    kafka_spark: SparkSession, broker: StrictBroker, tmp_path: Path
) -> None:
    done = ran(
        "pipeline", "audit", f"--lake={tmp_path / 'lake'}", f"--bootstrap-servers={broker.bootstrap}", *AS_OPTIONS
    )
    assert "grant it Describe and Read on that topic" in done.complaint
    assert PASSWORD not in done.stderr


def test_recommend_needs_write_and_the_lake_has_them_anyway(
    kafka_spark: SparkSession, broker: StrictBroker, tmp_path: Path
) -> None:
    broker.make_topic("recommendations")
    lake = lake_of(kafka_spark, tmp_path / "lake", [event("group_observed")])
    command = ["pipeline", "recommend", f"--lake={lake}", f"--bootstrap-servers={broker.bootstrap}"]
    command += ["--out-topic=recommendations", *AS_OPTIONS]

    complaint = ran(*command).complaint
    assert "the recommendations are in the lake, but cannot be sent to the topic recommendations" in complaint
    assert "TopicAuthorizationException" in complaint
    broker.grant(ResourceType.TOPIC, "recommendations", AclOperation.DESCRIBE, AclOperation.WRITE)
    done = until_done(*command)
    assert "1 recommendations written to the topic." in done.stdout
    assert "may not see whether the topic recommendations is compacted" in " ".join(done.stderr.split())
