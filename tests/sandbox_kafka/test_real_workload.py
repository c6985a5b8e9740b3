"""Real consumers under a real load, as the demo runs them: what is measured is what the facts say (F10, F13, F36)."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from confluent_kafka import Message, Producer

from sandbox.workload import deliveries, generations
from sandbox.workload.consumer import EXIT_FATAL, EXIT_REFUSED
from sandbox.workload.misbehaviour import EXIT_CRASH
from sandbox.workload.output import read_output
from sandbox.workload.topics import create_topic, delete_topic

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(180)]

PARTITIONS = 6
ROOT = Path(__file__).resolve().parents[2]


class Fleet:
    """Consumers of one group and a producer, all on this machine, and what they leave in their topics."""

    def __init__(self, bootstrap_servers: str, stack: ExitStack) -> None:
        self.bootstrap_servers = bootstrap_servers
        self.name = f"fleet-{uuid.uuid4().hex[:8]}"
        self.deliveries_topic = f"{self.name}-deliveries"
        self._stack = stack

    def produce(self) -> None:
        options = ["--bootstrap-servers", self.bootstrap_servers, "--topic", self.name, "--rate", "10"]
        self._run("sandbox.workload.producer", *options)

    def consume(self, ordinal: int, **environment: str) -> subprocess.Popen[bytes]:
        settings = {
            "KAFKA_BOOTSTRAP_SERVERS": self.bootstrap_servers,
            "KAFKA_GROUP_ID": self.name,
            "KAFKA_GROUP_INSTANCE_ID": f"{self.name}-{ordinal}",
            "TOPICS": self.name,
            "DELIVERIES_TOPIC": self.deliveries_topic,
            "READY_PORT": "0",
            "HOSTNAME": f"{self.name}-{ordinal}",
        }
        return self._run("sandbox.workload.consumer", **(settings | environment))

    def send(self, value: str) -> int:
        """One record more, into partition 0; its offset."""
        producer = Producer({"bootstrap.servers": self.bootstrap_servers})
        sent: list[Message] = []
        producer.produce(self.name, value, partition=0, on_delivery=lambda _, message: sent.append(message))
        assert producer.flush(30) == 0
        (message,) = sent
        offset: int | None = message.offset()
        assert offset is not None
        return offset

    def output(self) -> str:
        """A topic for what the consumers write; it goes when they have stopped, who could end no transaction else."""
        topic = f"{self.name}-output"
        create_topic(self.bootstrap_servers, topic, 1)
        self._stack.callback(delete_topic, self.bootstrap_servers, topic)
        return topic

    def delivered_since(self, start_ms: int) -> list[deliveries.Delivery]:
        return deliveries.read({"bootstrap.servers": self.bootstrap_servers}, self.deliveries_topic, start_ms)

    def rebalances(self, start_ms: int, end_ms: int) -> int:
        history = generations.read({"bootstrap_servers": self.bootstrap_servers}, self.name)
        return generations.count_rebalances(history, self.name, start_ms, end_ms)

    def wait_until_served_by(self, *ordinals: int) -> None:
        """Until these consumers have all been given messages since this call, from all partitions together."""
        deadline = time.monotonic() + 180
        start_ms = _now_ms()
        served, servants = set[int](), set[str]()
        while len(served) < PARTITIONS or servants != {f"{self.name}-{ordinal}" for ordinal in ordinals}:
            assert time.monotonic() < deadline, f"{servants} serve {served}"
            rows = self.delivered_since(start_ms)
            served, servants = {row.partition for row in rows}, {row.instance for row in rows}

    def wait_until_served_beyond(self, offset: int, start_ms: int) -> None:
        """Until somebody has been given what comes after `offset` in partition 0."""
        deadline = time.monotonic() + 180
        while not any(row.partition == 0 and row.offset > offset for row in self.delivered_since(start_ms)):
            assert time.monotonic() < deadline, f"nothing after offset {offset} was served"

    def _run(self, module: str, *arguments: str, **environment: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", module, *arguments]
        process = subprocess.Popen(command, cwd=ROOT, env=os.environ | environment)
        self._stack.callback(process.wait, 30)
        self._stack.callback(process.terminate)
        return process


@pytest.fixture
def fleet(bootstrap_servers: str) -> Iterator[Fleet]:
    with ExitStack() as stack:
        fleet = Fleet(bootstrap_servers, stack)
        for topic, partitions in ((fleet.name, PARTITIONS), (fleet.deliveries_topic, 1)):
            create_topic(bootstrap_servers, topic, partitions)
            stack.callback(delete_topic, bootstrap_servers, topic)
        yield fleet


def _now_ms() -> int:
    return time.time_ns() // 1_000_000


CLASSIC = {"KAFKA_SESSION_TIMEOUT_MS": "60000", "KAFKA_PARTITION_ASSIGNMENT_STRATEGY": "range"}
KIP_848 = {"KAFKA_GROUP_PROTOCOL": "consumer"}


@pytest.mark.parametrize("settings", [CLASSIC, KIP_848], ids=["classic", "KIP-848"])
def test_a_static_member_that_returns_costs_idle_time_and_no_rebalance(fleet: Fleet, settings: dict[str, str]) -> None:
    fleet.produce()
    first, second = (fleet.consume(ordinal, **settings) for ordinal in (0, 1))
    fleet.wait_until_served_by(0, 1)
    start_ms = _now_ms()
    second.send_signal(signal.SIGTERM)
    assert second.wait(30) == 0
    fleet.consume(1, START_DELAY_SECONDS="2", **settings)
    fleet.wait_until_served_by(0, 1)
    end_ms = _now_ms()
    measured = deliveries.measure(fleet.delivered_since(start_ms), PARTITIONS, start_ms, end_ms)
    assert fleet.rebalances(start_ms, end_ms) == 0
    assert measured.missing == 0
    assert measured.duplicates == 0
    assert measured.idle_partition_seconds >= 2.0
    assert first.poll() is None


def test_a_classic_member_is_fenced_by_its_successor_and_ends(fleet: Fleet) -> None:
    fleet.produce()
    old = fleet.consume(0, **CLASSIC)
    fleet.wait_until_served_by(0)
    new = fleet.consume(0, **CLASSIC)
    assert old.wait(60) == EXIT_FATAL
    assert new.poll() is None
    fleet.wait_until_served_by(0)


def test_a_kip_848_member_cannot_take_over_from_a_living_one(fleet: Fleet) -> None:
    fleet.produce()
    old = fleet.consume(0, **KIP_848)
    fleet.wait_until_served_by(0)
    assert fleet.consume(0, **KIP_848).wait(60) == EXIT_FATAL
    assert old.poll() is None


def test_settings_that_the_client_refuses_end_the_consumer(fleet: Fleet) -> None:
    """F7: classic timeouts under KIP-848."""
    assert fleet.consume(0, **KIP_848, KAFKA_SESSION_TIMEOUT_MS="10000").wait(30) == EXIT_REFUSED


def test_a_record_can_crash_whoever_is_given_it(fleet: Fleet) -> None:
    """It is not committed: the next one crashes as well, until there is one that does not heed it."""
    first = fleet.consume(0, **CLASSIC, CRASH_ON_RECORD="1")
    fleet.produce()
    fleet.wait_until_served_by(0)
    fleet.send("crash")
    assert first.wait(60) == EXIT_CRASH
    assert fleet.consume(0, **CLASSIC, CRASH_ON_RECORD="1").wait(60) == EXIT_CRASH
    fleet.consume(0, **CLASSIC)
    fleet.wait_until_served_by(0)


def test_a_blocked_member_serves_nothing_and_ends_only_when_it_goes_on(fleet: Fleet) -> None:
    consumer = fleet.consume(0, **CLASSIC, WAIT_SECONDS="6")
    fleet.produce()
    fleet.wait_until_served_by(0)
    blocked_ms = _now_ms()
    fleet.wait_until_served_beyond(fleet.send("wait"), blocked_ms)
    measured = deliveries.measure(fleet.delivered_since(blocked_ms), PARTITIONS, blocked_ms, _now_ms())
    assert measured.worst_gap_seconds >= 5.0
    assert measured.missing == measured.duplicates == 0
    assert consumer.poll() is None


def test_a_record_of_the_log_gives_only_what_was_delivered_since(fleet: Fleet) -> None:
    """It holds up to a second of deliveries, so one that was written since tells of some before."""
    fleet.produce()
    fleet.consume(0, **CLASSIC)
    fleet.wait_until_served_by(0)
    for row in sorted(fleet.delivered_since(0), key=lambda row: row.at_ms):
        assert min(each.at_ms for each in fleet.delivered_since(row.at_ms)) == row.at_ms


def test_a_deadlock_on_sigterm_is_ended_by_sigkill_only(fleet: Fleet) -> None:
    consumer = fleet.consume(0, **CLASSIC, DEADLOCK_ON_SIGTERM="1")
    fleet.produce()
    fleet.wait_until_served_by(0)
    consumer.terminate()
    with pytest.raises(subprocess.TimeoutExpired):
        consumer.wait(5)
    consumer.kill()
    assert consumer.wait(10) == -signal.SIGKILL


def test_transactions_write_each_record_exactly_once(fleet: Fleet) -> None:
    """One of two is killed in the middle of a transaction, and comes back."""
    topic = fleet.output()
    settings = {**CLASSIC, "OUTPUT_TOPIC": topic}
    fleet.produce()
    fleet.consume(0, **settings)
    killed = fleet.consume(1, **settings)
    fleet.wait_until_served_by(0, 1)
    killed.kill()
    killed.wait(10)
    fleet.consume(1, **settings)
    fleet.wait_until_served_by(0, 1)
    written = read_output({"bootstrap.servers": fleet.bootstrap_servers}, topic)
    assert len(written) == len(set(written)), "a record was written twice"
    for partition in range(PARTITIONS):
        offsets = sorted(offset for part, offset in written if part == partition)
        assert offsets == list(range(len(offsets))), f"a record of partition {partition} is missing"


def test_a_program_that_commits_once_a_minute_commits_when_it_ends(fleet: Fleet) -> None:
    consumer = fleet.consume(0, **CLASSIC, COMMIT_SECONDS="60")
    fleet.produce()
    fleet.wait_until_served_by(0)
    start_ms = _now_ms()
    consumer.terminate()
    assert consumer.wait(30) == 0
    fleet.consume(0, **CLASSIC, COMMIT_SECONDS="60")
    fleet.wait_until_served_by(0)
    measured = deliveries.measure(fleet.delivered_since(start_ms), PARTITIONS, start_ms, _now_ms())
    assert measured.duplicates == measured.missing == 0
