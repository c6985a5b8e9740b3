"""Takes the bytes of one connection apart into answers, in place of kafka-python's parser, which decodes all that comes
and sets aside as much memory as a broker says that it is going to send."""

from __future__ import annotations

from io import BytesIO
from threading import Lock
from typing import Any, Final

from kafka.errors import InvalidReceiveError, KafkaError, KafkaProtocolError
from kafka.protocol.metadata import ApiVersionsRequest
from kafka.protocol.sasl import SaslAuthenticateRequest, SaslHandshakeRequest

from slackwater.adapters.kafka.apart import in_turn
from slackwater.adapters.kafka.counted import TooMuch, counted
from slackwater.adapters.kafka.sizes import Limits

LARGE: Final = 256 * 1024
"""Bytes. So many are decoded as soon as they are there, to see if the numbers in them forbid to read the rest."""
QUICK: Final = 16 * 1024
"""Bytes that are decoded in two milliseconds; what has more is decoded one at a time, of whatever connections."""
SHORT_BYTES: Final = 64 * 1024
"""Of what is said before anything is asked, by whoever takes the connection. A real one has a hundredth of it."""
_RAW: Final = SaslAuthenticateRequest.API_KEY
"""What brokers from before Kafka 1.0 answer to a log-in has no key of its own."""
_SHORT: Final = frozenset({ApiVersionsRequest.API_KEY, SaslHandshakeRequest.API_KEY, _RAW})
_HEADER: Final = 4


class Answers:
    """Of one connection, for its network thread."""

    def __init__(self, parser: Any, limits: Limits, most_bytes: int, turn: Lock | None = None) -> None:
        """`turn`: what those share that wait for each other."""
        self._parser = parser
        self._limits = limits
        self._most_bytes = most_bytes
        self._turn = turn
        self._held = bytearray()
        self._looked_at = False
        """Whether the beginning of a large answer was."""

    def receive(self, data: bytes) -> list[tuple[int, Any]]:
        """Return the answers that are complete, by correlation id. Raises KafkaProtocolError."""
        self._held += data
        answers = []
        while (length := self._length()) is not None:
            end = _HEADER + length
            if len(self._held) < end:
                self._look(length)
                break
            frame = bytes(self._held[_HEADER:end])
            del self._held[:end]
            self._looked_at = False
            answers.append(self._answer(frame))
        return answers

    def _length(self) -> int | None:
        """Of the next answer, None while it is not known. Raises InvalidReceiveError for more than is read."""
        if len(self._held) < _HEADER:
            return None
        length = int.from_bytes(self._held[:_HEADER], signed=True)
        if not 0 <= length <= self._most():
            raise InvalidReceiveError(f"Invalid frame length: {length}")
        return length

    def _most(self) -> int:
        waits = self._parser.in_flight_requests
        if waits and getattr(waits[0], "request_api_key", _RAW) in _SHORT:
            return min(self._most_bytes, SHORT_BYTES)
        return self._most_bytes

    def _look(self, length: int) -> None:
        """At the beginning of a large answer, once. Raises TooMuch."""
        waits = self._parser.in_flight_requests
        if self._looked_at or length <= LARGE or len(self._held) < LARGE or not waits:
            return
        self._looked_at = True
        kind = waits[0].get_response_class()
        beginning = BytesIO(self._held[_HEADER:])
        try:
            with in_turn(self._turn), counted(self._limits):
                kind.parse_header(beginning)
                kind.decode(beginning)
        except TooMuch:
            raise
        except Exception:  # noqa: BLE001 - as what is cut short fails
            return

    def _answer(self, frame: bytes) -> tuple[int, Any]:
        if len(frame) <= QUICK:
            return self._decoded(frame)
        with in_turn(self._turn):
            return self._decoded(frame)

    def _decoded(self, frame: bytes) -> tuple[int, Any]:
        waits = self._parser.in_flight_requests
        asked = waits[0] if waits else None
        try:
            with counted(self._limits):
                answer: tuple[int, Any] = self._parser._process_response(BytesIO(frame))  # noqa: SLF001
        except TooMuch:
            waits.appendleft(asked)  # whose answer it is
            raise
        except KafkaError:
            raise
        except Exception as error:  # which would end the reading, and the answers with it, without a word
            raise KafkaProtocolError("Unable to decode response") from error
        return answer
