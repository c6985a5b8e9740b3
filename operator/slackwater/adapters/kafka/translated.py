"""What kafka-python's errors mean, for people; in the same words each time, since a changed sentence counts as a
change of the group.

Of a frame that is too long kafka-python says that the connection is lost.
"""

from __future__ import annotations

import re
from typing import Final

import kafka.errors as kafka_errors

from slackwater.adapters.kafka.counted import TooMuch
from slackwater.adapters.kafka.errors import AnswerTooLong, ApiMissing, KafkaFailed, KafkaRefused, KafkaUnreachable
from slackwater.adapters.kafka.scram import WeakLogIn
from slackwater.core.decision.words import shown

TIMED_OUT: Final = (kafka_errors.RequestTimedOutError, kafka_errors.KafkaTimeoutError)
_LOG_IN: Final = (kafka_errors.SaslAuthenticationFailedError, kafka_errors.UnsupportedSaslMechanismError, WeakLogIn)
_LENGTH: Final = re.compile(r"Invalid frame length: (-?\d+)")
_OTHERS: Final = {
    re.compile(
        rf"{_LENGTH.pattern}|Correlation IDs do not match|No in-flight-request found"
    ): "does not speak Kafka's protocol: is it a broker, or does it want tls?",
    re.compile(r"Unable to decode response"): "answers with what is not Kafka's protocol",
}
"""Numbers in the first sentences are letters of whoever listens there, and letters are not repeated."""
LONGEST_CAUSE: Final = 1_000
"""Characters. It is kept for each group of a connection."""
_NO_LENGTH: Final = 2**29
"""Four letters, taken for a length, are more than this."""


def is_too_long(error: BaseException) -> bool:
    """An answer that a broker began, longer than is read: another broker's would be as long."""
    length = _LENGTH.search(_cause(error))
    return isinstance(error, TooMuch) or (length is not None and 0 <= int(length[1]) < _NO_LENGTH)


def as_exception(error: BaseException) -> Exception:
    """What kafka-python abandons as it closes it ends by GeneratorExit, which would end whoever waits."""
    return error if isinstance(error, Exception) else kafka_errors.KafkaConnectionError("the connection was closed")


def translated(error: BaseException, where: str, others: str) -> KafkaFailed:
    """`others`: what to add where nobody answered."""
    if isinstance(error, _LOG_IN):
        refused = "refused the credentials: check the connection's authentication and its Secret"
        cause = _cause(error)
        return KafkaRefused(f"{where} {cause}" if isinstance(error, WeakLogIn) else f"{where} {refused} ({cause})")
    if isinstance(error, (kafka_errors.IncompatibleBrokerVersion, kafka_errors.UnsupportedVersionError)):
        return ApiMissing(f"{where} is too old for what slackwater asks: {_cause(error)}")
    if isinstance(error, kafka_errors.UnknownBrokerIdError):
        return KafkaUnreachable(f"{where} is not part of the cluster now")
    cause = _cause(error)
    if isinstance(error, TooMuch):
        return AnswerTooLong(f"{where} answers with {cause}")
    if is_too_long(error):
        return AnswerTooLong(f"{where} answers with more bytes than are read of one answer")
    if why := next((why for sign, why in _OTHERS.items() if sign.search(cause)), ""):
        return KafkaUnreachable(f"{where} {why}")
    if "CERTIFICATE" in cause or "certificate" in cause:
        return KafkaRefused(f"{where} cannot be trusted: check the connection's tls and its Secrets ({cause})")
    return KafkaUnreachable(f"{where} cannot be reached: {cause}{others}")


def _cause(error: BaseException) -> str:
    """What kafka-python says, without its class's name; it may repeat what a broker said."""
    return shown(str(error.args[0]), LONGEST_CAUSE) if error.args else type(error).__name__
