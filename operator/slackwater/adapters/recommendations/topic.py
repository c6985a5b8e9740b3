"""Recommendations from a compacted topic, read from its beginning and then followed.

The consumer joins no group: every operator reads all of it, and commits nothing. It is opened again after each failure,
with settings read again: a Secret may have changed.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any, Final, NoReturn

import structlog
from confluent_kafka import OFFSET_BEGINNING, Consumer, KafkaError, KafkaException, Message, TopicPartition

from slackwater.adapters.recommendations.reading import OnAdvice, Reader
from slackwater.adapters.turns import Turns

POLL_S: Final = 1.0
AGAIN_S: Final = 30.0
METADATA_DEADLINE_S: Final = 10.0
_LARGEST_FETCH: Final = 4 * 1024 * 1024
"""Bytes: a recommendation has some thousand, and librdkafka takes a hundred million."""
_LARGEST_ANSWER: Final = _LARGEST_FETCH + 1024 * 1024
OF_A_TURN: Final = 64 * 1024
"""Bytes of messages that are read before others have their turn: some milliseconds."""
OF_A_MESSAGE: Final = 1024
"""What each takes besides, a line in the log perhaps, in bytes."""
REST: Final = 4
"""For so many times as long as reading took, nothing is read: whoever may write the topic has a fifth of a processor,
and ten thousand groups are read within seconds."""

ReadSettings = Callable[[], Awaitable[Mapping[str, str]]]
"""confluent-kafka's, with credentials. Raises SlackwaterError when there are none to be used now."""

_log = structlog.get_logger(__name__)


class TopicSource:
    def __init__(
        self,
        read_settings: ReadSettings,
        topic: str,
        on_advice: OnAdvice,
        reader: Reader,
        *,
        again_s: float = AGAIN_S,
        clock: Callable[[], float] = time.thread_time,
    ) -> None:
        """`clock`: by which work is counted."""
        self._read_settings = read_settings
        self._topic = topic
        self._on_advice = on_advice
        self._reader = reader
        self._again_s = again_s
        self._clock = clock
        self._told = ""
        self._refused: KafkaError | None = None

    async def run(self) -> NoReturn:
        """For ever; what Kafka does not allow or have is said in the log, and tried again.

        Raises what `read_settings` raises.
        """
        while True:
            try:
                await self._follow()
            except KafkaException as error:
                self._tell(error)
                await asyncio.sleep(self._again_s)

    async def _follow(self) -> None:
        settings = await self._read_settings()
        self._refused = None
        consumer = await asyncio.to_thread(self._open, settings)
        try:
            while True:
                await asyncio.sleep(REST * await self._take_all(await _consumed(consumer)))
                if self._refused is not None:
                    raise KafkaException(self._refused)
        finally:
            await asyncio.shield(asyncio.to_thread(consumer.close))

    def _open(self, settings: Mapping[str, str]) -> Consumer:
        """Raises KafkaException when the topic cannot be read."""
        own: dict[str, Any] = {
            "group.id": "slackwater-recommendations",
            "enable.auto.commit": False,
            "auto.offset.reset": "earliest",
            "error_cb": self._note_refusal,
            "receive.message.max.bytes": _LARGEST_ANSWER,
            "fetch.max.bytes": _LARGEST_FETCH,
            "max.partition.fetch.bytes": _LARGEST_FETCH,
            "queued.max.messages.kbytes": _LARGEST_FETCH // 1024,
        }
        consumer = Consumer({**settings, **own})
        try:
            partitions = _partitions(consumer, self._topic)
            consumer.assign([TopicPartition(self._topic, p, OFFSET_BEGINNING) for p in partitions])
        except BaseException:
            consumer.close()
            raise
        return consumer

    def _note_refusal(self, error: KafkaError) -> None:
        """By itself the client would try for ever with the credentials that it has."""
        if error.code() == KafkaError._AUTHENTICATION:  # noqa: SLF001 - librdkafka's own codes have no public name
            self._refused = error

    async def _take_all(self, messages: Iterable[Message]) -> float:
        """Returns for how many seconds it worked."""
        worked_s, turns = 0.0, Turns(OF_A_TURN)
        for message in messages:
            began = self._clock()
            self._take(message)
            worked_s += self._clock() - began
            await turns.after(OF_A_MESSAGE + len(message.value() or b""))
        return worked_s

    def _take(self, message: Message) -> None:
        error = message.error()
        if error is not None:
            if error.code() == KafkaError.GROUP_AUTHORIZATION_FAILED:
                return  # librdkafka asks who coordinates the group that it never joins
            if error.retriable() or (not error.fatal() and error.code() < 0):
                self._tell(KafkaException(error))
                return  # the client's own affairs, such as a lost connection: it goes on trying by itself
            raise KafkaException(error)
        key, value = message.key(), message.value()
        if value is None:
            namespace, _, name = (key or b"").decode(errors="replace").partition("/")
            self._on_advice(namespace, name, None)
            return
        where = f"{self._topic}-{message.partition()} at offset {message.offset()}"
        if (read := self._reader.read(value, where)) is not None:
            self._on_advice(read.namespace, read.name, read.advice)

    def _tell(self, error: KafkaException) -> None:
        problem = self._in_words(error)
        if problem != self._told:
            self._told = problem
            _log.warning("recommendations_unreadable", topic=self._topic, error=problem)

    def _in_words(self, error: KafkaException) -> str:
        if error.args[0].code() == KafkaError.TOPIC_AUTHORIZATION_FAILED:
            return f"the connection's Kafka user may not read topic {self._topic}: grant it Read on the topic"
        return str(error)


async def _consumed(consumer: Consumer) -> list[Message]:
    """Also when cancelled the thread is waited for, up to POLL_S: its consumer must not be closed under it."""
    consuming = asyncio.ensure_future(asyncio.to_thread(consumer.consume, 500, POLL_S))
    try:
        return await asyncio.shield(consuming)
    except asyncio.CancelledError:
        await asyncio.wait([consuming])
        raise


def _partitions(consumer: Consumer, topic: str) -> Iterable[int]:
    """Raises KafkaException when there is no such topic, or it may not be read."""
    found = consumer.list_topics(topic, timeout=METADATA_DEADLINE_S).topics[topic]
    if found.error is not None:
        raise KafkaException(found.error)
    return tuple(found.partitions)
