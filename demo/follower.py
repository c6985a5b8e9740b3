"""Deliveries as they happen: which partitions are being served at this moment."""

from __future__ import annotations

import threading
import time
from types import TracebackType

from confluent_kafka import OFFSET_BEGINNING, Consumer, TopicPartition

from sandbox.workload.deliveries import parse

_POLL_S = 0.2
SERVED_WITHIN_S = 0.8
"""The load is ten messages a second for each partition, and a delivery is known 0.1 to 0.3 s after it happened."""


class Follower:
    """Reads a topic of deliveries in a thread of its own; a context manager.

    It only watches. What is reported is measured afterwards, from the whole topic.
    """

    def __init__(self, bootstrap_servers: str, topic: str) -> None:
        self._consumer = Consumer({"bootstrap.servers": bootstrap_servers, "group.id": "never-joins", "log_level": 0})
        self._consumer.assign([TopicPartition(topic, 0, OFFSET_BEGINNING)])
        self._last_ms: dict[int, int] = {}
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._follow, name="deliveries", daemon=True)

    def __enter__(self) -> Follower:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._end.set()
        self._thread.join()
        self._consumer.close()

    def served(self) -> int:
        """How many partitions had a delivery just now."""
        since_ms = (time.time() - SERVED_WITHIN_S) * 1000
        return sum(at_ms >= since_ms for at_ms in tuple(self._last_ms.values()))

    def _follow(self) -> None:
        while not self._end.is_set():
            message = self._consumer.poll(_POLL_S)
            if message is None or message.error():  # brokers that are away come back, or the rollout's deadline passes
                continue
            for delivery in parse(message.value()):
                self._last_ms[delivery.partition] = max(delivery.at_ms, self._last_ms.get(delivery.partition, 0))
