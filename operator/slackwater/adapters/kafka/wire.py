"""One cluster's connections: sends a request of kafka-python's protocol and awaits the answer.

With `bounded_connections` and `lookups` the only module that uses kafka-python's network layer, not its public
interface. Going below `KafkaAdminClient` gives batched requests, one node's failure apart from another's, and a
constructor that neither blocks, nor fails while Kafka is down, nor logs its settings. kafka-python runs its own loop in
one thread of its own; answers come back to asyncio by `call_soon_threadsafe`, so neither loop ever waits for the other.
"""

from __future__ import annotations

import asyncio
import copy
import random
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from threading import Thread
from typing import Any, Final

import kafka.errors as kafka_errors
import structlog
from kafka.future import Future
from kafka.net.selector import NetworkSelector
from kafka.protocol.admin import IncrementalAlterConfigsRequest
from kafka.protocol.metadata import MetadataRequest

from slackwater.adapters.aside import aside
from slackwater.adapters.kafka.bounded_connections import BoundedConnectionManager, EndedForAnother
from slackwater.adapters.kafka.errors import KafkaFailed, KafkaUnreachable
from slackwater.adapters.kafka.library import set_up
from slackwater.adapters.kafka.reading_pace import ReadingPace
from slackwater.adapters.kafka.sizes import USUAL, Limits, refuse_a_crowd
from slackwater.adapters.kafka.translated import TIMED_OUT, as_exception, translated

DEFAULT_TIMEOUT_S: Final = 5.0
_CLOSED_WITHIN_S: Final = 1.0
_CONNECT_TIMEOUT_MS: Final = 3_000
_RECONNECT_BACKOFF_MS: Final = 50
_RECONNECT_BACKOFF_MAX_MS: Final = 500
"""Far below kafka-python's 30 s: an operator that waits that long after an outage holds up every rollout."""
_IN_FLIGHT_PER_CONNECTION: Final = 64
_ASKED_IN_TIME: Final = 5
"""How many brokers are asked in turn within the time for one answer, where none of them answers."""
_BEFORE_BOOTSTRAP: Final = 2
"""Brokers that are asked before the bootstrap servers: where all known ones are gone, these are asked in time."""
_CHANGES: Final = (IncrementalAlterConfigsRequest,)
"""Requests to any broker that change something."""
_UNANSWERED: Final = (kafka_errors.KafkaConnectionError, kafka_errors.NodeNotReadyError, *TIMED_OUT)

_log = structlog.get_logger(__name__)


