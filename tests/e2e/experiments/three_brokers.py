"""Three brokers of a test's own beside the sandbox's: pods reach them, their coordinators can be moved, each cut off.

Each has a network namespace on the sandbox's bridge, as the sandbox's own brokers have, with other numbers.
"""

from __future__ import annotations

import subprocess
import uuid
from base64 import urlsafe_b64encode
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient
from kafka import KafkaAdminClient, TopicPartition

from sandbox import faults, network
from sandbox.kafka.configuration import Broker, bootstrap, server_properties
from sandbox.kafka.credentials import make_credentials
from sandbox.kafka.libraries import class_path, ensure_libraries
from sandbox.kafka.readiness import serving
from sandbox.layout import NODE_NETNS, Layout
from sandbox.toolchain import java
from tests.e2e.stage.waiting import wait_for

FIRST: Final = 11
READY_WITHIN_S: Final = 300.0
OFFSETS: Final = "__consumer_offsets"
_REQUEST_S: Final = 10.0
_HEAP: Final = ("-Xms256m", "-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
_LOGGING: Final = Path(faults.__file__).parent / "kafka" / "log4j2.yaml"


@dataclass(frozen=True)
class ThreeBrokers:
    brokers: tuple[Broker, ...]

    @property
    def bootstrap_servers(self) -> str:
        return bootstrap(self.brokers)

    def coordinator(self, group: str) -> int:
        """The number of the broker that coordinates the group."""
        admin = AdminClient({"bootstrap.servers": self.bootstrap_servers, "log_level": 0})
        found = admin.describe_consumer_groups([group], request_timeout=_REQUEST_S)[group].result()
        return int(found.coordinator.id)

    def coordinator_now(self, group: str) -> int | None:
        """The same, or None while nobody says who it is."""
        try:
            return self.coordinator(group)
        except KafkaException:
            return None

    def move_coordinators(self) -> None:
        """Take every partition of `__consumer_offsets` off its leader; returns when each has another one.

        The replicas that it had are those that it gets back at once afterwards, the old leader's last.
        """
        leaders = self._leaders()
        numbers = [broker.number for broker in self.brokers]
        others = {part: [n for n in numbers if n != leader] for part, leader in leaders.items()}
        self._reassign(others)
        wait_for("other coordinators", lambda: _all_differ(leaders, self._leaders()), 60.0, self._leaders)
        self._reassign({part: [*others[part], leader] for part, leader in leaders.items()})

    @contextmanager
    def cut_off(self, number: int) -> Iterator[None]:
        """All packets to and from this broker are lost while the block runs."""
        netns = next(broker.netns for broker in self.brokers if broker.number == number)
        faults.cut(netns)
        try:
            yield
        finally:
            network.ip("link", "set", network.port_of(netns), "up", netns=NODE_NETNS)

    def _leaders(self) -> dict[int, int]:
        admin = AdminClient({"bootstrap.servers": self.bootstrap_servers, "log_level": 0})
        found = admin.list_topics(OFFSETS, timeout=_REQUEST_S).topics[OFFSETS]
        return {number: each.leader for number, each in found.partitions.items()}

    def _reassign(self, replicas: dict[int, list[int]]) -> None:
        admin = KafkaAdminClient(bootstrap_servers=self.bootstrap_servers)
        try:
            asked = {TopicPartition(OFFSETS, part): wanted for part, wanted in replicas.items()}
            answers = admin.alter_partition_reassignments(asked)
            assert set(answers.values()) == {None}, f"refused: {answers}"
            wait_for("the reassignment", lambda: not admin.list_partition_reassignments(), 60.0)
        finally:
            admin.close()


@contextmanager
def three_brokers(folder: Path) -> Iterator[ThreeBrokers]:
    """Started, and gone with all that is theirs at the end."""
    layout = Layout.from_environment()
    members = tuple(Broker(FIRST + ordinal) for ordinal in range(3))
    secrets = make_credentials(folder / "credentials", members).for_brokers
    cluster_id = urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")
    machine = [str(java(layout)), *_HEAP, f"-Dlog4j2.configurationFile={_LOGGING}"]
    machine += ["-cp", class_path(ensure_libraries(layout))]
    with ExitStack() as stack:
        for broker in members:
            properties = folder / f"{broker.name}.properties"
            properties.write_text(server_properties(broker, members, folder / broker.name, secrets))
            tool = [*machine, "kafka.tools.StorageTool", "format", f"--cluster-id={cluster_id}", "-c", str(properties)]
            done = subprocess.run(tool, capture_output=True, text=True, check=False)
            assert done.returncode == 0, done.stdout + done.stderr
            network.add_netns(broker.netns, broker.address)
            stack.callback(network.remove_netns, broker.netns)
            command = ["nsenter", f"--net=/run/netns/{broker.netns}", "--", *machine, "kafka.Kafka", str(properties)]
            log = stack.enter_context((folder / f"{broker.name}.log").open("wb"))
            process = stack.enter_context(subprocess.Popen(command, stdout=log, stderr=log))
            stack.callback(process.kill)
        for broker in members:
            wait_for(f"{broker.name}", serving(broker), READY_WITHIN_S)
        yield ThreeBrokers(members)


def _all_differ(before: dict[int, int], now: dict[int, int]) -> bool:
    return all(now.get(part, -1) not in (-1, leader) for part, leader in before.items())
