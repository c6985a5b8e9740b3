"""A broker for tests that need one set up otherwise than the sandbox's: a process of its own on loopback."""

from __future__ import annotations

import socket
import subprocess
import uuid
from base64 import urlsafe_b64encode
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from sandbox.kafka.libraries import class_path, ensure_libraries
from sandbox.layout import Layout
from sandbox.toolchain import java
from tests.e2e.stage.waiting import wait_for

LOOPBACK = "127.0.0.1"
READY_WITHIN_S = 300.0
_LOGGING = Path(__file__).resolve().parents[3] / "sandbox" / "kafka" / "log4j2.yaml"


@dataclass(frozen=True, slots=True)
class Listener:
    """One more way in, beside `CLIENTS`; `name` in capitals."""

    name: str
    protocol: str
    port: int


@dataclass(slots=True)
class OwnBroker:
    """A broker that a test may kill and start again: what it had written is there then."""

    bootstrap_servers: str
    command: Sequence[str]
    log: Path
    process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Returns when it serves; does nothing while it runs."""
        if self.process is not None and self.process.poll() is None:
            return
        with self.log.open("w") as output:
            self.process = subprocess.Popen(self.command, stdout=output, stderr=output)
        self.wait_serving()

    def wait_serving(self) -> None:
        assert self.process is not None
        wait_for(f"the broker of {self.log}", _serving(self.process, self.log), READY_WITHIN_S)

    def kill(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait(30)


@contextmanager
def own_broker(
    folder: Path,
    settings: Mapping[str, str],
    *,
    protocol: str = "PLAINTEXT",
    features: Mapping[str, int] | None = None,
    host: str = LOOPBACK,
    also: Sequence[Listener] = (),
    java_options: Sequence[str] = (),
) -> Iterator[str]:
    """Start a broker with those settings and finalized features; its bootstrap address. It ends with the context.

    `host`: the address of this machine on which clients reach it.
    """
    made = made_broker(folder, settings, protocol, features, host, also, java_options)
    with serving(made) as broker:
        yield broker.bootstrap_servers


@contextmanager
def serving(broker: OwnBroker) -> Iterator[OwnBroker]:
    try:
        broker.start()
        yield broker
    finally:
        broker.kill()


def made_broker(
    folder: Path,
    settings: Mapping[str, str],
    protocol: str = "PLAINTEXT",
    features: Mapping[str, int] | None = None,
    host: str = LOOPBACK,
    also: Sequence[Listener] = (),
    java_options: Sequence[str] = (),
    libraries: Path | None = None,
) -> OwnBroker:
    """Its storage is formatted; it does not run yet. `libraries`: of another Kafka than the sandbox's."""
    port, controller_port = free_ports(host, LOOPBACK)
    listeners = [Listener("CLIENTS", protocol, port), *also]
    properties = folder / "server.properties"
    properties.write_text(_properties(folder, host, listeners, controller_port, settings))
    hosts = folder / "hosts"
    hosts.write_text("127.0.0.1 localhost\n")
    layout = Layout.from_environment()
    virtual_machine = [
        str(java(layout)),
        "-Xmx256m",
        "-XX:+UseSerialGC",
        "-XX:TieredStopAtLevel=1",
        f"-Djdk.net.hosts.file={hosts}",
        f"-Dlog4j2.configurationFile={_LOGGING}",
        *java_options,
        "-cp",
        class_path(libraries or ensure_libraries(layout)),
    ]
    cluster_id = urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")
    with_features = [f"--feature={name}={level}" for name, level in (features or {}).items()]
    format_storage = [
        "kafka.tools.StorageTool",
        "format",
        f"--cluster-id={cluster_id}",
        "-c",
        str(properties),
        *with_features,
    ]
    done = subprocess.run([*virtual_machine, *format_storage], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    command = [*virtual_machine, "kafka.Kafka", str(properties)]
    return OwnBroker(f"{host}:{port}", command, folder / "broker.log")


def _properties(
    folder: Path, host: str, listeners: Sequence[Listener], controller_port: int, settings: Mapping[str, str]
) -> str:
    offered = ",".join(f"{each.name}://{host}:{each.port}" for each in listeners)
    protocols = ",".join(f"{each.name}:{each.protocol}" for each in listeners)
    lines = {
        "process.roles": "broker,controller",
        "node.id": "1",
        "controller.quorum.voters": f"1@{LOOPBACK}:{controller_port}",
        "log.dirs": str(folder / "data"),
        "listeners": f"{offered},CONTROLLER://{LOOPBACK}:{controller_port}",
        "listener.security.protocol.map": f"{protocols},CONTROLLER:PLAINTEXT",
        "inter.broker.listener.name": "CLIENTS",
        "controller.listener.names": "CONTROLLER",
        "default.replication.factor": "1",
        "offsets.topic.replication.factor": "1",
        "offsets.topic.num.partitions": "1",
        "group.initial.rebalance.delay.ms": "500",
        **settings,
    }
    return "".join(f"{name}={value}\n" for name, value in lines.items())


def free_ports(*hosts: str) -> list[int]:
    held = [socket.create_server((host, 0)) for host in hosts]
    ports = [each.getsockname()[1] for each in held]
    for each in held:
        each.close()
    return ports


def _serving(process: subprocess.Popen[bytes], log: Path) -> Callable[[], bool]:
    def is_serving() -> bool:
        assert process.poll() is None, log.read_text()[-4000:]
        return "Kafka Server started" in log.read_text()

    return is_serving
