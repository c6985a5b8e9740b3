"""What consumers wrote in transactions (`commits.Transactions`), read back: which records, and how often each."""

from __future__ import annotations

import time
from collections.abc import Mapping

from confluent_kafka import Consumer, KafkaError, KafkaException, TopicPartition

_READ_S = 60.0
_EARLIEST = 0


def read_output(connection: Mapping[str, str], topic: str) -> list[tuple[int, int]]:
    """Partition and offset of each input record, once for each time that it was written to the one-partition `topic`.

    Only what was committed, up to the first transaction that is still open. Raises KafkaException when the brokers do
    not answer, TimeoutError when the topic is not read within a minute.
    """
    settings = {"group.id": "never-joins", "enable.auto.commit": "false", "isolation.level": "read_committed"}
    consumer = Consumer({**connection, **settings, "enable.partition.eof": "true"})
    deadline = time.monotonic() + _READ_S
    found: list[tuple[int, int]] = []
    try:
        consumer.assign([TopicPartition(topic, 0, _EARLIEST)])
        while time.monotonic() < deadline:
            message = consumer.poll(0.1)
            if message is None:
                continue
            if error := message.error():
                if error.code() == KafkaError._PARTITION_EOF:  # noqa: SLF001 - its public name has the underscore
                    return found
                raise KafkaException(error)
            partition, _, offset = message.value().decode().partition(":")
            found.append((int(partition), int(offset)))
    finally:
        consumer.close()
    raise TimeoutError(f"the topic {topic} was not read to its end within {_READ_S:.0f} s")
