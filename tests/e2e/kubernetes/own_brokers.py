"""Three brokers of a test's own, on this machine's address in the sandbox: one may restart without harm to others."""

from __future__ import annotations

import subprocess
import uuid
from base64 import urlsafe_b64encode
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Final

from sandbox.kafka.libraries import class_path, ensure_libraries
from sandbox.layout import HOST, Layout
from sandbox.toolchain import java
from tests.adapters.kafka.own_broker import OwnBroker, free_ports

COUNT: Final = 3
_LOGGING: Final = Path(__file__).resolve().parents[3] / "sandbox" / "kafka" / "log4j2.yaml"


@contextmanager
def three_brokers(folder: Path) -> Iterator[list[OwnBroker]]:
    """They have everything three times, and two are enough to write."""
    host = str(HOST)
    ports = free_ports(*[host] * 2 * COUNT)
    clients, controllers = ports[:COUNT], ports[COUNT:]
    voters = ",".join(f"{number}@{host}:{port}" for number, port in enumerate(controllers, 1))
    cluster_id = urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")
    brokers = [
        _made(folder / f"{number}", number, clients[number - 1], controllers[number - 1], voters, cluster_id)
        for number in range(1, COUNT + 1)
    ]
    with ExitStack() as stack:
        for broker in brokers:  # none of them serves before a second one is there
            with broker.log.open("w") as output:
                broker.process = subprocess.Popen(broker.command, stdout=output, stderr=output)
            stack.callback(broker.kill)
        for broker in brokers:
            broker.wait_serving()
        yield brokers


def restart(broker: OwnBroker) -> None:
    """In good order, with the data that it had."""
    assert broker.process is not None
    broker.process.terminate()
    broker.process.wait(60)
    broker.start()


def _made(folder: Path, number: int, port: int, controller: int, voters: str, cluster_id: str) -> OwnBroker:
    folder.mkdir()
    settings = {
        "process.roles": "broker,controller",
        "node.id": str(number),
        "controller.quorum.voters": voters,
        "log.dirs": str(folder / "data"),
        "listeners": f"CLIENTS://{HOST}:{port},CONTROLLER://{HOST}:{controller}",
        "advertised.listeners": f"CLIENTS://{HOST}:{port}",
        "listener.security.protocol.map": "CLIENTS:PLAINTEXT,CONTROLLER:PLAINTEXT",
        "inter.broker.listener.name": "CLIENTS",
        "controller.listener.names": "CONTROLLER",
        "default.replication.factor": "3",
        "min.insync.replicas": "2",
        "offsets.topic.replication.factor": "3",
        "offsets.topic.num.partitions": "3",
        "group.initial.rebalance.delay.ms": "500",
    }
    properties = folder / "server.properties"
    properties.write_text("".join(f"{name}={value}\n" for name, value in settings.items()))
    layout = Layout.from_environment()
    machine = [str(java(layout)), "-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"]
    machine += [f"-Dlog4j2.configurationFile={_LOGGING}", "-cp", class_path(ensure_libraries(layout))]
    tool = [*machine, "kafka.tools.StorageTool", "format", f"--cluster-id={cluster_id}", "-c", str(properties)]
    done = subprocess.run(tool, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return OwnBroker(f"{HOST}:{port}", [*machine, "kafka.Kafka", str(properties)], folder / "broker.log")
