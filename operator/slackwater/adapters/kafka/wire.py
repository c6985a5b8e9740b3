"""One cluster's connections: sends a request of kafka-python's protocol and awaits the answer.

The only module that uses kafka-python's network layer, which is not its public interface. Going below
`KafkaAdminClient` gives batched requests, one node's failure apart from another's, and a constructor that neither
blocks, nor fails while Kafka is down, nor logs its settings. kafka-python runs its own loop in one thread of its own;
answers come back to asyncio by `call_soon_threadsafe`, so neither loop ever waits for the other.
"""

from __future__ import annotations

import asyncio
import logging
import random
import time
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any, Final

import kafka.errors as kafka_errors
from kafka.net.manager import KafkaConnectionManager
from kafka.net.selector import NetworkSelector
from kafka.protocol.metadata import MetadataRequest

from slackwater.adapters.kafka.errors import ApiMissing, KafkaFailed, KafkaRefused, KafkaUnreachable
from slackwater.core.reasons import Reason

DEFAULT_TIMEOUT_S: Final = 5.0
_CONNECT_TIMEOUT_MS: Final = 3_000
_RECONNECT_BACKOFF_MS: Final = 50
_RECONNECT_BACKOFF_MAX_MS: Final = 500
"""Far below kafka-python's 30 s: an operator that waits that long after an outage holds up every rollout."""
_MAX_RESPONSE_BYTES: Final = 100_000_000
"""kafka-python's network layer stops at 1 MB, which the description of a large fleet exceeds."""
_IN_FLIGHT_PER_CONNECTION: Final = 64


class KafkaWire:
    """Sends requests to brokers by node id, or to any broker; counts them in `requests` by API name."""

    def __init__(self, settings: Mapping[str, Any], *, timeout_s: float = DEFAULT_TIMEOUT_S) -> None:
        """`settings` are kafka-python's, with at least `bootstrap_servers`. Nothing is opened before the first send."""
        self.timeout_s = timeout_s
        self.requests: Counter[str] = Counter()
        self._settings = dict(settings)
        self._session: _Session | None = None
        self._known_node_ids: frozenset[int] = frozenset()
        self._closed = False

    async def send(self, request: Any, node_id: int | None = None) -> Any:
        """Return the response; `node_id` None asks any broker that answers.

        Raises KafkaUnreachable, or KafkaRefused (credentials, or a broker too old), within `timeout_s`.
        """
        session = self._open_session()
        if node_id is not None and node_id not in self._known_node_ids:
            self.remember_brokers(await self.send(MetadataRequest(topics=[], allow_auto_topic_creation=False)))
        self.requests[type(request).__name__.removesuffix("Request")] += 1
        try:
            return await self._exchange(session, request, node_id)
        except TimeoutError as error:
            session.drop(node_id)
            where = "Kafka" if node_id is None else f"broker {node_id}"
            raise KafkaUnreachable(f"{where} did not answer within {self.timeout_s:g} s") from error
        except kafka_errors.KafkaError as error:
            raise _translated(error, node_id) from error

    def remember_brokers(self, metadata: Any) -> None:
        """Take the brokers' addresses from a MetadataResponse, so that their node ids can be asked."""
        self._known_node_ids = frozenset(broker.node_id for broker in metadata.brokers)
        if self._session is not None:
            self._session.remember_brokers(metadata)

    async def close(self) -> None:
        """End the connections and the thread."""
        self._closed = True
        session, self._session = self._session, None
        if session is not None:
            await asyncio.to_thread(session.close)

    def _open_session(self) -> _Session:
        if self._closed:
            raise KafkaUnreachable("the connection to Kafka was closed")
        if self._session is None:
            self._session = _Session(self._settings, self.timeout_s)
        return self._session

    async def _exchange(self, session: _Session, request: Any, node_id: int | None) -> Any:
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[Any] = loop.create_future()

        def settle(setter: Callable[[Any], None], value: Any) -> None:
            if not answer.done():  # cancelled or timed out meanwhile
                setter(value)

        future = session.begin(request, node_id)
        future.add_callback(lambda response: loop.call_soon_threadsafe(settle, answer.set_result, response))
        future.add_errback(lambda error: loop.call_soon_threadsafe(settle, answer.set_exception, error))
        async with asyncio.timeout(self.timeout_s):
            return await answer


