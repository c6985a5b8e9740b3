"""kafka-python's connections to one cluster and the thread that they live in: which broker is asked, and which next."""

from __future__ import annotations

import copy
import random
import time
from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any, Final

import kafka.errors as kafka_errors
from kafka.future import Future
from kafka.net.selector import NetworkSelector
from kafka.protocol.admin import IncrementalAlterConfigsRequest
from kafka.protocol.metadata import MetadataResponse

from slackwater.adapters.kafka.bounded_connections import BoundedConnectionManager, EndedForAnother
from slackwater.adapters.kafka.reading_pace import OwnReading
from slackwater.adapters.kafka.sizes import Limits
from slackwater.adapters.kafka.translated import TIMED_OUT

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


class Session:
    """kafka-python's manager and its thread. Public methods are for any thread, the others for its own."""

    def __init__(self, settings: Mapping[str, Any], timeout_s: float, reading: OwnReading, limits: Limits) -> None:
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
            self._manager = BoundedConnectionManager(self._net, reading, limits, **configs)
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
        """And nothing else of a MetadataResponse: kafka-python would keep each partition and each rack for good."""
        row = partial(MetadataResponse.MetadataResponseBroker, rack=None, version=metadata.API_VERSION)
        known = MetadataResponse(
            version=metadata.API_VERSION,
            brokers=[row(each.node_id, each.host, each.port) for each in metadata.brokers],
            cluster_id=metadata.cluster_id,
            controller_id=metadata.controller_id,
            topics=[],
        )
        self._net.call_soon_threadsafe(lambda: self._manager.cluster.update_metadata(known))

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
