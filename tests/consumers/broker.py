"""One Kafka broker on the loopback interface, from the jars of the sandbox; it needs neither root nor a sandbox."""

from __future__ import annotations

import socket
import subprocess
import time
import uuid
from base64 import urlsafe_b64encode
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from sandbox.kafka.libraries import class_path, ensure_libraries
from sandbox.layout import Layout
from sandbox.toolchain import java

STARTS_WITHIN_S = 600.0
ANSWERS_WITHIN_S = 300.0
PARTITIONS = 4


def until(what: str, happened: Callable[[], bool], deadline_s: float) -> None:
    """Wait for it; TimeoutError says what did not happen."""
    last = time.monotonic() + deadline_s
    while not happened():
        if time.monotonic() > last:
            raise TimeoutError(f"not within {deadline_s:.0f} s: {what}")
        time.sleep(0.05)


class Broker:
    """What tests ask of it."""

    def __init__(self, address: str) -> None:
        self.address = address
        self._client = {"bootstrap.servers": address, "reconnect.backoff.max.ms": 500, "log_level": 0}
        self._admin = AdminClient(dict(self._client))

    def serves(self) -> bool:
        try:
            return bool(self._admin.list_topics(timeout=10.0).brokers)
        except KafkaException:
            return False

    def make_topic(self, name: str) -> None:
        self._admin.create_topics([NewTopic(name, PARTITIONS, 1)])[name].result(ANSWERS_WITHIN_S)

    def produce(self, topic: str, count: int) -> None:
        """`count` records, one partition after the other."""
        producer = Producer(dict(self._client))
        for number in range(count):
            producer.produce(topic, value=str(number), partition=number % PARTITIONS)
        assert producer.flush(ANSWERS_WITHIN_S) == 0

    def members(self, group: str) -> dict[str, int]:
        """Number of partitions by instance id; of a group that nobody coordinates yet, none."""
        try:
            asked = self._admin.describe_consumer_groups([group], request_timeout=ANSWERS_WITHIN_S)[group]
            described = asked.result(ANSWERS_WITHIN_S)
        except KafkaException:
            return {}
        return {each.group_instance_id: len(each.assignment.topic_partitions) for each in described.members}

    def committed(self, group: str, topic: str) -> int:
        """The sum of the committed offsets: so many records count as done."""
        reader = Consumer({**self._client, "group.id": group})
        try:
            found = reader.committed([TopicPartition(topic, each) for each in range(PARTITIONS)], ANSWERS_WITHIN_S)
        finally:
            reader.close()
        return sum(max(0, each.offset) for each in found)


@contextmanager
def running_broker(folder: Path) -> Iterator[Broker]:
    """A broker that keeps its data in `folder`; killed at the end."""
    port, controller = _free_ports()
    settings = {
        "process.roles": "broker,controller",
        "node.id": "1",
        "controller.quorum.voters": f"1@127.0.0.1:{controller}",
        "log.dirs": str(folder / "data"),
        "listeners": f"PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller}",
        "advertised.listeners": f"PLAINTEXT://127.0.0.1:{port}",
        "controller.listener.names": "CONTROLLER",
        "offsets.topic.replication.factor": "1",
        "offsets.topic.num.partitions": "1",
        "transaction.state.log.replication.factor": "1",
        "transaction.state.log.min.isr": "1",
        "group.initial.rebalance.delay.ms": "0",
        "auto.create.topics.enable": "false",
    }
    properties = folder / "server.properties"
    properties.write_text("".join(f"{name}={text}\n" for name, text in settings.items()))
    layout = Layout.from_environment()
    program = [str(java(layout)), "-Xmx320m", "-XX:+UseSerialGC", "-cp", class_path(ensure_libraries(layout))]
    cluster = "A" + urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")[1:]
    tool = [*program, "kafka.tools.StorageTool", "format", f"--cluster-id={cluster}", "-c", str(properties)]
    subprocess.run(tool, check=True, capture_output=True, timeout=STARTS_WITHIN_S)
    with (folder / "broker.log").open("wb") as log:
        process = subprocess.Popen([*program, "kafka.Kafka", str(properties)], stdout=log, stderr=log)
        try:
            broker = Broker(f"127.0.0.1:{port}")
            until("the broker serves", lambda: process.poll() is not None or broker.serves(), STARTS_WITHIN_S)
            assert process.poll() is None, (folder / "broker.log").read_text()[-2000:]
            yield broker
        finally:
            process.kill()
            process.wait()


def _free_ports() -> tuple[int, int]:
    with socket.socket() as one, socket.socket() as other:
        for each in (one, other):
            each.bind(("127.0.0.1", 0))
        return one.getsockname()[1], other.getsockname()[1]
