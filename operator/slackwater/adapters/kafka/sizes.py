"""How much of what brokers say is looked at: anybody may be a broker, or a member of a group, and the memory and the
event loop are everybody's.

What has more is a failure like any other, and says so; nothing is decided on a part.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Any, Final

from slackwater.adapters.kafka.errors import Failure, KafkaUnreachable
from slackwater.core.decision.reasons import Reason

_MOST_ROWS: Final = 50_000
"""Of which each is five objects. A coordinator lists as many groups; what has more is asked for in parts."""
LONGEST_NAME: Final = 255
"""Characters of a cluster's id, which brokers make of 22, and of a host's name, which has no more in the DNS. Both are
kept for as long as the connection is, and the id is in statuses and events."""
_VALUES_OF_A_ROW: Final = 10
"""A partition names each of its replicas twice."""


@dataclass(frozen=True, slots=True)
class Limits:
    """A fleet of a thousand members with a thousand partitions has less of each by far."""

    answer_bytes: int = 4_000_000
    """kafka-python's network layer stops at 1 MB, which the description of a large fleet exceeds. Decoded, an answer
    takes twenty times as much memory."""
    partitions: int = 10_000
    """Of one group: of its topics together, and of its members. Each that is looked at is kept, with its offsets: a
    kilobyte. Whoever runs the operator may have it look at more."""
    members: int = 2_000
    per_namespace: int = 300_000
    """Partitions and members of all its groups together."""
    brokers: int = 256
    """Of one cluster: there is a connection to each."""

    @classmethod
    def of(cls, *, answer_megabytes: int, partitions: int, per_namespace: int) -> Limits:
        """As whoever runs the operator has it: a fifth as many members as partitions."""
        return cls(answer_megabytes * 1_000_000, partitions, partitions // 5, per_namespace)

    @property
    def rows(self) -> int:
        """Groups, members, topics, partitions, brokers and the like, of one answer together."""
        return max(_MOST_ROWS, self.partitions + self.members + self.brokers)

    @property
    def values(self) -> int:
        """Numbers and names that are listed in the rows of one answer, as the replicas of each partition."""
        return _VALUES_OF_A_ROW * self.rows


USUAL: Final = Limits()


def too_much(what: str, number: int, most: int, unit: str) -> Failure:
    return Failure(Reason.ANSWER_TOO_LONG, f"{what} has {number:,} {unit}, and slackwater looks at {most:,} at most")


def refuse_a_crowd(name: str, brokers: int, limits: Limits) -> None:
    """Raises KafkaUnreachable where there are more than are looked at."""
    if brokers > limits.brokers:
        failure = too_much(name, brokers, limits.brokers, "brokers")
        raise KafkaUnreachable(failure.message, failure.reason)


def refuse_long_names(name: str, metadata: Any) -> None:
    """Raises KafkaUnreachable where a MetadataResponse names a cluster or a host by more than is looked at."""
    hosts = ((f"the host of broker {each.node_id} of {name}", each.host) for each in metadata.brokers)
    for what, text in ((f"the cluster's id of {name}", metadata.cluster_id), *hosts):
        if len(text or "") > LONGEST_NAME:
            failure = too_much(what, len(text), LONGEST_NAME, "characters")
            raise KafkaUnreachable(failure.message, failure.reason)


def partitions_in(assignment: bytes) -> int:
    """How many partitions a ConsumerProtocolAssignment names; the numbers are passed over. Raises ValueError.

    A member has none of its own while its group rebalances.
    """
    if not assignment:
        return 0
    try:
        (topics,) = struct.unpack_from(">i", assignment, 2)
        at, number = 6, 0
        for _ in range(topics):
            (length,) = struct.unpack_from(">h", assignment, at)
            (count,) = struct.unpack_from(">i", assignment, at + 2 + length)
            if length < 0 or count < 0:
                raise ValueError("a length is negative")
            at, number = at + 6 + length + 4 * count, number + count
    except struct.error as error:
        raise ValueError("it is cut short") from error
    return number


def overcrowded(name: str, members: int, limits: Limits) -> Failure | None:
    """Why so many members are not looked at."""
    return too_much(name, members, limits.members, "members") if members > limits.members else None


def crowded(name: str, partitions: int, limits: Limits) -> Failure | None:
    """Why so many partitions are not looked at."""
    return too_much(name, partitions, limits.partitions, "partitions") if partitions > limits.partitions else None


def named_in(assignment: Any) -> int:
    """How many partitions an Assignment of ConsumerGroupDescribe names."""
    return sum(len(owned.partitions) for owned in assignment.topic_partitions)
