"""Static members that nobody told the operator about: consumers of this process, under ids of the test's choice."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from confluent_kafka import Consumer
from kafka.admin import KafkaAdminClient, MemberToRemove

from tests.e2e.stage.kafka import Kafka


@dataclass
class Foreigner:
    instance_id: str
    errors: list[str] = field(default_factory=list)
    """What its client was told, being fenced for example."""


@contextmanager
def foreigner(kafka: Kafka, group: str, topic: str, instance_id: str, protocol: str = "classic") -> Iterator[Foreigner]:
    """It consumes while its block runs, and is taken out at the end: by itself it would stay (F10)."""
    consumer = Consumer(
        {
            "bootstrap.servers": kafka.bootstrap_servers,
            "group.id": group,
            "group.instance.id": instance_id,
            "group.protocol": protocol,
            "client.id": f"foreign-{instance_id}",
            "log_level": 0,
        }
    )
    made, stop = Foreigner(instance_id), threading.Event()

    def poll() -> None:
        while not stop.is_set():
            message = consumer.poll(0.05)
            if message is not None and (error := message.error()) is not None:
                made.errors.append(error.str())

    consumer.subscribe([topic])
    polling = threading.Thread(target=poll, daemon=True)
    polling.start()
    try:
        yield made
    finally:
        stop.set()
        polling.join()
        consumer.close()
        _take_out(kafka, group, instance_id)


def _take_out(kafka: Kafka, group: str, instance_id: str) -> None:
    admin = KafkaAdminClient(bootstrap_servers=kafka.bootstrap_servers)
    try:
        admin.remove_group_members(group, [MemberToRemove(group_instance_id=instance_id)])
    finally:
        admin.close()
