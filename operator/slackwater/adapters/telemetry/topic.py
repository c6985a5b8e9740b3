"""Events as records of a Kafka topic, keyed by group so that what happened to one group stays in order.

The topic is made where it is missing and the user may make it. The client is opened again after each failure, with
settings read again: a Secret may have been corrected.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Final

import structlog
from confluent_kafka import KafkaError, KafkaException, Producer
from confluent_kafka.admin import AdminClient, NewTopic

from slackwater.adapters.telemetry.sinks import Line, SinkUnavailable
from slackwater.api.errors import SlackwaterError

PARTITIONS: Final = 6
RETENTION_MS: Final = 90 * 24 * 3_600_000
"""What recommendations look back on; the lake has everything that was ever taken in."""
TOPIC_SETTINGS: Final = {
    "cleanup.policy": "delete",
    "retention.ms": str(RETENTION_MS),
    "compression.type": "producer",
}
DELIVERY_S: Final = 20.0
_REQUEST_S: Final = 5.0
_POLL_S: Final = 0.02
_TOO_LONG: Final = (KafkaError.MSG_SIZE_TOO_LARGE, KafkaError.INVALID_RECORD)
_DENIED: Final = (
    KafkaError.TOPIC_AUTHORIZATION_FAILED,
    KafkaError.CLUSTER_AUTHORIZATION_FAILED,
    KafkaError.POLICY_VIOLATION,
)

ReadSettings = Callable[[], Awaitable[Mapping[str, str]]]
"""confluent-kafka's, with credentials. Raises SlackwaterError when there are none to be used now."""

_log = structlog.get_logger(__name__)


class TopicSink:
    def __init__(self, topic: str, read_settings: ReadSettings, *, delivery_s: float = DELIVERY_S) -> None:
        self._topic = topic
        self._read_settings = read_settings
        self._delivery_s = delivery_s
        self._producer: Producer | None = None
        self._denial_told = False

    async def write(self, lines: Sequence[Line]) -> int:
        """Until the brokers have confirmed them. Raises SinkUnavailable."""
        try:
            if self._producer is None:
                settings = await self._read_settings()
                self._producer = await asyncio.to_thread(self._opened, settings)
            left, problem, lost = await self._deliver(self._producer, lines)
        except KafkaException as error:
            left, problem, lost = lines, _in_words(error.args[0]), 0
        except SlackwaterError as error:
            left, problem, lost = lines, str(error), 0
        if left:
            await self._drop()
            raise SinkUnavailable(f"telemetry cannot be written to topic {self._topic}: {problem}", left)
        return lost

    async def close(self) -> None:
        """Every write waits for its confirmations: nothing is left."""
        self._producer = None

    async def _drop(self) -> None:
        """In a thread: the last reference's end waits for librdkafka's own threads, one of which may look up a name."""
        last = [self._producer]
        self._producer = None
        await asyncio.to_thread(last.clear)

    def _opened(self, settings: Mapping[str, str]) -> Producer:
        """Raises KafkaException."""
        quiet: dict[str, Any] = {"log_level": 2, "error_cb": lambda _: None, "client.id": "slackwater-telemetry"}
        self._make_topic({**settings, **quiet})
        own: dict[str, Any] = {
            "enable.idempotence": True,
            "compression.type": "zstd",
            "linger.ms": 50,
            "message.timeout.ms": int(self._delivery_s * 1000),
        }
        return Producer({**settings, **quiet, **own})

    def _make_topic(self, settings: Mapping[str, Any]) -> None:
        """Raises KafkaException when the brokers cannot be asked."""
        admin = AdminClient(dict(settings))
        if self._topic in admin.list_topics(timeout=_REQUEST_S).topics:
            return
        wanted = NewTopic(self._topic, PARTITIONS, -1, config=TOPIC_SETTINGS)
        try:
            admin.create_topics([wanted], operation_timeout=_REQUEST_S)[self._topic].result(_REQUEST_S)
        except KafkaException as error:
            code = error.args[0].code()
            if code == KafkaError.TOPIC_ALREADY_EXISTS:
                return
            if code not in _DENIED:
                raise
            self._tell_denial(error.args[0])
            return
        _log.info("telemetry_topic_made", topic=self._topic, partitions=PARTITIONS, settings=TOPIC_SETTINGS)

    def _tell_denial(self, error: KafkaError) -> None:
        if not self._denial_told:
            self._denial_told = True
            advice = f"make it, with {PARTITIONS} partitions for example, and grant Write on it, or grant Create on it"
            problem = f"topic {self._topic} is missing and may not be made by this user: {advice}"
            _log.warning("telemetry_topic_missing", problem=problem, kafka=error.str())

    async def _deliver(self, producer: Producer, lines: Sequence[Line]) -> tuple[Sequence[Line], str, int]:
        """What was not confirmed, why, and how many can never be. In no thread: whoever ends need not wait for one."""
        answers: dict[int, KafkaError | None] = {}

        def settle(number: int) -> Callable[[KafkaError | None, Any], None]:
            return lambda error, _: answers.update({number: error})

        for number, line in enumerate(lines):
            try:
                producer.produce(self._topic, line.text, line.key, on_delivery=settle(number))
            except KafkaException as error:  # too long for the client itself
                answers[number] = error.args[0]
        deadline = time.monotonic() + self._delivery_s + 1.0
        while len(answers) < len(lines) and time.monotonic() < deadline:
            producer.poll(0)
            await asyncio.sleep(_POLL_S)
        lost = {n for n, error in answers.items() if error is not None and error.code() in _TOO_LONG}
        left = [line for n, line in enumerate(lines) if n not in lost and (n not in answers or answers[n] is not None)]
        problem = next((error for n, error in answers.items() if error is not None and n not in lost), None)
        return left, _in_words(problem), len(lost)


def _in_words(error: KafkaError | None) -> str:
    if error is None:
        return "no broker confirms it in time"
    if error.code() == KafkaError.TOPIC_AUTHORIZATION_FAILED:
        return "the connection's Kafka user may not: grant it Write on the topic"
    return str(error.str())
