"""How much of what brokers say is looked at: anybody may be a broker, or a member of a group, and the memory and the
event loop are everybody's.

What has more is a failure like any other, and says so; nothing is decided on a part.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable
from typing import Any, Final

from slackwater.adapters.kafka.errors import Failure
from slackwater.core.decision.reasons import Reason

MOST_PARTITIONS: Final = 50_000
"""Of one group: of its topics together, and of its members."""
MOST_MEMBERS: Final = 10_000
MOST_BROKERS: Final = 256
"""Of one cluster: there is a connection to each."""
LARGEST_ASSIGNMENTS: Final = 4 * 1024 * 1024
"""Bytes, of a classic group's members together. A coordinator writes a group into one record, which has 1 MB where the
brokers have nothing else set."""


def too_much(what: str, number: int, most: int, unit: str) -> Failure:
    return Failure(Reason.ANSWER_TOO_LONG, f"{what} has {number:,} {unit}, and slackwater looks at {most:,} at most")


def partitions_in(assignment: bytes) -> int:
    """How many partitions a ConsumerProtocolAssignment names; the numbers are passed over. Raises ValueError."""
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


def outgrown(group_id: str, assignments: Iterable[bytes], members: int) -> Failure | None:
    """Why a classic group is not looked at; None where it can be. Raises ValueError for what is no assignment."""
    name = f"group {group_id}"
    if members > MOST_MEMBERS:
        return too_much(name, members, MOST_MEMBERS, "members")
    there = [each for each in assignments if each]
    if (size := sum(map(len, there))) > LARGEST_ASSIGNMENTS:
        return too_much(f"the assignment of {name}", size, LARGEST_ASSIGNMENTS, "bytes")
    return crowded(name, sum(map(partitions_in, there)))


def crowded(name: str, partitions: int) -> Failure | None:
    """Why so many partitions are not looked at."""
    return too_much(name, partitions, MOST_PARTITIONS, "partitions") if partitions > MOST_PARTITIONS else None


def named_in(assignment: Any) -> int:
    """How many partitions an Assignment of ConsumerGroupDescribe names."""
    return sum(len(owned.partitions) for owned in assignment.topic_partitions)
