"""The sandbox's real brokers: every listener, a broker's death, Kafka's own clients."""

from __future__ import annotations

import json
import subprocess
import uuid
from collections.abc import Iterator
from threading import Timer

import pytest
from confluent_kafka import Consumer, KafkaException, Producer
from confluent_kafka.admin import AdminClient
from kafka import KafkaAdminClient

from sandbox import kafka, toolchain
from sandbox.kafka.libraries import class_path, ensure_libraries
from sandbox.layout import Layout
from sandbox.workload.topics import create_topic, delete_topic
from tests.sandbox_kafka.listeners import LISTENERS, confluent, kafka_python

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(120)]

QUIET = {"log_level": 0}


@pytest.fixture(scope="session")
def layout(bootstrap_servers: str) -> Layout:
    layout = Layout.from_environment()
    if not kafka.credentials(layout).directory.exists():
        pytest.skip("the brokers are not the sandbox's own")
    return layout


@pytest.fixture
def host(bootstrap_servers: str) -> str:
    return bootstrap_servers.split(",", maxsplit=1)[0].split(":", maxsplit=1)[0]


@pytest.fixture
def topic(bootstrap_servers: str) -> Iterator[str]:
    name = f"orders-{uuid.uuid4().hex[:8]}"
    create_topic(bootstrap_servers, name, partitions=3)
    yield name
    delete_topic(bootstrap_servers, name)


def _produce(bootstrap_servers: str, topic: str, count: int) -> None:
    producer = Producer({"bootstrap.servers": bootstrap_servers} | QUIET)
    for number in range(count):
        producer.produce(topic, str(number), partition=number % 3)
    assert producer.flush(30) == 0


@pytest.mark.parametrize("listener", LISTENERS)
def test_every_listener_serves_librdkafka(layout: Layout, host: str, listener: str) -> None:
    admin = AdminClient(confluent(listener, host, kafka.credentials(layout)) | QUIET)
    assert 1 in admin.list_topics(timeout=20).brokers


@pytest.mark.parametrize("listener", LISTENERS)
def test_every_listener_serves_kafka_python(layout: Layout, host: str, listener: str, topic: str) -> None:
    admin = KafkaAdminClient(**kafka_python(listener, host, kafka.credentials(layout)))
    try:
        assert topic in admin.list_topics()
    finally:
        admin.close()


@pytest.mark.parametrize("listener", ["plain", "scram-256", "scram-512", "scram-512-over-tls"])
def test_a_wrong_password_is_refused(layout: Layout, host: str, listener: str) -> None:
    settings = confluent(listener, host, kafka.credentials(layout)) | {"sasl.password": "wrong"} | QUIET
    with pytest.raises(KafkaException):
        AdminClient(settings).list_topics(timeout=2)


def test_only_the_owner_reads_the_credentials(layout: Layout) -> None:
    directory = kafka.credentials(layout).directory
    assert {path.stat().st_mode & 0o777 for path in directory.iterdir()} == {0o600}
    assert directory.stat().st_mode & 0o777 == 0o700


@pytest.mark.alone
def test_a_killed_broker_comes_back_with_its_data(layout: Layout, bootstrap_servers: str, topic: str) -> None:
    _produce(bootstrap_servers, topic, 300)
    kafka.stop_broker(layout, 1, kill=True)
    kafka.start_broker(layout, 1)
    settings = {"bootstrap.servers": bootstrap_servers, "group.id": topic, "auto.offset.reset": "earliest"}
    consumer = Consumer(settings | QUIET)
    consumer.subscribe([topic])
    received = 0
    while received < 300 and (message := consumer.poll(60)) is not None:
        received += message.error() is None
    consumer.close()
    assert received == 300


def test_kafkas_own_consumer_joins(layout: Layout, bootstrap_servers: str, topic: str) -> None:
    jars = class_path(ensure_libraries(layout))
    tool = [str(toolchain.java(layout)), "-cp", jars, "org.apache.kafka.tools.VerifiableConsumer"]
    options = ["--bootstrap-server", bootstrap_servers, "--topic", topic, "--group-id", topic, "--max-messages", "3"]
    _produce(bootstrap_servers, topic, 3)
    with subprocess.Popen([*tool, *options], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        deadline = Timer(60, process.kill)
        deadline.start()
        events = [json.loads(line)["name"] for line in process.stdout or ()]
        deadline.cancel()
    assert "partitions_assigned" in events
    assert "records_consumed" in events
