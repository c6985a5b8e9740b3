"""The consumer's own record of every message it was given, kept in a topic for `deliveries` to measure."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping

from confluent_kafka import Producer

MAX_AGE_S = 0.1
_FLUSH_S = 10.0
_FLUSH_WITHOUT_A_LEADER_S = 25.0
"""Until another broker leads, the session of the one that was cut off has to end (9 s). Less than a pod's grace."""
_GIVEN_UP_MS = "5000"


class DeliveryLog:
    """Collects deliveries and sends them in batches that are at most MAX_AGE_S old.

    A batch is `{"pod": …, "i": instance id, "p": [[partition, offset, unix milliseconds], …]}`.
    """

    def __init__(
        self, topic: str, connection: Mapping[str, str], pod: str, instance: str, *, outlives_brokers: bool = False
    ) -> None:
        # One broker's word is enough where none goes down: waiting for replicas would slow the consumer that is being
        # measured. A leader that is cut off takes along what nobody else has read by then, though it was acknowledged.
        # And what is on its way to that one is sent again soon: a minute, as it comes, is longer than a pod's grace.
        lasting = {"enable.idempotence": "true", "socket.timeout.ms": _GIVEN_UP_MS}
        stored = lasting if outlives_brokers else {"acks": "1"}
        self._producer = Producer({**connection, **stored})
        self._flush_s = _FLUSH_WITHOUT_A_LEADER_S if outlives_brokers else _FLUSH_S
        self._topic = topic
        self._origin = {"pod": pod, "i": instance}
        self._batch: list[tuple[int, int, int]] = []
        self._opened_s = 0.0

    def add(self, partition: int, offset: int, at_ms: int | None = None) -> None:
        """Note one message, delivered at `at_ms` (unix milliseconds) or now."""
        if not self._batch:
            self._opened_s = time.monotonic()
        self._batch.append((partition, offset, time.time_ns() // 1_000_000 if at_ms is None else at_ms))

    def send_if_due(self) -> None:
        """To be called at least every MAX_AGE_S / 2."""
        if self._batch and time.monotonic() - self._opened_s >= MAX_AGE_S / 2:
            self._send()
        self._producer.poll(0)

    def flush(self) -> None:
        """Send what is there and wait until it is stored, for so long at most."""
        if self._batch:
            self._send()
        self._producer.flush(self._flush_s)

    def close(self) -> None:
        """To be called at the end."""
        self.flush()

    def _send(self) -> None:
        self._producer.produce(self._topic, json.dumps({**self._origin, "p": self._batch}, separators=(",", ":")))
        self._batch = []
