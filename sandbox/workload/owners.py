"""How many partitions went to another member, by the assignments that brokers note in `__consumer_offsets` (F17).

For groups that read one topic. A member is its instance id, if it has one: a pod that comes back under the same one
takes its partitions up again, and nothing has moved. A classic group's assignment is noted with each generation; for a
KIP-848 group the target is taken, which is what its coordinator has decided on and then has its members carry out.
A partition that nobody owns for a while, as in the first half of a cooperative rebalance, moves when another member
gets it than had it last.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from sandbox.workload.group_records import Kind, Record
from sandbox.workload.wire import Cursor

_UUID = 16
_FLEXIBLE_SINCE = 4
"""Since this version a classic group's value is in the compact encoding (KIP-482)."""
_INSTANCE_ID_SINCE, _REBALANCE_TIMEOUT_SINCE, _TIMESTAMP_SINCE = 3, 1, 2


@dataclass(frozen=True, slots=True)
class Assignment:
    """Who was to have which partition from `at_ms` (unix milliseconds) on; `owners` lacks those that nobody has."""

    at_ms: int
    owners: Mapping[int, str]


def assignments(records: Iterable[Record], group: str) -> list[Assignment]:
    """Every assignment of `group` in turn, those that change nothing as well. Raises struct.error on a broken value."""
    found: list[Assignment] = []
    instances: dict[str, str] = {}
    targets: dict[str, list[int]] = {}
    for record in records:
        if record.group != group:
            continue
        if record.kind is Kind.CLASSIC_GROUP and record.value is not None:
            found.append(Assignment(record.at_ms, _classic_owners(record.value)))
        elif record.kind is Kind.CONSUMER_MEMBER and record.value is not None:
            instances[record.member] = _instance_id(record.value) or record.member
        elif record.kind is Kind.TARGET_ASSIGNMENT_OF_MEMBER:
            targets.pop(record.member, None)
            if record.value is not None:
                targets[record.member] = _target_partitions(record.value)
        elif record.kind is Kind.TARGET_ASSIGNMENT and record.value is not None:
            owners = {number: instances.get(member, member) for member, owned in targets.items() for number in owned}
            found.append(Assignment(record.at_ms, owners))
    return found


def count_moves(history: Iterable[Assignment], start_ms: int, end_ms: int) -> int:
    """How many times a partition went to another owner than it had last, from `start_ms` to `end_ms`."""
    moves = 0
    last: dict[int, str] = {}
    for assignment in history:
        if start_ms <= assignment.at_ms <= end_ms:
            moves += sum(last.get(number, owner) != owner for number, owner in assignment.owners.items())
        last |= assignment.owners
    return moves


def _classic_owners(value: bytes) -> dict[int, str]:
    fields = Cursor(value)
    version = fields.int16()
    fields.compact = version >= _FLEXIBLE_SINCE
    fields.string()  # the protocol's type
    fields.int32()  # the generation
    fields.string()  # the assignor
    fields.string()  # the leader
    if version >= _TIMESTAMP_SINCE:
        fields.int64()
    owners: dict[int, str] = {}
    for _ in range(fields.count()):
        member, owned = _classic_member(fields, version)
        owners |= dict.fromkeys(owned, member)
    return owners


def _classic_member(fields: Cursor, version: int) -> tuple[str, list[int]]:
    member = fields.string() or ""
    instance = fields.string() if version >= _INSTANCE_ID_SINCE else None
    fields.string()  # the client's id
    fields.string()  # its host
    if version >= _REBALANCE_TIMEOUT_SINCE:
        fields.int32()
    fields.int32()  # the session timeout
    fields.blob()  # the subscription
    owned = _assigned(fields.blob())
    fields.tags()
    return instance or member, owned


def _assigned(assignment: bytes) -> list[int]:
    """The partitions in an assignment as the group's leader has written it; empty before there is one."""
    if not assignment:
        return []
    fields = Cursor(assignment)
    fields.int16()
    owned: list[int] = []
    for _ in range(fields.count()):
        fields.string()  # the topic
        owned += fields.int32s()
    return owned


def _instance_id(value: bytes) -> str | None:
    fields = Cursor(value, compact=True)
    fields.int16()
    return fields.string()


def _target_partitions(value: bytes) -> list[int]:
    fields = Cursor(value, compact=True)
    fields.int16()
    owned: list[int] = []
    for _ in range(fields.count()):
        fields.skip(_UUID)  # the topic
        owned += fields.int32s()
        fields.tags()
    return owned
