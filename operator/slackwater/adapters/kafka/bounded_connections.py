"""kafka-python's connection manager, with the time for names and TLS bounded, no socket left open, nothing unheard, and
as many connections in a time as the namespace may have.

As it comes, a handshake with a broker that hangs waits for ever, and the requests behind it with it; a name that is
slow to find stops all brokers' connections; a socket stays open when connecting or the handshake fails; and what a
broker said last can get lost.
"""

from __future__ import annotations

import errno
import math
import os
import socket
import ssl
import time
from typing import Any, Final

import kafka.errors as kafka_errors
from kafka.net.manager import KafkaConnectionManager
from kafka.net.transport import KafkaSSLTransport, KafkaTCPTransport

from slackwater.adapters.kafka.answers import Answers
from slackwater.adapters.kafka.lookups import Lookups
from slackwater.adapters.kafka.reading_pace import MADE_A_SECOND, OwnReading
from slackwater.adapters.kafka.sizes import Limits
from slackwater.adapters.kafka.translated import is_too_long

_PART: Final = 65_536
_AT_A_TIME: Final = 4 * _PART
"""Bytes that are read before anybody looks at them."""


class BoundedConnectionManager(KafkaConnectionManager):  # type: ignore[misc]
    """Gives each connection until `timeout_at` (monotonic seconds) to be made, TLS included.

    And lets each broker say for itself what it can do, whenever it is connected to.
    """

    def __init__(self, net: Any, reading: OwnReading, limits: Limits, **configs: Any) -> None:
        super().__init__(net, **configs)
        self._reading = reading
        self._limits = limits
        self._lookups = Lookups(net)

    @property
    def broker_version_data(self) -> None:
        """Given to each new connection, it would hold the broker down to what the first one could before an upgrade."""

    @broker_version_data.setter
    def broker_version_data(self, value: Any) -> None:
        """kafka-python sets it at its start and from bootstrap servers."""

    async def _build_transport(self, node: Any, timeout_at: float | None = None) -> Any:
        await self._its_turn(timeout_at)
        sock = await self._connected_socket(node.host, node.port, timeout_at)
        if not self.ssl_enabled:
            return self._bounded(_TcpTransport(self._net, sock, host=node.host))
        configs = {key: value for key, value in self.config.items() if key.startswith("ssl_")}
        transport = _TlsTransport(self._net, sock, host=node.host, **configs)
        self._bounded(transport)
        try:
            await transport.handshake_until(timeout_at)
        except BaseException as error:  # also when the loop ends and abandons the coroutine
            transport.close()
            if isinstance(error, OSError):
                raise kafka_errors.KafkaConnectionError(f"TLS handshake failed: {error}") from error
            raise
        return transport

    async def _its_turn(self, timeout_at: float | None) -> None:
        """Half of the time is left for the connection itself. Who would come too late fails late: he tries again."""
        left_s = math.inf if timeout_at is None else max(0.0, timeout_at - time.monotonic())
        wait_s = self._reading.pace.connects_in_s(left_s / 2)
        if wait_s is None:
            await self._net.sleep(left_s)
            made = f"all connections of one namespace together make {MADE_A_SECOND} a second"
            raise kafka_errors.KafkaConnectionError(f"it was not its turn: {made}")
        if wait_s > 0:
            await self._net.sleep(wait_s)

    def _bounded(self, transport: _LastWords) -> _LastWords:
        transport.reading, transport.limits = self._reading, self._limits
        transport.most_bytes = self.config["receive_message_max_bytes"]
        return transport

    async def _connected_socket(self, host: str, port: int, timeout_at: float | None) -> socket.socket:
        """Try each address that `host` stands for."""
        failed = f"{host} has no address"
        for family, kind, protocol, _, address in await self._addresses(host, port, timeout_at):
            sock = socket.socket(family, kind, protocol)
            try:
                if (code := await self._connect_socket(sock, address, timeout_at)) == 0:
                    return sock
                failed = os.strerror(code).lower()
            except kafka_errors.KafkaTimeoutError:
                failed = "connection timed out"
            except BaseException:
                sock.close()
                raise
            sock.close()
        raise kafka_errors.KafkaConnectionError(failed)

    async def _addresses(self, host: str, port: int, timeout_at: float | None) -> Any:
        timeout_ms = None if timeout_at is None else max(0.0, timeout_at - time.monotonic()) * 1000
        try:
            return await self.wait_for(self._lookups.addresses(host, port), timeout_ms)
        except kafka_errors.KafkaTimeoutError as error:
            raise kafka_errors.KafkaConnectionError(f"{host}: the name is not found in time") from error
        except OSError as error:
            raise kafka_errors.KafkaConnectionError(f"{host}: {error.strerror}") from error
        except UnicodeError as error:  # such as a..b, or a part of more than 63 characters
            raise kafka_errors.KafkaConnectionError(f"{host} is no host name") from error

    async def _connect_socket(self, sock: socket.socket, address: Any, timeout_at: float | None) -> int:
        """Return an errno, 0 when connected."""
        sock.setblocking(False)
        for option in self.config["socket_options"]:
            sock.setsockopt(*option)
        code = sock.connect_ex(address)
        if code not in (errno.EINPROGRESS, errno.EWOULDBLOCK):
            return code
        await self._net.wait_write(sock, timeout_at=timeout_at)
        return sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)


