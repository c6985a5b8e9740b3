"""What a tenant's KafkaConnections lead to: servers on loopback, none of which is a broker that means well."""

from __future__ import annotations

import socket
import socketserver
import threading
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Final

from tests.adapters.kafka.lying_broker import Lie, lying_broker
from tests.adapters.kafka.weak_broker import WeakBroker, weak_broker

FLOOD_BYTES: Final = 40_000_000
BANNER: Final = b"SSH-2.0-OpenSSH_9.6\r\n"
BANNER_AS_LENGTH: Final = int.from_bytes(BANNER[:4], "big")
"""What kafka-python takes it for."""
FLAPS_S: Final = 0.1
"""So long it refuses, and then hangs up for as long."""


@dataclass(frozen=True, slots=True)
class Servers:
    """On loopback: where the operator of a test is sent."""

    silent: str
    """It takes connections, and never answers."""
    flood: str
    """It answers whatever it is asked with forty megabytes."""
    flapping: str
    """It refuses connections, and hangs up on them, in turns."""
    no_broker: str
    """It greets as SSH does."""
    weak: WeakBroker
    """It asks for a password by SCRAM, with one round, and keeps what it is sent."""
    liars: Mapping[Lie, str]
    """Each answers as much of one thing as is read of one answer."""


@contextmanager
def servers() -> Iterator[Servers]:
    with ExitStack() as stack:
        silent = stack.enter_context(socket.create_server(("127.0.0.1", 0), backlog=512))
        flood = stack.enter_context(_flood())
        flapping, no_broker = stack.enter_context(_flapping()), stack.enter_context(_greeting())
        weak = stack.enter_context(weak_broker(iterations=1))
        liars = {lie: stack.enter_context(lying_broker(lie)).address for lie in Lie}
        yield Servers(f"127.0.0.1:{silent.getsockname()[1]}", flood, flapping, no_broker, weak, liars)


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

    with _served(Handler) as address:
        yield address


@contextmanager
def _served(handler: type[socketserver.BaseRequestHandler]) -> Iterator[str]:
    class Server(socketserver.ThreadingTCPServer):
        daemon_threads = True

    with Server(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()


@contextmanager
def _greeting() -> Iterator[str]:
    class Handler(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            self.request.sendall(BANNER)
            self.request.recv(4096)

    with _served(Handler) as address:
        yield address


@contextmanager
def _flapping() -> Iterator[str]:
    ended = threading.Event()
    first = socket.create_server(("127.0.0.1", 0))
    port = first.getsockname()[1]

    def flap() -> None:
        listening: socket.socket | None = first
        while not ended.is_set():
            if listening is not None:
                _hang_up(listening)
            ended.wait(FLAPS_S)
            listening = None if ended.is_set() else _listening(port)

    flapping = threading.Thread(target=flap, daemon=True)
    flapping.start()
    try:
        yield f"127.0.0.1:{port}"
    finally:
        ended.set()
        flapping.join()


def _listening(port: int) -> socket.socket | None:
    """None where somebody else has the port for the moment: then it refuses for longer."""
    try:
        return socket.create_server(("127.0.0.1", port))
    except OSError:
        return None


def _hang_up(listening: socket.socket) -> None:
    """On whoever connects, for a while."""
    done = threading.Timer(FLAPS_S, listening.shutdown, [socket.SHUT_RDWR])
    with listening:
        done.start()
        try:
            while True:
                listening.accept()[0].close()
        except OSError:  # it was shut down
            return
        finally:
            done.cancel()
            done.join()
