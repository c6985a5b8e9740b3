"""A member of a consumer group, with confluent-kafka: https://github.com/confluentinc/confluent-kafka-python.

What each part is for stands in docs/prepare-your-consumer.md. Replace `process` by your work.
"""

from __future__ import annotations

import logging
import os
import signal
import sys
import threading
import time
from enum import Enum, auto
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from confluent_kafka import Consumer, KafkaError, KafkaException, Message, TopicPartition

LOG = logging.getLogger("consumer")
KNOCK_EVERY_S = 0.1
DEFAULTS = {
    "auto.offset.reset": "earliest",
    "enable.auto.commit": "true",  # of what was stored, once a second
    "auto.commit.interval.ms": "1000",
    "enable.auto.offset.store": "false",  # we store an offset after its record's work, not before
}


class Ending(Enum):
    """Why a consumer ended."""

    ASKED = auto()
    FENCED = auto()
    UNRELEASED = auto()
    FATAL = auto()


class Health:
    """`/livez` fails when the loop stands still, `/readyz` before the first poll and after being fenced or stopped."""

    def __init__(self, patience_s: float) -> None:
        self.ready = False
        self._patience_s = patience_s
        self._turned = time.monotonic()

    def turned(self) -> None:
        self._turned = time.monotonic()

    def alive(self) -> bool:
        return time.monotonic() - self._turned < self._patience_s

    def serve(self, port: int) -> None:
        health = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                ok = {"/livez": health.alive(), "/readyz": health.ready}.get(self.path)
                self.send_response(404 if ok is None else 200 if ok else 503)
                self.end_headers()

            def log_message(self, *_: object) -> None:
                """Probes are no news."""

        threading.Thread(target=ThreadingHTTPServer(("", port), Handler).serve_forever, daemon=True).start()


def process(record: Message) -> None:
    """Your work. A record may come twice, so the second time has to change nothing."""
    LOG.info("processed %s-%s@%s", record.topic(), record.partition(), record.offset())


def main() -> int:
    """Run until SIGTERM; the result is the exit code."""
    logging.basicConfig(level=logging.INFO, format="%(message)s", stream=sys.stdout)
    stop = threading.Event()
    for each in (signal.SIGTERM, signal.SIGINT):
        signal.signal(each, lambda *_: stop.set())
    properties = client_properties()
    health = Health(float(properties.get("max.poll.interval.ms", "300000")) / 1000)
    health.serve(int(os.environ.get("HEALTH_PORT", "8080")))
    topics = os.environ["TOPICS"].split(",")
    ending = consume(properties, topics, stop, health)
    while ending is Ending.UNRELEASED and not stop.wait(KNOCK_EVERY_S):
        health.turned()
        ending = consume(properties, topics, stop, health)
    health.ready = False
    if ending is Ending.FENCED:  # our replacement works already: wait for SIGTERM and do nothing
        while not stop.wait(1):
            health.turned()
    return 1 if ending is Ending.FATAL else 0


def client_properties() -> dict[str, str]:
    """`KAFKA_SESSION_TIMEOUT_MS` is `session.timeout.ms`, and so on."""
    given = {name[6:].lower().replace("_", "."): text for name, text in os.environ.items() if name.startswith("KAFKA_")}
    return DEFAULTS | given


def consume(properties: dict[str, str], topics: list[str], stop: threading.Event, health: Health) -> Ending:
    """One consumer, from joining to leaving."""
    consumer = Consumer(properties | {"error_cb": lambda error: LOG.warning("%s: %s", error.name(), error.str())})
    try:
        consumer.subscribe(topics, on_revoke=lambda one, _: commit(one), on_lost=lost)
        while not stop.is_set():
            health.turned()
            health.ready = True
            record = consumer.poll(0.2)
            if record is None:
                continue
            if error := record.error():
                if ending := fatal(error):
                    return ending
                LOG.warning("%s: %s", error.name(), error.str())
                continue
            process(record)
            consumer.store_offsets(record)
        commit(consumer)
    except KafkaException as error:
        if ending := fatal(error.args[0]):
            return ending
        raise
    finally:
        consumer.close()  # a static member of a classic group stays in it, and keeps its partitions
    return Ending.ASKED


def commit(consumer: Consumer) -> None:
    """What is done, before anybody else gets these partitions: wait for the answer."""
    try:
        consumer.commit(asynchronous=False)
    except KafkaException as error:
        if fatal(error.args[0]):
            raise
        if error.args[0].code() != KafkaError._NO_OFFSET:  # noqa: SLF001 - its public name has the underscore
            LOG.warning("not committed, so these records come again: %s", error.args[0].str())


def lost(_: Consumer, partitions: list[TopicPartition]) -> None:
    """Somebody else has them already: nothing can be committed."""
    LOG.warning("lost %s", [f"{each.topic}-{each.partition}" for each in partitions])


def fatal(error: KafkaError) -> Ending | None:
    """How to end for an error that the client cannot recover from; None where it can."""
    said = f"{error.name()} {error.str()}".lower()
    if error.code() == KafkaError.FENCED_INSTANCE_ID or "fenced" in said:
        LOG.warning("fenced: another process has this instance id")
        return Ending.FENCED
    if "unreleased" in said or "still used by another member" in said:
        LOG.info("the instance id is in use; trying again")
        return Ending.UNRELEASED
    if error.fatal() or error.code() == KafkaError._FATAL:  # noqa: SLF001 - as above
        LOG.error("fatal: %s: %s", error.name(), error.str())
        return Ending.FATAL
    return None


if __name__ == "__main__":
    sys.exit(main())
