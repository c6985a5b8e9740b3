"""What can go wrong between the operator and Kafka.

    SlackwaterError
    └── KafkaFailed
        ├── KafkaUnreachable    no answer in time, or none that can be used now: ask again later
        │   └── AnswerTooLong   longer than what is read of any answer: ask for less
        └── KafkaRefused        an answer, and it is no: asking again changes nothing until somebody acts
            └── ApiMissing      the broker does not know this kind of request

The reader turns them into `Unobserved`; admin calls raise them. `Failure` is the same as a value, for one group or
partition among many in an answer.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

from slackwater.api.errors import SlackwaterError
from slackwater.core.decision.reasons import Reason


@dataclass(frozen=True, slots=True)
class Failure:
    """Why something could not be read, and whether its coordinator has to be looked up again."""

    reason: Reason
    message: str
    coordinator_moved: bool = False


@dataclass(frozen=True, slots=True)
class NoRoom(Failure):
    """The groups of its namespace have too much together. There may be room at the next look."""


class KafkaFailed(SlackwaterError):
    """Kafka did not do what it was asked; `reason` is a condition's reason."""

    def __init__(self, message: str, reason: Reason) -> None:
        self.reason = reason
        super().__init__(message)

    @property
    def failure(self) -> Failure:
        return Failure(self.reason, str(self))


class KafkaUnreachable(KafkaFailed):
    """Kafka did not answer, or its answer cannot be used now."""

    def __init__(self, message: str, reason: Reason = Reason.KAFKA_UNREACHABLE) -> None:
        super().__init__(message, reason)


class KafkaRefused(KafkaFailed):
    """Kafka answered with a refusal that only a person can lift."""

    def __init__(self, message: str, reason: Reason = Reason.CONNECTION_INVALID) -> None:
        super().__init__(message, reason)


class ApiMissing(KafkaRefused):
    """The broker does not know this kind of request, or none of the versions that we speak."""


class AnswerTooLong(KafkaUnreachable):
    """The broker's answer is longer than what is read of any, or has more of something: ask it for less."""

    def __init__(self, message: str) -> None:
        super().__init__(message, Reason.ANSWER_TOO_LONG)


class Code(IntEnum):
    """Kafka's error codes, as far as they mean something of their own here."""

    NONE = 0
    UNKNOWN_TOPIC_OR_PARTITION = 3
    LEADER_NOT_AVAILABLE = 5
    NOT_LEADER = 6
    COORDINATOR_LOAD_IN_PROGRESS = 14
    COORDINATOR_NOT_AVAILABLE = 15
    NOT_COORDINATOR = 16
    INVALID_TOPIC = 17
    UNKNOWN_MEMBER_ID = 25
    TOPIC_AUTHORIZATION_FAILED = 29
    GROUP_AUTHORIZATION_FAILED = 30
    CLUSTER_AUTHORIZATION_FAILED = 31
    UNSUPPORTED_VERSION = 35
    INVALID_CONFIG = 40
    INVALID_REQUEST = 42
    POLICY_VIOLATION = 44
    NON_EMPTY_GROUP = 68
    GROUP_ID_NOT_FOUND = 69
    FENCED_INSTANCE_ID = 82


def group_failure(group_id: str, code: int) -> Failure:
    """Say what a coordinator's error code means for a group."""
    name = f"group {group_id}"
    match code:
        case Code.COORDINATOR_LOAD_IN_PROGRESS:
            message = f"the coordinator of {name} is still loading it; this passes by itself"
            return Failure(Reason.COORDINATOR_UNAVAILABLE, message)
        case Code.COORDINATOR_NOT_AVAILABLE:
            message = f"no broker coordinates {name} now: its partition of __consumer_offsets has no leader"
            return Failure(Reason.COORDINATOR_UNAVAILABLE, message, coordinator_moved=True)
        case Code.NOT_COORDINATOR:
            message = f"the coordinator of {name} has moved to another broker; this passes by itself"
            return Failure(Reason.COORDINATOR_UNAVAILABLE, message, coordinator_moved=True)
        case Code.GROUP_AUTHORIZATION_FAILED:
            message = f"the connection's Kafka user may not describe {name}: grant it Describe on the group"
            return Failure(Reason.NOT_AUTHORIZED, message)
        case Code.TOPIC_AUTHORIZATION_FAILED:
            message = f"the connection's Kafka user may not describe a topic that {name} reads: grant it Describe on it"
            return Failure(Reason.NOT_AUTHORIZED, message)
    return Failure(Reason.OBSERVATION_INCOMPLETE, f"Kafka answered for {name} with error code {code}")


def topic_failure(topic: str, code: int) -> Failure:
    """Say what an error code means for a topic."""
    match code:
        case Code.UNKNOWN_TOPIC_OR_PARTITION | Code.INVALID_TOPIC:
            message = f"topic {topic} does not exist: create it, or correct spec.topics"
            return Failure(Reason.TOPIC_MISSING, message)
        case Code.TOPIC_AUTHORIZATION_FAILED:
            message = f"the connection's Kafka user may not describe topic {topic}: grant it Describe on the topic"
            return Failure(Reason.NOT_AUTHORIZED, message)
        case Code.LEADER_NOT_AVAILABLE | Code.NOT_LEADER:
            return Failure(Reason.OBSERVATION_INCOMPLETE, f"a partition of topic {topic} has no leader now")
    return Failure(Reason.OBSERVATION_INCOMPLETE, f"Kafka answered for topic {topic} with error code {code}")


def unanswered(what: str) -> Failure:
    """An answer that left out something asked for: a partial observation is none."""
    return Failure(Reason.OBSERVATION_INCOMPLETE, f"Kafka's answer left out {what}")