class KafkaWire:
    """Sends requests to brokers by node id, or to any broker; counts them in `requests` by API name."""

    def __init__(
        self,
        settings: Mapping[str, Any],
        *,
        timeout_s: float = DEFAULT_TIMEOUT_S,
        pace: ReadingPace | None = None,
        limits: Limits = USUAL,
    ) -> None:
        """`settings` are kafka-python's, with at least `bootstrap_servers`. Nothing is opened before the first send."""
        self._pace = pace or ReadingPace()
        self._limits = limits
        self.timeout_s = timeout_s
        self.requests: Counter[str] = Counter()
        self.cluster_id: str | None = None
        """None until a broker has told it; empty when it has none to tell."""
        self._settings = {"receive_message_max_bytes": limits.answer_bytes, **settings}
        self._session: _Session | None = None
        self._known_node_ids: frozenset[int] = frozenset()
        self._closed = False
        self._told = ""

    async def send(self, request: Any, node_id: int | None = None) -> Any:
        """Return the response; `node_id` None asks any broker that answers.

        Raises KafkaUnreachable, or KafkaRefused (credentials, or a broker too old), within `timeout_s`.
        """
        if node_id is not None and node_id not in self._known_node_ids:
            self.remember_brokers(await self.send(MetadataRequest(topics=[], allow_auto_topic_creation=False)))
        try:
            session = self._open_session()
            self.requests[type(request).__name__.removesuffix("Request")] += 1
            return await self._exchange(session, request, node_id)
        except KafkaFailed:
            raise
        except TimeoutError as error:
            raise KafkaUnreachable(f"{self._name(node_id)} does not answer{self._others(node_id)}") from error
        except (kafka_errors.KafkaError, OSError, RuntimeError) as error:  # RuntimeError: writing while it closes
            raise translated(error, self._name(node_id), self._others(node_id)) from error
        except Exception as error:
            # What brokers, token endpoints and people's settings make of a client cannot all be foreseen. It is this
            # connection's failure, and not that of all others.
            self._tell_once(error)
            # By its type alone: nobody knows what a text that nobody foresaw repeats, and this shows in conditions.
            message = f"{self._name(node_id)} cannot be asked ({type(error).__name__}): the operator's log says more"
            raise KafkaUnreachable(message) from error

    def _tell_once(self, error: Exception) -> None:
        if repr(error) != self._told:
            self._told = repr(error)
            _log.error("kafka_client_failed", at=self._settings["bootstrap_servers"], exc_info=error)

    def remember_brokers(self, metadata: Any) -> None:
        """Take the brokers' addresses from a MetadataResponse, so that their node ids can be asked.

        Raises KafkaUnreachable where it names more than are looked at.
        """
        refuse_a_crowd(self._name(None), len(metadata.brokers), self._limits)
        self._known_node_ids = frozenset(broker.node_id for broker in metadata.brokers)
        self.cluster_id = metadata.cluster_id or ""
        if self._session is not None:
            self._session.remember_brokers(metadata)

    async def close(self) -> None:
        """End the connections and the thread; one that hangs, for a log-in say, ends later, and nobody waits for it."""
        self._closed = True
        session, self._session = self._session, None
        try:
            async with asyncio.timeout(_CLOSED_WITHIN_S):
                if session is not None:
                    await aside(session.close, "kafka-close")
        except TimeoutError:
            return
        except Exception:  # noqa: BLE001 - it is over, however it ended
            _log.exception("kafka_client_not_closed", at=self._settings["bootstrap_servers"])

    def _name(self, node_id: int | None) -> str:
        return f"Kafka at {self._settings['bootstrap_servers']}" if node_id is None else f"Kafka broker {node_id}"

    def _others(self, node_id: int | None) -> str:
        """What to add where none of those that were asked answers."""
        asked = node_id is None and self._known_node_ids
        return "; brokers that it named do not answer either" if asked else ""

    def _open_session(self) -> _Session:
        if self._closed:
            raise KafkaUnreachable("the connection to Kafka was closed")
        if self._session is not None and self._session.has_ended():  # by a bug, or without a file descriptor to be had
            _log.error("network_thread_ended", brokers=self._settings["bootstrap_servers"])
            Thread(target=self._session.close, name="kafka-close", daemon=True).start()
            self._session = None
        if self._session is None:
            self._session = _Session(self._settings, self.timeout_s, self._pace)
        return self._session

    async def _exchange(self, session: _Session, request: Any, node_id: int | None) -> Any:
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[Any] = loop.create_future()

        def settle(setter: Callable[[Any], None], value: Any) -> None:
            if not answer.done():  # cancelled or timed out meanwhile
                setter(value)

        future = session.begin(request, node_id)
        future.add_callback(lambda response: loop.call_soon_threadsafe(settle, answer.set_result, response))
        future.add_errback(lambda error: loop.call_soon_threadsafe(settle, answer.set_exception, as_exception(error)))
        async with asyncio.timeout(self.timeout_s):
            return await answer


