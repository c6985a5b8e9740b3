"""A topic of recommendations, as it stands there, and as an operator reads it."""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager

from confluent_kafka import OFFSET_BEGINNING, Consumer, TopicPartition
from confluent_kafka.admin import AdminClient, ConfigResource, NewTopic

from slackwater.adapters.recommendations.reading import Reader
from slackwater.adapters.recommendations.topic import TopicSource
from slackwater.core.world.advice import Advice

_WITHIN_S = 60.0
_REQUEST_S = 30.0


def make_topic(servers: str, new: NewTopic) -> None:
    admin = AdminClient({"bootstrap.servers": servers})  # by a name: what it was asked for ends with it
    admin.create_topics([new])[new.topic].result(_REQUEST_S)


@contextmanager
def topics_of_ones_own(servers: str, *names: str) -> Iterator[tuple[str, ...]]:
    """Names that nobody else uses; what was made under them is deleted in the end."""
    own = tuple(f"{name}-{uuid.uuid4().hex[:8]}" for name in names)
    try:
        yield own
    finally:
        admin = AdminClient({"bootstrap.servers": servers})
        made = [name for name in own if name in admin.list_topics(timeout=_REQUEST_S).topics]
        for done in admin.delete_topics(made).values() if made else ():
            done.result(_REQUEST_S)


def records_of(servers: str, topic: str) -> list[tuple[str, str]]:
    """Key and value of every record of the topic, those of one key in their order."""
    consumer = Consumer({"bootstrap.servers": servers, "group.id": topic, "enable.auto.commit": False})
    try:
        partitions = consumer.list_topics(topic, timeout=_REQUEST_S).topics[topic].partitions
        ends = [consumer.get_watermark_offsets(TopicPartition(topic, each), timeout=_REQUEST_S) for each in partitions]
        count = sum(end - first for first, end in ends)
        consumer.assign([TopicPartition(topic, each, OFFSET_BEGINNING) for each in partitions])
        found = consumer.consume(count, timeout=_WITHIN_S) if count else []
    finally:
        consumer.close()
    assert len(found) == count
    return [(each.key().decode(), each.value().decode()) for each in found]


def cleanup_policy(servers: str, topic: str) -> str:
    resource = ConfigResource(ConfigResource.Type.TOPIC, topic)
    admin = AdminClient({"bootstrap.servers": servers})
    answer = admin.describe_configs([resource])[resource].result(_REQUEST_S)
    return str(answer["cleanup.policy"].value)


def followed(servers: str, topic: str, groups: Collection[tuple[str, str]]) -> Mapping[tuple[str, str], Advice | None]:
    """What an operator knows once it was told of each of those groups, by namespace and name."""
    return asyncio.run(_followed(servers, topic, groups))


async def _followed(
    servers: str, topic: str, groups: Collection[tuple[str, str]]
) -> Mapping[tuple[str, str], Advice | None]:
    known: dict[tuple[str, str], Advice | None] = {}

    def take(namespace: str, name: str, advice: Advice | None) -> None:
        known[namespace, name] = advice

    reader = Reader()

    async def settings() -> dict[str, str]:
        return {"bootstrap.servers": servers}

    following = asyncio.create_task(TopicSource(settings, topic, take, reader).run())
    deadline = time.monotonic() + _WITHIN_S
    try:
        while not known.keys() >= set(groups):
            assert time.monotonic() < deadline, f"only {sorted(known)} was told"
            await asyncio.sleep(0.1)
    finally:
        following.cancel()
        await asyncio.gather(following, return_exceptions=True)
    assert reader.unreadable == 0
    return known
