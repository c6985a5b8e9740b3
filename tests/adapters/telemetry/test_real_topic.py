"""A real broker that lets nobody do what was not granted: the topic is made if allowed, and events arrive in it."""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import Iterator, Mapping

import pytest
from confluent_kafka import Consumer, Message
from confluent_kafka.admin import AclOperation, ConfigResource, ResourceType

from slackwater.adapters.telemetry.sinks import Line, SinkUnavailable
from slackwater.adapters.telemetry.topic import PARTITIONS, TOPIC_SETTINGS, ReadSettings, TopicSink
from slackwater.api.telemetry.events import read_line, write_line
from tests.adapters.kafka.strict_broker import OPERATOR, ROOT, StrictBroker, strict_broker
from tests.adapters.telemetry.events import event

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(180)]

DEADLINE_S = 60.0


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StrictBroker]:
    with strict_broker(tmp_path_factory.mktemp("broker")) as broker:
        yield broker


@pytest.fixture
def topic() -> str:
    return f"telemetry-{uuid.uuid4().hex[:8]}"


def login(settings: Mapping[str, str]) -> ReadSettings:
    async def read() -> Mapping[str, str]:
        return settings

    return read


def line(number: int, name: str = "payments") -> Line:
    told = event(number, name)
    return Line(told.key, write_line(told))


def arrived(broker: StrictBroker, topic: str, count: int) -> list[Message]:
    """So many records of the topic, by partition and offset."""
    consumer = Consumer({**broker.confluent(ROOT), "group.id": f"test-{topic}", "auto.offset.reset": "earliest"})
    consumer.subscribe([topic])
    found: list[Message] = []
    until = time.monotonic() + DEADLINE_S
    while len(found) < count and time.monotonic() < until:
        found += [message for message in consumer.consume(count, 0.5) if message.error() is None]
    consumer.close()
    assert len(found) == count
    return sorted(found, key=lambda message: (message.partition(), message.offset()))


async def test_the_topic_is_made_and_events_arrive_in_the_order_of_their_group(
    broker: StrictBroker, topic: str
) -> None:
    sink = TopicSink(topic, login(broker.confluent(ROOT)))
    groups = ("payments", "refunds", "orders")
    lines = [line(number, groups[number % 3]) for number in range(300)]
    assert await sink.write(lines[:100]) == 0
    assert await sink.write(lines[100:]) == 0
    await sink.close()

    found = await asyncio.to_thread(arrived, broker, topic, 300)
    for group in groups:
        told = [read_line(message.value()) for message in found if message.key() == f"shop/{group}".encode()]
        assert told == [read_line(each.text) for each in lines if each.key == f"shop/{group}"]
    resource = ConfigResource(ConfigResource.Type.TOPIC, topic)
    settings = broker.admin.describe_configs([resource])[resource].result(30)
    assert {name: settings[name].value for name in TOPIC_SETTINGS} == TOPIC_SETTINGS
    assert len(broker.admin.list_topics(topic, 30).topics[topic].partitions) == PARTITIONS


async def test_a_topic_that_may_not_be_made_is_said_once_and_taken_when_somebody_makes_it(
    broker: StrictBroker, topic: str, capsys: pytest.CaptureFixture[str]
) -> None:
    sink = TopicSink(topic, login(broker.confluent(OPERATOR)), delivery_s=3.0)
    for _ in range(2):
        with pytest.raises(SinkUnavailable, match=f"telemetry cannot be written to topic {topic}: ") as failed:
            await sink.write([line(0), line(1)])
        assert failed.value.left == (line(0), line(1))
    said = capsys.readouterr().out
    assert said.count("telemetry_topic_missing") == 1
    assert f"topic {topic} is missing and may not be made by this user" in said
    assert topic not in broker.admin.list_topics(timeout=30).topics

    broker.make_topic(topic)
    broker.grant(ResourceType.TOPIC, topic, AclOperation.DESCRIBE, AclOperation.WRITE)
    left = await written_in_the_end(sink, [line(0), line(1)])
    await sink.close()
    assert left == ()
    assert len(await asyncio.to_thread(arrived, broker, topic, 2)) == 2


async def written_in_the_end(sink: TopicSink, lines: list[Line]) -> tuple[Line, ...]:
    """What was not, by the deadline: a right is known to the broker a moment after it was granted."""
    left, until = tuple(lines), time.monotonic() + DEADLINE_S
    while left and time.monotonic() < until:
        try:
            await sink.write(left)
            left = ()
        except SinkUnavailable as error:
            left = error.left
    return left


async def test_what_is_too_long_for_the_brokers_holds_nothing_up(broker: StrictBroker, topic: str) -> None:
    sink = TopicSink(topic, login(broker.confluent(ROOT)))
    too_long = Line("shop/payments", b"x" * 2_000_000)
    assert await sink.write([line(0), too_long, line(1)]) == 1
    await sink.close()
    found = await asyncio.to_thread(arrived, broker, topic, 2)
    assert [read_line(message.value()).id for message in found] == ["event-0", "event-1"]


async def test_brokers_that_are_away_say_so_and_nobody_waits_for_them(topic: str) -> None:
    sink = TopicSink(topic, login({"bootstrap.servers": "127.0.0.1:1"}), delivery_s=1.0)
    writing = asyncio.create_task(sink.write([line(0)]))
    turns = 0
    while not writing.done():
        await asyncio.sleep(0)
        turns += 1
    with pytest.raises(SinkUnavailable, match="telemetry cannot be written to topic") as failed:
        await writing
    assert failed.value.left == (line(0),)
    assert turns > 100
    await sink.close()