class EndedForAnother(kafka_errors.KafkaConnectionError):  # type: ignore[misc]
    """The connection ended with an answer to another request, which is too long: ask again."""


class _LastWords:
    """Hears what a broker said before it hung up: kafka-python drops data that came together with the end.

    A broker that refuses credentials says so and closes, often too fast, and the refusal would pass for an outage.
    And it reads in parts: kafka-python reads on while anything comes, and looks at an answer's length after that. An
    answer that is too long is the failure of who asked for it, and not of all who wait on the connection.
    """

    reading: OwnReading
    limits: Limits
    most_bytes: int
    _parser: Any = None
    _sock: Any
    _protocol: Any

    def abort(self, error: BaseException | None = None) -> None:
        if error is not None and is_too_long(error) and self._protocol.connected:
            error = self._blamed(error)
        super().abort(error)  # type: ignore[misc]

    def _blamed(self, error: BaseException) -> BaseException:
        """Fail the request whose answer it is; returns what the others fail with."""
        connection = self._protocol
        asked = next((header.correlation_id for header in connection.parser.in_flight_requests), None)
        waiting = connection.in_flight_requests
        culprit = next((each for each in waiting if each[0] == asked), None)
        if culprit is None:
            return error
        waiting.remove(culprit)
        _, future, _, _, timeout_task = culprit
        connection.net.cancel(timeout_task)
        future.failure(error)
        return EndedForAnother("the connection ended with an answer to another request")

    def _sock_recv(self) -> tuple[bytes, BaseException | None]:
        if (parser := self._protocol.parser) is not self._parser:  # it comes after the transport
            self._parser = parser
            parser.receive_bytes = self._answers(parser).receive
        received: list[bytes] = []
        size, error = 0, None
        while size < _AT_A_TIME or self._holds_more():
            try:
                data = self._sock.recv(_PART)
            except (BlockingIOError, InterruptedError, ssl.SSLWantReadError, ssl.SSLWantWriteError):
                break
            except OSError as failed:
                error = kafka_errors.KafkaConnectionError(failed)
                break
            if not data:
                error = kafka_errors.KafkaConnectionError("socket disconnected")
                break
            received.append(data)
            size += len(data)
        time.sleep(self.reading.wait_s(size))  # in the network thread of this connection, which is all that waits
        return b"".join(received), None if received else error

    def _answers(self, parser: Any) -> Answers:
        return Answers(parser, self.limits, self.most_bytes, self.reading.turn)

    def _holds_more(self) -> bool:
        """TLS has decrypted more than was asked for; for that nobody is woken."""
        return isinstance(self._sock, ssl.SSLSocket) and self._sock.pending() > 0


class _TcpTransport(_LastWords, KafkaTCPTransport):  # type: ignore[misc]
    pass


class _TlsTransport(_LastWords, KafkaSSLTransport):  # type: ignore[misc]
    async def handshake_until(self, timeout_at: float | None) -> None:
        """A broker chooses how much there is to compute, up to a fifth of a second: one at a time in a namespace."""
        while True:
            try:
                with self.reading.turn:
                    self._sock.do_handshake()
            except ssl.SSLWantReadError:
                await self._net.wait_read(self._sock, timeout_at=timeout_at)
            except ssl.SSLWantWriteError:
                await self._net.wait_write(self._sock, timeout_at=timeout_at)
            else:
                return