class _Session:
    """kafka-python's manager and its thread. Public methods are for any thread, the others for its own."""

    def __init__(self, settings: Mapping[str, Any], timeout_s: float, pace: ReadingPace) -> None:
        configs = {
            "client_id": "slackwater-operator",
            "request_timeout_ms": int(timeout_s * 1000),
            "socket_connection_setup_timeout_ms": _CONNECT_TIMEOUT_MS,
            "socket_connection_setup_timeout_max_ms": _CONNECT_TIMEOUT_MS,
            "reconnect_backoff_ms": _RECONNECT_BACKOFF_MS,
            "reconnect_backoff_max_ms": _RECONNECT_BACKOFF_MAX_MS,
            "max_in_flight_requests_per_connection": _IN_FLIGHT_PER_CONNECTION,
            **settings,
        }
        self._timeout_s = timeout_s
        self._asked_in_vain = False
        """Whether nobody answered the last request that anybody might have answered."""
        self._net = NetworkSelector(**configs)
        try:
            self._manager = BoundedConnectionManager(self._net, pace, **configs)
        except BaseException:  # settings that it cannot read
            self._net.close()
            raise
        self._net.start()

    def begin(self, request: Any, node_id: int | None) -> Any:
        """Start an exchange; returns a kafka-python future."""
        deadline = time.monotonic() + self._timeout_s
        if node_id is None:
            return self._manager.call_soon(self._ask_any, request, deadline)
        return self._manager.call_soon(self._ask, request, node_id, deadline)

    def remember_brokers(self, metadata: Any) -> None:
        self._net.call_soon_threadsafe(lambda: self._manager.cluster.update_metadata(metadata))

    def close(self) -> None:
        """Close every connection and end the thread; blocks until it has ended."""
        try:
            if self.has_ended():
                self._close_sockets()
            else:
                self._manager.run(self._manager.close)
        finally:
            self._net.close()

    def _close_sockets(self) -> None:
        """There is no thread any more that would."""
        for registered in list(self._net._selector.get_map().values()):  # noqa: SLF001
            registered.fileobj.close()

    def has_ended(self) -> bool:
        """Its thread did not come through something: nobody will be answered any more."""
        return not self._net._io_thread.is_alive()  # noqa: SLF001 - kafka-python tells it nowhere else

    async def _ask_any(self, request: Any, deadline: float) -> Any:
        """Ask one broker, and the next one as well where an answer takes long, until one answers.

        What changes something goes to one at a time: another could carry it out late, over what was written next.
        """
        patience_s = self._timeout_s / (1 if isinstance(request, _CHANGES) else _ASKED_IN_TIME)
        candidates, asked = self._candidates(), dict[Any, Any]()
        error: Exception = kafka_errors.KafkaTimeoutError()
        while (candidates or asked) and (remaining_s := deadline - time.monotonic()) > 0:
            if candidates:
                node_id = candidates.pop(0)
                asked[self._manager.call_soon(self._ask, request, node_id, deadline)] = node_id
            await self._until_one_is_done(asked, min(patience_s, remaining_s) if candidates else remaining_s)
            for future in [each for each in asked if each.is_done]:
                node_id, failed = asked.pop(future), future.exception
                if failed is None:
                    self._asked_in_vain = False
                    return future.value
                if not isinstance(failed, (*_UNANSWERED, kafka_errors.UnknownBrokerIdError)):
                    raise failed
                if self._manager.cluster.is_bootstrap(node_id):
                    error = failed
        self._asked_in_vain = True
        raise error

    def _candidates(self) -> list[Any]:
        """Connected brokers before others, and bootstrap servers soon: they may lead to where the cluster is now."""
        brokers = [broker.node_id for broker in self._manager.cluster.brokers()]
        random.shuffle(brokers)
        connected = {connection.node_id for connection in self._manager.least_used_connections()}
        brokers.sort(key=lambda node_id: node_id not in connected)
        servers = [server.node_id for server in self._manager.cluster.bootstrap_brokers()]
        if self._asked_in_vain:
            random.shuffle(servers)
            return servers + brokers
        return brokers[:_BEFORE_BOOTSTRAP] + servers + brokers[_BEFORE_BOOTSTRAP:]

    async def _until_one_is_done(self, futures: Iterable[Any], timeout_s: float) -> None:
        """Wait until one of kafka-python's futures is done, or for that long."""
        woken = Future()

        def wake(_: object = None) -> None:
            if not woken.is_done:
                woken.success(None)

        for future in futures:
            future.add_both(wake)
        timer = self._net.call_later(timeout_s, wake)
        try:
            await woken
        finally:
            self._net.cancel(timer)

    async def _ask(self, request: Any, node_id: Any, deadline: float) -> Any:
        """Ask one broker; where a connection from before has died, once more on a new one: every request may repeat.

        And until the deadline where it died of another request's answer.
        """
        was_connected = node_id in {connection.node_id for connection in self._manager.least_used_connections()}
        try:
            return await self._ask_once(request, node_id, deadline)
        except EndedForAnother:
            return await self._ask(request, node_id, deadline)
        except kafka_errors.KafkaConnectionError:
            if not was_connected:
                raise
        return await self._ask_once(request, node_id, deadline)

    async def _ask_once(self, request: Any, node_id: Any, deadline: float) -> Any:
        delay_s = self._manager.connection_delay(node_id)
        if delay_s > 0:
            await self._net.sleep(delay_s)
        remaining_ms = (deadline - time.monotonic()) * 1000
        if remaining_ms <= 0:
            raise kafka_errors.KafkaTimeoutError
        # Without the refresh loop that an error would start: every pass asks for metadata anyway.
        connection = self._manager.get_connection(node_id, refresh_metadata_on_err=False)
        # A copy: once sent, a request keeps to the version that this broker knows, and the next one may not.
        return await connection.send_request(copy.copy(request), request_timeout_ms=remaining_ms)


set_up()
