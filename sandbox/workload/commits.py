"""How a consumer commits what it has worked on, where that is not left to the client.

`OwnCommits` commits offsets every so often, as programs with `enable.auto.commit=false` do. `Transactions` forwards
each record to another topic, and commits its output and its offsets together.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping

from confluent_kafka import Consumer, KafkaError, KafkaException, Message, Producer

from sandbox.workload.settings import Behaviour, connection

LOG = logging.getLogger("consumer")

_REQUEST_S = 30.0


class Commits:
    """The client does it in the background, and once more when it is closed: there is nothing to do.

    Where nothing may be repeated, a method of the others that cannot commit raises KafkaException.
    """

    def add(self, message: Message) -> None:
        """This record has been worked on."""

    def if_due(self) -> None:
        """To be called in each turn of the loop."""

    def now(self) -> None:
        """Commit all that has been worked on: before partitions are given up, and at the end."""


def commits(consumer: Consumer, behaviour: Behaviour, client: Mapping[str, str]) -> Commits:
    """The way that this consumer has been given."""
    if behaviour.output_topic:
        name = client.get("group.instance.id") or behaviour.pod
        return Transactions(consumer, behaviour.output_topic, client, name, behaviour.commit_s or 1.0)
    if behaviour.commit_s:
        return OwnCommits(consumer, behaviour.commit_s)
    return AutoCommits(consumer) if _waits_for_work(behaviour) else Commits()


def client_settings(behaviour: Behaviour) -> dict[str, str]:
    """What a client's settings have to be for it."""
    if behaviour.commit_s or behaviour.output_topic:
        return {"enable.auto.commit": "false"}
    return {"enable.auto.offset.store": "false"} if _waits_for_work(behaviour) else {}


def _waits_for_work(behaviour: Behaviour) -> bool:
    """Whether a record may only be committed once it has been worked on: it may block or end whoever works on it."""
    return bool(behaviour.wait_s or behaviour.crash_on_record)


class AutoCommits(Commits):
    """The client does it, but for no record that has not been worked on."""

    def __init__(self, consumer: Consumer) -> None:
        self._consumer = consumer

    def add(self, message: Message) -> None:
        try:
            self._consumer.store_offsets(message)
        except KafkaException as error:  # the partition was lost while the record was worked on
            LOG.warning("not stored: %s", error.args[0].str())


class OwnCommits(Commits):
    """Offsets only, every `interval_s`."""

    def __init__(self, consumer: Consumer, interval_s: float) -> None:
        self._consumer = consumer
        self._interval_s = interval_s
        self._last_s = time.monotonic()

    def if_due(self) -> None:
        if time.monotonic() - self._last_s >= self._interval_s:
            self.now()

    def now(self) -> None:
        self._last_s = time.monotonic()
        try:
            self._consumer.commit(asynchronous=False)
        except KafkaException as error:
            # Such as having lost the partitions meanwhile: their next owner goes on from the commit before.
            if error.args[0].code() != KafkaError._NO_OFFSET:  # noqa: SLF001 - its public name has the underscore
                LOG.warning("not committed: %s", error.args[0].str())


class Transactions(Commits):
    """Each record is forwarded as `partition:offset`; a transaction lasts for `interval_s` at most.

    The producer's transactional id is the member's name: another process of that name fences this one.
    """

    def __init__(self, consumer: Consumer, topic: str, client: Mapping[str, str], name: str, interval_s: float) -> None:
        self._consumer = consumer
        self._topic = topic
        self._interval_s = interval_s
        self._began_s: float | None = None
        identity = {"transactional.id": f"{client['group.id']}-{name}", "transaction.timeout.ms": "60000"}
        self._producer = Producer({**connection(client), **identity})
        self._producer.init_transactions(_REQUEST_S)

    def add(self, message: Message) -> None:
        if self._began_s is None:
            self._producer.begin_transaction()
            self._began_s = time.monotonic()
        self._producer.produce(self._topic, f"{message.partition()}:{message.offset()}")

    def if_due(self) -> None:
        self._producer.poll(0)
        if self._began_s is not None and time.monotonic() - self._began_s >= self._interval_s:
            self.now()

    def now(self) -> None:
        if self._began_s is None:
            return
        self._began_s = None
        reached = self._consumer.position(self._consumer.assignment())
        known = [each for each in reached if each.offset >= 0]
        self._producer.send_offsets_to_transaction(known, self._consumer.consumer_group_metadata(), _REQUEST_S)
        self._producer.commit_transaction(_REQUEST_S)
