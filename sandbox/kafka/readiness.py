"""Is a broker really serving? Asked in the Kafka protocol, for an open port says little."""

from __future__ import annotations

from collections.abc import Callable

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient

from sandbox.kafka.configuration import PLAINTEXT_PORT, Broker

_ONE_REQUEST_S = 1.0


def serving(broker: Broker) -> Callable[[], bool]:
    """A probe: does `broker` itself answer a metadata request, and count itself among the live brokers?

    One call takes a second at most.
    """
    admin = AdminClient(
        {
            "bootstrap.servers": f"{broker.address}:{PLAINTEXT_PORT}",
            "reconnect.backoff.ms": 100,
            "reconnect.backoff.max.ms": 200,  # 10 s by default, as long as many a deadline
            "log_level": 0,  # refused connections are what we wait through
        }
    )

    def probe() -> bool:
        try:
            return broker.number in admin.list_topics(timeout=_ONE_REQUEST_S).brokers
        except KafkaException:
            return False

    return probe
