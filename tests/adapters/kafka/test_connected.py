"""One Kafka cluster as it is put together from a KafkaConnection. Nothing here is started, so nobody is asked."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import Any, cast

import pytest

from slackwater.adapters.kafka import connected as module
from slackwater.adapters.kafka.connected import ConnectedKafka, connected
from slackwater.adapters.kafka.group_reader import KafkaGroupReader
from slackwater.adapters.kafka.observer import Observer
from slackwater.adapters.kafka.sizes import USUAL
from slackwater.api.errors import InvalidSpec
from slackwater.api.parsing import parse_kafka_connection
from slackwater.api.resources import Connection
from tests.api.manifests import cluster_kafka_connection, kafka_connection


def connection(**spec: Any) -> Connection:
    manifest = kafka_connection("main")
    manifest["spec"] |= spec
    return parse_kafka_connection(manifest)


def ignore(_: str) -> None: ...


async def test_a_look_at_a_group_that_is_not_watched_or_by_an_observer_that_has_ended_is_no_error() -> None:
    """It was forgotten, or the connection renewed: the view is too old for any act then."""
    kafka = connected(connection(), {}, ignore)
    await kafka.look_now("default/payments")
    kafka.watch("default/payments", "payments", ("orders",))
    await kafka.look_now("default/payments")
    kafka.unwatch("default/payments")
    await kafka.close()


@pytest.mark.parametrize(
    ("own", "expected"),
    [({}, (2.0, 40.0)), ({"moving_interval_s": 0.5, "rest_interval_s": 5.0}, (0.5, 5.0))],
    ids=["the KafkaConnection's", "the operator's own"],
)
async def test_whose_intervals_count(
    own: dict[str, Any], expected: tuple[float, float], monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[tuple[float, float]] = []

    def observer(reader: Any, on_change: Callable[[str], None], **given: Any) -> Observer:
        made.append((given["moving_interval_s"], given["rest_interval_s"]))
        return Observer(reader, on_change, **given)

    monkeypatch.setattr(module, "Observer", observer)
    spec = connection(observe={"movingInterval": "2s", "restInterval": "40s"})
    kafka: ConnectedKafka = connected(spec, {}, ignore, **own)
    await kafka.close()
    assert made == [expected]


def test_what_cannot_be_used_is_said_before_anything_is_opened() -> None:
    spec = connection(tls={}, authentication={"type": "Plain", "secretRef": {"name": "login"}})
    with pytest.raises(InvalidSpec, match="login"):
        connected(spec, {}, ignore)


async def test_connections_of_a_namespace_share_a_pace_and_those_of_the_cluster_have_their_own() -> None:
    def placed(namespace: str) -> Connection:
        manifest = kafka_connection("main")
        manifest["metadata"]["namespace"] = namespace
        return parse_kafka_connection(manifest)

    shared = [parse_kafka_connection(cluster_kafka_connection(name)) for name in ("one", "two")]
    opened = [connected(each, {}, ignore) for each in (placed("default"), placed("default"), placed("ops"), *shared)]
    paces = [id(each._wire._reading.pace) for each in opened]
    assert paces[0] == paces[1]
    assert len(set(paces)) == 4
    for each in opened:
        await each.close()


async def test_a_look_that_does_not_come_to_an_end_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    async def for_ever(_: Observer, key: str) -> None:
        await asyncio.Event().wait()

    monkeypatch.setattr(Observer, "observe_now", for_ever)
    monkeypatch.setattr(module, "LOOK_S", 0.01)
    await connected(connection(), {}, ignore).look_now("default/payments")


async def test_its_groups_count_for_their_namespace_until_it_is_closed() -> None:
    kafka = connected(connection(), {}, ignore, limits=replace(USUAL, per_namespace=100))
    kafka.watch("default/payments", "payments", ("orders",))
    share = kafka._observer._share
    assert cast("KafkaGroupReader", kafka._observer._reader)._share is share
    assert share.take_partitions("payments", 81, are_all=True) is not None
    assert share.take_partitions("payments", 80, are_all=True) is None
    await kafka.close()
    assert share.take_partitions("payments", 81, are_all=True) is None
