"""A broker of the sandbox that dies, hangs, or is not there yet: never an empty group, and soon a whole one again."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pytest

from sandbox import kafka
from sandbox.errors import SandboxError
from sandbox.layout import Layout
from slackwater.adapters.kafka.group_reader import KafkaGroupReader
from slackwater.adapters.kafka.wire import KafkaWire
from slackwater.core.world.observation import GroupObservation, Unobserved
from tests.adapters.kafka.conftest import PARTITIONS
from tests.adapters.kafka.running_consumers import CLASSIC, RunningConsumer, running, settled, view_until

pytestmark = [pytest.mark.e2e, pytest.mark.alone, pytest.mark.timeout(180)]


@pytest.fixture
def first_broker(bootstrap_servers: str) -> Iterator[Any]:
    """Kills and starts broker 1; it runs again after the test."""
    layout = Layout.from_environment()
    try:
        ours = kafka.bootstrap_servers(layout) == bootstrap_servers
    except SandboxError:
        ours = False
    if not ours:
        pytest.skip("these brokers are not the sandbox's own, so they are not killed")

    class FirstBroker:
        def kill(self) -> None:
            kafka.stop_broker(layout, 1, kill=True)

        def start(self) -> None:
            kafka.start_broker(layout, 1)

    yield FirstBroker()
    kafka.start_broker(layout, 1)


async def test_a_killed_broker_is_an_outage_and_no_empty_group(
    first_broker: Any, bootstrap_servers: str, topic: str, group_id: str, reader: KafkaGroupReader
) -> None:
    with running(RunningConsumer(bootstrap_servers, group_id, topic, CLASSIC, f"{group_id}-0")):
        await view_until(reader, group_id, topic, settled(1, PARTITIONS))
        first_broker.kill()
        asked_at = time.monotonic()
        view = (await reader.observe({group_id: frozenset({topic})}))[group_id]

        assert isinstance(view, Unobserved)
        assert time.monotonic() - asked_at < 6

        first_broker.start()
        started_at = time.monotonic()
        await view_until(reader, group_id, topic, lambda view: isinstance(view, GroupObservation))
        assert time.monotonic() - started_at < 5
        await view_until(reader, group_id, topic, settled(1, PARTITIONS))


async def test_servers_that_are_down_at_the_start_are_found_when_they_are_up(
    first_broker: Any, bootstrap_servers: str, topic: str, group_id: str
) -> None:
    first_broker.kill()
    reader = KafkaGroupReader(KafkaWire({"bootstrap_servers": bootstrap_servers.split(",", maxsplit=1)[0]}))
    try:
        view = (await reader.observe({group_id: frozenset({topic})}))[group_id]
        assert isinstance(view, Unobserved)
        assert view.reason == "KafkaUnreachable"

        first_broker.start()
        await view_until(reader, group_id, topic, lambda view: isinstance(view, GroupObservation), within_s=30)
    finally:
        await reader.close()
