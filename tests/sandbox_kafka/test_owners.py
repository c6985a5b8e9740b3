"""A partition has moved when another member gets it than had it last, whatever the protocol (F4, F6)."""

from __future__ import annotations

import struct

from sandbox.workload.group_records import Kind, Record
from sandbox.workload.owners import Assignment, assignments, count_moves
from tests.sandbox_kafka.test_generations import EMPTY_CLASSIC, STABLE_CLASSIC

# Read from a 4.3 broker: a KIP-848 member with an instance id, and its part of the target assignment.
MEMBER = bytes.fromhex("00000672646b2d32000872646b61666b610d2f31302e3230332e312e3235020472646b01000493e00001000100")
TARGET = bytes.fromhex(
    "0000021359aa8b1e0f473faeabcafff05d0f4d0900000010000000110000001200000013000000140000001500000016000000170000"
)


def record(kind: Kind, value: bytes | None, at_ms: int = 1, member: str = "") -> Record:
    return Record(kind, "payments", member, value, at_ms)


def member(instance: str, member_id: str) -> Record:
    """A member with an instance id or, if that is empty, without."""
    return record(Kind.CONSUMER_MEMBER, b"\x00\x00" + bytes([len(instance) + 1]) + instance.encode(), member=member_id)


def target(member_id: str, *partitions: int) -> Record:
    numbers = b"".join(struct.pack(">i", number) for number in partitions)
    value = b"\x00\x00\x02" + bytes(16) + bytes([len(partitions) + 1]) + numbers + b"\x00\x00"
    return record(Kind.TARGET_ASSIGNMENT_OF_MEMBER, value, member=member_id)


def assigned(at_ms: int = 1) -> Record:
    return record(Kind.TARGET_ASSIGNMENT, b"\x00\x00\x00\x00\x00\x01\x00", at_ms)


def test_a_classic_group_notes_its_assignment_with_its_generation() -> None:
    records = [record(Kind.CLASSIC_GROUP, EMPTY_CLASSIC, 1), record(Kind.CLASSIC_GROUP, STABLE_CLASSIC, 2)]
    history = assignments(records, "payments")
    assert history == [Assignment(1, {}), Assignment(2, {0: "payments-0", 1: "payments-0"})]


def test_a_kip_848_member_is_its_instance_id() -> None:
    id_of = "1iGk3ZFjQTGpNZEe9jM6Jw"
    parts = [record(Kind.CONSUMER_MEMBER, MEMBER, member=id_of)]
    parts += [record(Kind.TARGET_ASSIGNMENT_OF_MEMBER, TARGET, member=id_of), assigned(7)]
    assert assignments(parts, "payments") == [Assignment(7, dict.fromkeys(range(16, 24), "rdk-2"))]


def test_a_static_member_that_is_replaced_keeps_its_partitions() -> None:
    gone = record(Kind.TARGET_ASSIGNMENT_OF_MEMBER, None, member="first")
    records = [member("a-0", "first"), target("first", 0, 1), assigned()]
    records += [gone, member("a-0", "second"), target("second", 0, 1), assigned()]
    assert count_moves(assignments(records, "payments"), 0, 9) == 0


def test_a_dynamic_member_that_is_replaced_does_not() -> None:
    gone = record(Kind.TARGET_ASSIGNMENT_OF_MEMBER, None, member="first")
    records = [member("", "first"), target("first", 0, 1), assigned()]
    records += [gone, member("", "second"), target("second", 0, 1), assigned()]
    assert count_moves(assignments(records, "payments"), 0, 9) == 2


def test_going_from_one_protocol_to_the_other_is_no_move_by_itself() -> None:
    records = [record(Kind.CLASSIC_GROUP, STABLE_CLASSIC), record(Kind.CLASSIC_GROUP, None)]
    records += [member("payments-0", "new"), target("new", 0, 1), assigned()]
    assert count_moves(assignments(records, "payments"), 0, 9) == 0


def test_a_partition_that_nobody_had_for_a_while_moves_when_another_gets_it() -> None:
    back, on = {0: "a", 1: "a"}, {0: "a", 1: "b"}
    revoked = {0: "a"}
    assert count_moves([Assignment(1, back), Assignment(2, revoked), Assignment(3, back)], 0, 9) == 0
    assert count_moves([Assignment(1, back), Assignment(2, revoked), Assignment(3, on)], 0, 9) == 1


def test_only_moves_within_the_span_count() -> None:
    history = [Assignment(at_ms, {0: "ab"[at_ms % 2]}) for at_ms in range(6)]
    assert count_moves(history, 2, 3) == 2


def test_other_groups_do_not_count() -> None:
    assert assignments([record(Kind.CLASSIC_GROUP, STABLE_CLASSIC)], "refunds") == []
