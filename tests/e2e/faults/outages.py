"""Kafka or the API server of the sandbox away for a while. They are back at the end, whatever happens in between."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import pytest

from sandbox import control_plane, kafka, processes
from sandbox.cluster import restart_apiserver
from sandbox.layout import Layout, read_state
from sandbox.provider import ClusterProvider

_LOOK_AGAIN_S = 0.5


@dataclass(frozen=True, slots=True)
class Outage:
    """An outage under way."""

    until: float
    """Monotonic seconds."""

    def outlast(self, watch: Callable[[], None]) -> None:
        """Look again and again until it is over; `watch` fails the test when it sees what must not be."""
        while time.monotonic() < self.until:
            watch()
            time.sleep(_LOOK_AGAIN_S)


@contextmanager
def kafka_down(bootstrap_servers: str, seconds: float) -> Iterator[Outage]:
    """Kill the one broker, and start it with the data that it had."""
    layout = Layout.from_environment()
    if read_state(layout).get("bootstrap_servers") != bootstrap_servers:
        pytest.skip("these brokers are not the sandbox's own, so they are not killed")
    kafka.stop_broker(layout, 1, kill=True)
    try:
        yield Outage(time.monotonic() + seconds)
    finally:
        kafka.start_broker(layout, 1)


@contextmanager
def api_server_down(seconds: float) -> Iterator[Outage]:
    """Kill the API server, and start it again."""
    layout = Layout.from_environment()
    if read_state(layout).get("cluster") != ClusterProvider.OWN:
        pytest.skip("this cluster is not the sandbox's own, so its API server is not killed")
    processes.kill(layout, control_plane.APISERVER)
    try:
        yield Outage(time.monotonic() + seconds)
    finally:
        restart_apiserver(layout)
