"""Starts and stops the brokers, each a plain process in a network namespace of its own on the sandbox's bridge.

So each can be killed, cut off and delayed by itself. What a broker has stored outlives its death, and is wiped when
all of them are started again.
"""

from __future__ import annotations

import shutil
import subprocess
import uuid
from base64 import urlsafe_b64encode
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from sandbox import network, processes
from sandbox.commands import LOG_LINES
from sandbox.errors import CommandFailed, NotUp
from sandbox.kafka.configuration import HEAP_MIB, Broker, bootstrap, brokers_of, server_properties
from sandbox.kafka.credentials import Credentials, make_credentials
from sandbox.kafka.libraries import class_path, ensure_libraries
from sandbox.kafka.readiness import serving
from sandbox.layout import Layout
from sandbox.toolchain import java

READY_WITHIN_S = 90.0
_STOP_WITHIN_S = 5.0
_LOGGING = Path(__file__).with_name("log4j2.yaml")
_SCRAM = ("SCRAM-SHA-256", "SCRAM-SHA-512")


def start_all(layout: Layout, brokers: int = 1) -> None:
    """Start `brokers` empty brokers (1 to 3) and wait until each serves.

    Brokers that run already are stopped, and what they stored is removed. Raises SandboxError for another number,
    MissingPrerequisite, CommandFailed or StartFailed when they cannot be had or do not get ready.
    """
    members = brokers_of(brokers)
    home = _home(layout)
    stop_all(layout)
    shutil.rmtree(home, ignore_errors=True)
    made = make_credentials(home / "credentials", members)
    for broker in members:
        directory = _directory(layout, broker)
        directory.mkdir()
        properties = server_properties(broker, members, directory / "data", made.for_brokers)
        _properties(layout, broker).write_text(properties)
        _properties(layout, broker).chmod(0o600)
    _hosts(layout).write_text("".join(f"{broker.address} {broker.name}\n" for broker in members))
    _format(layout, members, made)
    for broker in members:
        network.add_netns(broker.netns, broker.address)
        _launch(layout, broker)
    _wait_for(layout, members)


def stop_all(layout: Layout) -> None:
    """Stop every broker that runs and remove its network namespace; what they stored stays until the next start."""
    members = _existing(layout)
    if not members:
        return
    # All at a time, and not for long: the last ones have no quorum left to hand over to, and a broker survives SIGKILL.
    with ThreadPoolExecutor(len(members)) as pool:
        list(pool.map(lambda broker: processes.stop(layout, broker.name, deadline_s=_STOP_WITHIN_S), members))
    for broker in members:
        network.remove_netns(broker.netns)


def start_broker(layout: Layout, number: int) -> None:
    """Start one broker again, with the data that it had, and wait until it serves. A running one is left alone."""
    broker = _one(layout, number)
    if not processes.is_running(layout, broker.name):
        _launch(layout, broker)
    _wait_for(layout, (broker,))


def stop_broker(layout: Layout, number: int, kill: bool) -> None:
    """Stop one broker: with `kill` at once (SIGKILL), else in good order. Its data stay."""
    name = _one(layout, number).name
    if kill:
        processes.kill(layout, name)
    else:
        processes.stop(layout, name)


def bootstrap_servers(layout: Layout) -> str:
    """`host:port,…` of the listener without security. Raises NotUp when no brokers were started."""
    members = _existing(layout)
    if not members:
        raise NotUp("No broker was started in this sandbox yet.", todo="Start it: sandbox up")
    return bootstrap(members)


def credentials(layout: Layout) -> Credentials:
    """Where the secured listeners' password and certificates are."""
    return Credentials(_home(layout) / "credentials")


def _home(layout: Layout) -> Path:
    return layout.run / "kafka"


def _directory(layout: Layout, broker: Broker) -> Path:
    return _home(layout) / broker.name


def _properties(layout: Layout, broker: Broker) -> Path:
    return _directory(layout, broker) / "server.properties"


def _hosts(layout: Layout) -> Path:
    return _home(layout) / "hosts"


def _existing(layout: Layout) -> tuple[Broker, ...]:
    """The brokers that the last start made, running or not."""
    count = len(list(_home(layout).glob("kafka-*")))
    return brokers_of(count) if count else ()


def _one(layout: Layout, number: int) -> Broker:
    members = _existing(layout)
    if not 1 <= number <= len(members):
        raise NotUp(f"There is no broker {number}: this sandbox has {len(members)}, counted from 1.")
    return members[number - 1]


def _java(layout: Layout, *options: str) -> list[str]:
    libraries = ensure_libraries(layout)
    return [str(java(layout)), *options, f"-Dlog4j2.configurationFile={_LOGGING}", "-cp", class_path(libraries)]


def _format(layout: Layout, members: tuple[Broker, ...], made: Credentials) -> None:
    """Give each broker's storage the cluster's id and the SCRAM users, all of them at a time."""
    cluster_id = urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")
    users = [f"--add-scram={mechanism}=[name={made.user},password={made.password}]" for mechanism in _SCRAM]
    # Every 64th id begins with a dash: as a word of its own it would be taken for an option.
    tool = [*_java(layout, "-XX:TieredStopAtLevel=1"), "kafka.tools.StorageTool", "format"]
    tool += [f"--cluster-id={cluster_id}", *users]
    running = [
        subprocess.Popen(
            [*tool, "-c", str(_properties(layout, broker))], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        for broker in members
    ]
    for process in running:
        output, _ = process.communicate()
        if process.returncode != 0:
            raise CommandFailed("Kafka's storage could not be formatted.", log=output.splitlines()[-LOG_LINES:])


def _launch(layout: Layout, broker: Broker) -> None:
    heap = f"{HEAP_MIB}m"
    # Kafka looks up the name of its own address for each SASL connection. No name server is within the broker's reach,
    # so Java is told to ask this file and nothing else; without it, a log-in takes as long as the resolver's patience.
    names = f"-Djdk.net.hosts.file={_hosts(layout)}"
    command = [*_java(layout, f"-Xms{heap}", f"-Xmx{heap}", "-XX:+UseSerialGC", names), "kafka.Kafka"]
    processes.start(layout, broker.name, [*command, str(_properties(layout, broker))], netns=broker.netns)


def _wait_for(layout: Layout, members: tuple[Broker, ...]) -> None:
    for broker in members:
        what = f"{broker.name} answers a Kafka request"
        processes.wait_until(layout, what, serving(broker), READY_WITHIN_S, process=broker.name)
