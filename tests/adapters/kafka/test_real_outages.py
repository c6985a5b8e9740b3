"""A broker that dies, or is not there yet: never an empty group, and soon a whole one again."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from slackwater.adapters.kafka.group_reader import KafkaGroupReader
from slackwater.adapters.kafka.wire import KafkaWire
from slackwater.core.world.observation import GroupObservation, Unobserved
from tests.adapters.kafka.conftest import PARTITIONS
from tests.adapters.kafka.own_broker import OwnBroker, made_broker, serving
from tests.adapters.kafka.running_consumers import CLASSIC, RunningConsumer, running, settled, view_until
from tests.e2e.stage.waiting import BUSY

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(180)]


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[OwnBroker]:
    """One of the test's own, so that nobody else misses it."""
    with serving(made_broker(tmp_path, {})) as made:
        yield made


@pytest.fixture
def bootstrap_servers(broker: OwnBroker) -> str:
    return broker.bootstrap_servers


async def test_a_killed_broker_is_an_outage_and_no_empty_group(
    broker: OwnBroker, bootstrap_servers: str, topic: str, group_id: str, reader: KafkaGroupReader
) -> None:
    with running(RunningConsumer(bootstrap_servers, group_id, topic, CLASSIC, f"{group_id}-0")):
        await view_until(reader, group_id, topic, settled(1, PARTITIONS))
        broker.kill()
        asked_at = time.monotonic()
        view = (await reader.observe({group_id: frozenset({topic})}))[group_id]

        assert isinstance(view, Unobserved)
        assert time.monotonic() - asked_at < 6 * BUSY

        broker.start()
        started_at = time.monotonic()
        await view_until(reader, group_id, topic, lambda view: isinstance(view, GroupObservation))
        assert time.monotonic() - started_at < 5 * BUSY
        await view_until(reader, group_id, topic, settled(1, PARTITIONS))


async def test_servers_that_are_down_at_the_start_are_found_when_they_are_up(
    broker: OwnBroker, bootstrap_servers: str, topic: str, group_id: str
) -> None:
    broker.kill()
    reader = KafkaGroupReader(KafkaWire({"bootstrap_servers": bootstrap_servers.split(",", maxsplit=1)[0]}))
    try:
        view = (await reader.observe({group_id: frozenset({topic})}))[group_id]
        assert isinstance(view, Unobserved)
        assert view.reason == "KafkaUnreachable"

        broker.start()
        await view_until(reader, group_id, topic, lambda view: isinstance(view, GroupObservation), within_s=30)
    finally:
        await reader.close()
