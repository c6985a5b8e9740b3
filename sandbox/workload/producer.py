"""Steady load: the same number of messages a second into each partition of a topic, evenly spaced.

`python -m sandbox.workload.producer --topic orders --rate 10`, until SIGTERM or for `--seconds`. Client properties come
from `KAFKA_*` as for the consumer.
"""

from __future__ import annotations

import argparse
import os
import sys
import time

from confluent_kafka import KafkaException, Producer

from sandbox.workload.ending import Ending, by_signals
from sandbox.workload.settings import properties

_METADATA_S = 30.0
_FLUSH_S = 10.0


def main() -> int:
    """Run until told to stop; the result is the exit code."""
    options = _arguments()
    stop = by_signals()
    client = properties(os.environ)
    if options.bootstrap_servers:
        client["bootstrap.servers"] = options.bootstrap_servers
    producer = Producer(client)
    try:
        partitions = options.partitions or partition_count(producer, options.topic)
    except KafkaException as error:
        sys.stderr.write(f"the topic {options.topic} cannot be written: {error.args[0].str()}\n")
        return 1
    produce(producer, options.topic, partitions, options.rate, options.seconds, stop)
    return 0 if producer.flush(_FLUSH_S) == 0 else 1


def partition_count(producer: Producer, topic: str) -> int:
    """How many partitions `topic` has. KafkaException when the brokers do not know it or do not answer."""
    metadata = producer.list_topics(topic, timeout=_METADATA_S).topics[topic]
    if metadata.error is not None:
        raise KafkaException(metadata.error)
    return len(metadata.partitions)


def produce(producer: Producer, topic: str, partitions: int, rate: float, seconds: float | None, stop: Ending) -> int:
    """Send `rate` messages a second to each partition in turn; returns how many were sent.

    Each message is due at a fixed time from the start, so a pause is made up for and the mean rate holds.
    """
    interval_s = 1 / (rate * partitions)
    started_s = time.monotonic()
    sent = 0
    while not stop.is_set() and (seconds is None or sent * interval_s < seconds):
        early_s = started_s + sent * interval_s - time.monotonic()
        if early_s > 0 and stop.wait(early_s):
            break
        try:
            producer.produce(topic, value=str(sent), partition=sent % partitions)
        except BufferError:
            producer.poll(interval_s)  # the brokers are away or slow; this message stays due
            continue
        producer.poll(0)
        sent += 1
    return sent


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Steady load on every partition of a topic.")
    parser.add_argument("--bootstrap-servers", help="instead of KAFKA_BOOTSTRAP_SERVERS")
    parser.add_argument("--topic", required=True)
    parser.add_argument("--partitions", type=int, help="the topic's own number if not given")
    parser.add_argument("--rate", type=float, default=10.0, help="messages a second into each partition")
    parser.add_argument("--seconds", type=float, help="without it, until SIGTERM")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
