"""What each broker of the sandbox is told: addresses, ports, listeners, settings. Pure: no file is read or written."""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import IPv4Address
from pathlib import Path

from sandbox.errors import SandboxError
from sandbox.layout import BROKER_PORT, broker_address
from sandbox.network import NETNS_PREFIX

PLAINTEXT_PORT = BROKER_PORT
SSL_PORT = 9093
SASL_PLAINTEXT_PORT = 9094
SASL_SSL_PORT = 9095
CONTROLLER_PORT = 9096

MAX_BROKERS = 3
HEAP_MIB = 320
USER = "slackwater"


@dataclass(frozen=True, slots=True)
class Broker:
    """One combined broker and controller; `number` counts from 1 and is its node id, `name` is its process' name."""

    number: int

    @property
    def name(self) -> str:
        return f"kafka-{self.number}"

    @property
    def netns(self) -> str:
        """Its network namespace: what `faults.cut` and `faults.impair` take."""
        return f"{NETNS_PREFIX}{self.name}"

    @property
    def address(self) -> IPv4Address:
        return broker_address(self.number)


@dataclass(frozen=True, slots=True)
class Secrets:
    """What the security listeners need on the broker's side."""

    password: str
    key_store: Path
    trust_store: Path


def brokers_of(count: int) -> tuple[Broker, ...]:
    """The brokers of a sandbox with `count` of them. Raises SandboxError outside 1 to 3."""
    if not 1 <= count <= MAX_BROKERS:
        raise SandboxError(f"The sandbox runs 1 to {MAX_BROKERS} brokers, not {count}.")
    return tuple(Broker(number) for number in range(1, count + 1))


def bootstrap(brokers: tuple[Broker, ...], port: int = PLAINTEXT_PORT) -> str:
    """`host:port,…` of one listener."""
    return ",".join(f"{broker.address}:{port}" for broker in brokers)


def server_properties(broker: Broker, brokers: tuple[Broker, ...], data: Path, secrets: Secrets) -> str:
    """The text of one broker's server.properties."""
    settings = _node(broker, brokers, data) | _listeners(broker) | _security(secrets) | _for_tests(len(brokers))
    return "".join(f"{key}={value}\n" for key, value in settings.items())


def _node(broker: Broker, brokers: tuple[Broker, ...], data: Path) -> dict[str, str]:
    voters = ",".join(f"{each.number}@{each.address}:{CONTROLLER_PORT}" for each in brokers)
    return {
        "process.roles": "broker,controller",
        "node.id": str(broker.number),
        "controller.quorum.voters": voters,
        "log.dirs": str(data),
    }


def _listeners(broker: Broker) -> dict[str, str]:
    ports = {
        "PLAINTEXT": PLAINTEXT_PORT,
        "SSL": SSL_PORT,
        "SASL_PLAINTEXT": SASL_PLAINTEXT_PORT,
        "SASL_SSL": SASL_SSL_PORT,
    }
    offered = ",".join(f"{name}://{broker.address}:{port}" for name, port in ports.items())
    return {
        "listeners": f"{offered},CONTROLLER://{broker.address}:{CONTROLLER_PORT}",
        "advertised.listeners": offered,
        "listener.security.protocol.map": ",".join(f"{name}:{name}" for name in ports) + ",CONTROLLER:PLAINTEXT",
        "inter.broker.listener.name": "PLAINTEXT",
        "controller.listener.names": "CONTROLLER",
    }


def _security(secrets: Secrets) -> dict[str, str]:
    module = "org.apache.kafka.common.security"
    plain = f'{module}.plain.PlainLoginModule required user_{USER}="{secrets.password}";'
    scram = f"{module}.scram.ScramLoginModule required;"
    return {
        "ssl.keystore.type": "PEM",
        "ssl.keystore.location": str(secrets.key_store),
        "ssl.truststore.type": "PEM",
        "ssl.truststore.location": str(secrets.trust_store),
        # A client certificate is checked when one is shown, so mutual TLS can be tried on the same port.
        "listener.name.ssl.ssl.client.auth": "requested",
        "listener.name.sasl_plaintext.sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-256,SCRAM-SHA-512",
        "listener.name.sasl_plaintext.plain.sasl.jaas.config": plain,
        "listener.name.sasl_plaintext.scram-sha-256.sasl.jaas.config": scram,
        "listener.name.sasl_plaintext.scram-sha-512.sasl.jaas.config": scram,
        "listener.name.sasl_ssl.sasl.enabled.mechanisms": "SCRAM-SHA-512",
        "listener.name.sasl_ssl.scram-sha-512.sasl.jaas.config": scram,
    }


def _for_tests(count: int) -> dict[str, str]:
    """Everything not named here keeps Kafka's default, group and session timeouts above all (F22, F23).

    With three brokers one may be lost at any moment, so internal topics are held three times and two are enough to
    write; with one broker there is nothing to replicate to.
    """
    replicas, in_sync = (str(count), str(max(1, count - 1)))
    return {
        "default.replication.factor": replicas,
        "min.insync.replicas": in_sync,
        "offsets.topic.replication.factor": replicas,
        "transaction.state.log.replication.factor": replicas,
        "transaction.state.log.min.isr": in_sync,
        "share.coordinator.state.topic.replication.factor": replicas,
        "share.coordinator.state.topic.min.isr": in_sync,
        # 50 partitions by default: eight spread groups over coordinators just as well and are read in a moment.
        "offsets.topic.num.partitions": "8",
        "transaction.state.log.num.partitions": "4",
        "share.coordinator.state.topic.num.partitions": "4",
        # The first rebalance of an empty group waits this long for more members (3 s by default). It bears on no
        # group that runs, only on how long each test takes to begin; not 0, or a fleet that starts together would
        # rebalance once a member.
        "group.initial.rebalance.delay.ms": "500",
        # A consumer's typing mistake must fail, not make a topic.
        "auto.create.topics.enable": "false",
    }
