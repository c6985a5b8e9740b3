"""What somebody can do to others who may write ConsumerGroups, KafkaConnections and Secrets in one namespace.

Each attack is a set of plain objects, and stands for a finding of the security review; its number is in its name.
"""

from __future__ import annotations

import socket
import socketserver
import threading
from base64 import b64encode, encodebytes
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any, Final

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from tests.adapters.kafka.lying_broker import Lie, lying_broker
from tests.adapters.kafka.test_security import with_most_rounds
from tests.adapters.kafka.weak_broker import weak_broker
from tests.e2e.stage.cluster import Cluster, Json
from tests.e2e.stage.groups import CONNECTION, connection, consumer_group, with_command

SLOW_BROKERS: Final = 24
"""Half as many again as there are workers."""
MOST_REPLICAS: Final = 10_000
CLAIMANTS: Final = 1_000
FLOOD_BYTES: Final = 40_000_000
NAMES: Final = (
    "s2-many",
    "s3-thief",
    "s3-claimant-0",
    "s6-token",
    "s7-flood",
    *(f"s7-{lie}" for lie in Lie),
    "s8-rounds",
    "s9-metrics",
    "s11-slow-0",
    "s12-storm",
    "s14-members",
    "s15-weak",
)
_METRICS: Final = """
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        if self.path == "/ready":
            return
        for number in range(1000):
            self.wfile.write(b"x" * 65536 + b"{a=\\"b" * 100)
    def log_message(self, *_):
        pass
ThreadingHTTPServer(("", 8080), Handler).serve_forever()
"""


@dataclass(frozen=True, slots=True)
class Servers:
    """On loopback: where the operator of a test is sent."""

    silent: str
    """It takes connections, and never answers."""
    flood: str
    """It answers whatever it is asked with forty megabytes."""
    weak: str
    """It asks for a password by SCRAM, with one round."""
    liars: Mapping[Lie, str]
    """Each answers as much of one thing as is read of one answer."""


@contextmanager
def servers() -> Iterator[Servers]:
    with ExitStack() as stack:
        silent = stack.enter_context(socket.create_server(("127.0.0.1", 0), backlog=512))
        flood = stack.enter_context(_flood())
        weak = stack.enter_context(weak_broker(iterations=1))
        liars = {lie: stack.enter_context(lying_broker(lie)).address for lie in Lie}
        yield Servers(f"127.0.0.1:{silent.getsockname()[1]}", flood, weak.address, liars)


@contextmanager
def _flood() -> Iterator[str]:
    class Handler(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            self.request.recv(4096)
            part = b"\0" * 65536
            self.request.sendall(FLOOD_BYTES.to_bytes(4, "big"))
            for _ in range(FLOOD_BYTES // len(part)):
                try:
                    self.request.sendall(part)
                except OSError:  # it has read enough
                    return

    class Server(socketserver.ThreadingTCPServer):
        daemon_threads = True

    with Server(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()


def attacks(evil: Cluster, at: Servers, kafka: str, stolen_group_id: str) -> Mapping[str, list[Json]]:
    """The objects of each, to be applied in any order. `kafka`: the real one, in which the stolen group is."""
    slow = [each for n in range(SLOW_BROKERS) for each in _by(evil, f"s11-slow-{n}", at.silent)]
    made = {
        "s2-many": [group(evil, "s2-many", "main", replicas=MOST_REPLICAS)],
        "s3-thief": [group(evil, "s3-thief", "main", groupId=stolen_group_id)],
        "s3-claimant-0": [
            group(evil, f"s3-claimant-{n}", "main", replicas=1, groupId=stolen_group_id) for n in range(CLAIMANTS)
        ],
        "s6-token": [
            secret("token", clientId="me", clientSecret="x", tokenEndpoint=f"http://{at.silent}/token"),
            *_by(evil, "s6-token", kafka, authentication=log_in("OAuthBearer", "token")),
        ],
        "s7-flood": _by(evil, "s7-flood", at.flood),
        **{f"s7-{lie}": _by(evil, f"s7-{lie}", at.liars[lie]) for lie in Lie},
        "s8-rounds": [
            secret("rounds", **{"tls.crt": "no certificate", "tls.key": slow_key()}),
            *_by(evil, "s8-rounds", kafka, tls={"certificateSecretRef": {"name": "rounds"}}),
        ],
        "s9-metrics": [with_command(scraped(evil), f"exec python3 -c '{_METRICS}'")],
        "s11-slow-0": slow,
        "s12-storm": _by(evil, "s12-storm", at.silent, observe={"movingInterval": "100ms", "restInterval": "1s"}),
        "s14-members": [group(evil, "s14-members", "main", replicas=1)],
        "s15-weak": [
            secret("weak", username="me", password="x"),
            *_by(evil, "s15-weak", at.weak, authentication=log_in("ScramSha256", "weak")),
        ],
    }
    assert made.keys() == set(NAMES)
    return {CONNECTION: [connection(kafka)], **made}


def group(evil: Cluster, name: str, connection_name: str, **spec: Any) -> Json:
    return consumer_group(evil, name, evil.namespace, **{"connectionRef": {"name": connection_name}, **spec})


def scraped(evil: Cluster) -> Json:
    made = group(evil, "s9-metrics", "main", replicas=1)
    made["spec"]["client"] = {**made["spec"]["client"], "metrics": {"port": 8080}}
    return made


def _by(evil: Cluster, name: str, servers: str, **spec: Any) -> list[Json]:
    """A connection to these brokers, and a group that uses it."""
    return [connection(servers, name, **spec), group(evil, name, name, replicas=1)]


def log_in(kind: str, name: str) -> Json:
    return {"type": kind, "secretRef": {"name": name}, "allowUnencrypted": True}


def secret(name: str, **data: str) -> Json:
    encoded = {key: b64encode(value.encode()).decode() for key, value in data.items()}
    return {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name}, "data": encoded}


def slow_key() -> str:
    """An encrypted private key that takes OpenSSL the better part of an hour to open."""
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    locked = serialization.BestAvailableEncryption(b"locked")
    der = with_most_rounds(key.private_bytes(serialization.Encoding.DER, serialization.PrivateFormat.PKCS8, locked))
    return f"-----BEGIN ENCRYPTED PRIVATE KEY-----\n{encodebytes(der).decode()}-----END ENCRYPTED PRIVATE KEY-----\n"
