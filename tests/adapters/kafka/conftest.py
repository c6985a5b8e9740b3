"""What the tests against a real broker need: topics of their own, and the parts under test."""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator, Callable, Iterator

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic

from slackwater.adapters.kafka.coordinators import Coordinators
from slackwater.adapters.kafka.group_admin import KafkaGroupAdmin
from slackwater.adapters.kafka.group_reader import KafkaGroupReader
from slackwater.adapters.kafka.wire import KafkaWire
from tests.adapters.kafka.static_group import StaticGroup

PARTITIONS = 6


@pytest.fixture
def topic(bootstrap_servers: str) -> Iterator[str]:
    """A new topic of 6 partitions with 60 records."""
    name = f"orders-{uuid.uuid4().hex[:8]}"
    admin = AdminClient({"bootstrap.servers": bootstrap_servers})
    admin.create_topics([NewTopic(name, PARTITIONS, 1)])[name].result(timeout=30)
    producer = Producer({"bootstrap.servers": bootstrap_servers})
    for number in range(60):
        producer.produce(name, b"record", partition=number % PARTITIONS)
    assert producer.flush(30) == 0
    yield name
    admin.delete_topics([name])[name].result(timeout=30)


@pytest.fixture
def group_id() -> str:
    return f"payments-{uuid.uuid4().hex[:8]}"


@pytest.fixture
async def wire(bootstrap_servers: str) -> AsyncIterator[KafkaWire]:
    wire = KafkaWire({"bootstrap_servers": bootstrap_servers})
    yield wire
    await wire.close()


@pytest.fixture
def reader(wire: KafkaWire) -> KafkaGroupReader:
    return KafkaGroupReader(wire, Coordinators(wire))


@pytest.fixture
def admin(wire: KafkaWire) -> KafkaGroupAdmin:
    return KafkaGroupAdmin(wire, Coordinators(wire))


@pytest.fixture
def instance_ids(group_id: str) -> Callable[[int], list[str]]:
    return lambda count: [f"{group_id}-{ordinal}" for ordinal in range(count)]


@pytest.fixture
def scene(bootstrap_servers: str, topic: str, group_id: str, reader: KafkaGroupReader) -> Iterator[StaticGroup]:
    group = StaticGroup(bootstrap_servers, topic, group_id, reader)
    yield group
    group.end()
