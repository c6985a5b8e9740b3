"""How often a group rebalanced: its generations (classic) or epochs (KIP-848) in `__consumer_offsets` (F17).

A KIP-848 group gets another epoch whenever somebody joins, leaves for good, or wants other topics: each is counted,
whether or not a partition moved (`owners` tells that). A group that is taken from one protocol to the other keeps its
number and counts on from there.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from sandbox.workload import group_records
from sandbox.workload.group_records import Kind, Record

# Since this version of the classic group's value, strings have a variable-length prefix (KIP-482).
_FLEXIBLE_SINCE = 4


@dataclass(frozen=True, slots=True)
class Generation:
    """A group was in `number`, its generation or epoch, from `at_ms` (unix milliseconds) on."""

    group: str
    number: int
    at_ms: int


def generation(record: Record) -> Generation | None:
    """The generation that a record tells of; None for one about a member, and for a group's deletion.

    Raises struct.error when the value is shorter than its version says.
    """
    value = record.value
    if value is None or record.kind not in (Kind.CLASSIC_GROUP, Kind.CONSUMER_GROUP):
        return None
    # Both values begin with their own version. A KIP-848 group's epoch follows at once, a classic group's generation
    # after the protocol type ("consumer").
    at = 2 if record.kind is Kind.CONSUMER_GROUP else _after_protocol_type(value)
    (number,) = struct.unpack_from(">i", value, at)
    return Generation(record.group, number, record.at_ms)


def _after_protocol_type(value: bytes) -> int:
    (version,) = struct.unpack_from(">h", value)
    if version >= _FLEXIBLE_SINCE:
        return 3 + value[2] - 1  # the length plus one, in one byte: the type is shorter than 127
    length: int = struct.unpack_from(">h", value, 2)[0]
    return 4 + length


def count_rebalances(generations: Iterable[Generation], group: str, start_ms: int, end_ms: int) -> int:
    """How many times `group` went on to another generation from `start_ms` to `end_ms`.

    Compaction may have dropped records in between: it is the numbers' growth that counts. A group of which nothing is
    known before, or whose number went down because it was deleted and made again, has rebalanced once when it is first
    seen with members; until then a classic group is at generation 0.
    """
    rebalances = 0
    before: int | None = None
    for each in sorted((each for each in generations if each.group == group), key=lambda each: each.at_ms):
        if start_ms <= each.at_ms <= end_ms:
            if before is None or each.number < before:
                rebalances += min(each.number, 1)
            else:
                rebalances += each.number - before
        before = each.number
    return rebalances


def read(connection: Mapping[str, object], group: str) -> list[Generation]:
    """Every generation of the group that the brokers still hold, up to this call; as `group_records.read`."""
    return generations(group_records.read(connection, group))


def generations(records: Iterable[Record]) -> list[Generation]:
    """The generations that the records tell of, in the same order."""
    decoded = (generation(record) for record in records)
    return [each for each in decoded if each is not None]
