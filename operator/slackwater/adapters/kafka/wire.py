"""One cluster's connections: sends a request of kafka-python's protocol and awaits the answer.

With `session`, `bounded_connections`, `answers`, `counted` and `lookups` the only module that uses kafka-python's
network layer, not its public interface. Going below `KafkaAdminClient` gives batched requests, one node's failure apart
from another's, and a constructor that neither blocks, nor fails while Kafka is down, nor logs its settings.
kafka-python runs its own loop in one thread of its own; answers come back to asyncio by `call_soon_threadsafe`, so
neither loop ever waits for the other.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Mapping
from threading import Thread
from typing import Any, Final

import kafka.errors as kafka_errors
import structlog
from kafka.protocol.metadata import MetadataRequest

from slackwater.adapters.aside import aside
from slackwater.adapters.kafka.apart import OWN_TURN
from slackwater.adapters.kafka.errors import KafkaFailed, KafkaUnreachable
from slackwater.adapters.kafka.library import set_up
from slackwater.adapters.kafka.reading_pace import BYTES_A_SECOND, OwnReading, ReadingPace
from slackwater.adapters.kafka.session import Session
from slackwater.adapters.kafka.sizes import USUAL, Limits, refuse_a_crowd, refuse_long_names
from slackwater.adapters.kafka.translated import TIMED_OUT, as_exception, translated
from slackwater.core.decision.reasons import Reason

DEFAULT_TIMEOUT_S: Final = 5.0
_CLOSED_WITHIN_S: Final = 1.0

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
        self._reading = OwnReading(pace or ReadingPace())
        self._limits = limits
        self.timeout_s = timeout_s
        self.requests: Counter[str] = Counter()
        self.cluster_id: str | None = None
        """None until a broker has told it; empty when it has none to tell."""
        self._settings = {"receive_message_max_bytes": limits.answer_bytes, **settings}
        self._session: Session | None = None
        self._known_node_ids: frozenset[int] = frozenset()
        self._closed = False
        self._told = ""

    async def send(self, request: Any, node_id: int | None = None) -> Any:
        """Return the response; `node_id` None asks any broker that answers.

        Raises KafkaUnreachable, or KafkaRefused (credentials, or a broker too old), within `timeout_s`.
        """
        if node_id is not None and node_id not in self._known_node_ids:
            self.remember_brokers(await self.send(MetadataRequest(topics=[], allow_auto_topic_creation=False)))
        began = time.monotonic()
        OWN_TURN.set(self._reading.turn)
        try:
            session = self._open_session()
            self.requests[type(request).__name__.removesuffix("Request")] += 1
            return await self._exchange(session, request, node_id)
        except KafkaFailed:
            raise
        except (TimeoutError, *TIMED_OUT) as error:
            raise self._late(node_id, began) from error
        except (kafka_errors.KafkaError, OSError, RuntimeError) as error:  # RuntimeError: writing while it closes
            raise translated(error, self._name(node_id), self._others(node_id)) from error
        except Exception as error:
            # What brokers, token endpoints and people's settings make of a client cannot all be foreseen. It is this
            # connection's failure, and not that of all others.
            self._tell_once(error)
            # By its type alone: nobody knows what a text that nobody foresaw repeats, and this shows in conditions.
            message = f"{self._name(node_id)} cannot be asked ({type(error).__name__}): the operator's log says more"
            raise KafkaUnreachable(message) from error

    def _late(self, node_id: int | None, began: float) -> KafkaUnreachable:
        """An answer that is slowed down here is no silence."""
        name = self._name(node_id)
        if not self._reading.was_held_up(began):
            return KafkaUnreachable(f"{name} does not answer{self._others(node_id)}")
        pace = f"all connections of one namespace together are read at {BYTES_A_SECOND // 1_000_000} MB a second"
        return KafkaUnreachable(f"{name} answers with more than is read in time: {pace}", Reason.ANSWER_TOO_LONG)

    def _tell_once(self, error: Exception) -> None:
        if repr(error) != self._told:
            self._told = repr(error)
            _log.error("kafka_client_failed", at=self._settings["bootstrap_servers"], exc_info=error)

    def remember_brokers(self, metadata: Any) -> None:
        """Take the brokers' addresses from a MetadataResponse, so that their node ids can be asked.

        Raises KafkaUnreachable where it names more than are looked at.
        """
        refuse_a_crowd(self._name(None), len(metadata.brokers), self._limits)
        refuse_long_names(self._name(None), metadata)
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

    def _open_session(self) -> Session:
        if self._closed:
            raise KafkaUnreachable("the connection to Kafka was closed")
        if self._session is not None and self._session.has_ended():  # by a bug, or without a file descriptor to be had
            _log.error("network_thread_ended", brokers=self._settings["bootstrap_servers"])
            Thread(target=self._session.close, name="kafka-close", daemon=True).start()
            self._session = None
        if self._session is None:
            self._session = Session(self._settings, self.timeout_s, self._reading, self._limits)
        return self._session

    async def _exchange(self, session: Session, request: Any, node_id: int | None) -> Any:
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


set_up()