class _Session:
    """kafka-python's manager and its thread. Public methods are for any thread, the others for its own."""

    def __init__(self, settings: Mapping[str, Any], timeout_s: float) -> None:
        configs = {
            "client_id": "slackwater-operator",
            "request_timeout_ms": int(timeout_s * 1000),
            "socket_connection_setup_timeout_ms": _CONNECT_TIMEOUT_MS,
            "socket_connection_setup_timeout_max_ms": _CONNECT_TIMEOUT_MS,
            "reconnect_backoff_ms": _RECONNECT_BACKOFF_MS,
            "reconnect_backoff_max_ms": _RECONNECT_BACKOFF_MAX_MS,
            "receive_message_max_bytes": _MAX_RESPONSE_BYTES,
            "max_in_flight_requests_per_connection": _IN_FLIGHT_PER_CONNECTION,
            **settings,
        }
        self._timeout_s = timeout_s
        self._net = NetworkSelector(**configs)
        self._manager = KafkaConnectionManager(self._net, **configs)
        self._net.start()

    def begin(self, request: Any, node_id: int | None) -> Any:
        """Start an exchange; returns a kafka-python future."""
        deadline = time.monotonic() + self._timeout_s
        if node_id is None:
            return self._manager.call_soon(self._ask_any, request, deadline)
        return self._manager.call_soon(self._ask, request, node_id, deadline)

    def drop(self, node_id: int | None) -> None:
        """Close a connection that hangs, so that the next request opens a new one.

        kafka-python bounds neither TLS handshakes nor requests buffered behind one.
        """
        self._net.call_soon_threadsafe(lambda: self._close_hanging(node_id))

    def remember_brokers(self, metadata: Any) -> None:
        self._net.call_soon_threadsafe(lambda: self._manager.cluster.update_metadata(metadata))

    def close(self) -> None:
        self._manager.call_soon(self._manager.close)
        self._net.close()

    def _close_hanging(self, node_id: int | None) -> None:
        for known, connection in list(self._manager._conns.items()):  # noqa: SLF001 - no public way to list them
            if known == node_id or (node_id is None and not connection.connected):
                connection.close(kafka_errors.KafkaConnectionError("no answer in time"))

    async def _ask_any(self, request: Any, deadline: float) -> Any:
        """Try connected brokers, then other known ones, then the bootstrap servers, until one answers."""
        error: BaseException = kafka_errors.KafkaConnectionError("no bootstrap server is known")
        for node_id in self._candidates():
            try:
                return await self._ask(request, node_id, deadline)
            except (kafka_errors.KafkaConnectionError, kafka_errors.NodeNotReadyError) as failed:
                error = failed
        raise error

    def _candidates(self) -> list[Any]:
        brokers = [broker.node_id for broker in self._manager.cluster.brokers()]
        random.shuffle(brokers)
        connected = {connection.node_id for connection in self._manager.least_used_connections()}
        brokers.sort(key=lambda node_id: node_id not in connected)
        return brokers + [broker.node_id for broker in self._manager.cluster.bootstrap_brokers()]

    async def _ask(self, request: Any, node_id: Any, deadline: float) -> Any:
        delay_s = self._manager.connection_delay(node_id)
        if delay_s > 0:
            await self._net.sleep(delay_s)
        remaining_ms = (deadline - time.monotonic()) * 1000
        if remaining_ms <= 0:
            raise kafka_errors.NodeNotReadyError(node_id)
        connection = self._manager.get_connection(node_id, refresh_metadata_on_err=False)
        return await connection.send_request(request, request_timeout_ms=remaining_ms)


# At DEBUG these two log every request and its bytes, SASL's with the password among them.
for _logger in ("kafka.net.connection", "kafka.protocol.parser"):
    logging.getLogger(_logger).setLevel(logging.INFO)


def _translated(error: BaseException, node_id: int | None) -> KafkaFailed:
    where = "Kafka" if node_id is None else f"broker {node_id}"
    if isinstance(error, (kafka_errors.SaslAuthenticationFailedError, kafka_errors.UnsupportedSaslMechanismError)):
        return KafkaRefused(
            f"{where} refused the credentials ({error}): check the KafkaConnection's authentication and its Secret",
            Reason.NOT_AUTHORIZED,
        )
    if isinstance(error, (kafka_errors.IncompatibleBrokerVersion, kafka_errors.UnsupportedVersionError)):
        return ApiMissing(f"{where} is too old for what slackwater asks: {error}")
    return KafkaUnreachable(f"{where} cannot be reached: {error}")
