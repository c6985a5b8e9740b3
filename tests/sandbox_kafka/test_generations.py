"""Rebalances are counted from `__consumer_offsets`; the records below were read from a 4.3 broker."""

from __future__ import annotations

import pytest

from sandbox.workload.generations import Generation, count_rebalances, generation
from sandbox.workload.group_records import parse, partition_of

PAYMENTS = bytes.fromhex("000200087061796d656e7473")
REFUNDS = bytes.fromhex("00030007726566756e6473")

# A classic group's first record: no members, no protocol type.
EMPTY_CLASSIC = bytes.fromhex("0003000000000000ffffffff000001a1ffa3818800000000")
# One static member with the assignor `range`.
STABLE_CLASSIC = bytes.fromhex(
    "00030008636f6e73756d657200000001000572616e6765002f7061796d656e74732d302d34626432336333372d653561632d34336464"
    "2d383231372d633638663362393538343038000001a1ffa3838200000001002f7061796d656e74732d302d34626432336333372d6535"
    "61632d343364642d383231372d633638663362393538343038000a7061796d656e74732d30000772646b61666b61000b2f31302e3230"
    "332e302e32000493e00000afc80000001c00030000000100066f72646572730000000000000000ffffffff00000000001e0000000000"
    "0100066f726465727300000002000000000000000100000000"
)
# The layout that version 4 of the value brings: lengths in one byte, one more than they are.
FLEXIBLE_CLASSIC = bytes.fromhex("000409") + b"consumer" + bytes.fromhex("00000007") + b"\x00"
JOINED_CONSUMER = bytes.fromhex("000000000002010008b57ed3683cf51b87")
LEFT_CONSUMER = bytes.fromhex("00000000000300")

COMMITTED_OFFSET = bytes.fromhex("000100087061796d656e747300066f726465727300000000")
CONSUMER_MEMBER = bytes.fromhex("00050007726566756e647300166f4b642f6b734372546f53412b446c4f514f4e653251")


@pytest.mark.parametrize(
    ("key", "value", "expected"),
    [
        pytest.param(PAYMENTS, EMPTY_CLASSIC, Generation("payments", 0, 5), id="classic, empty"),
        pytest.param(PAYMENTS, STABLE_CLASSIC, Generation("payments", 1, 5), id="classic, stable"),
        pytest.param(PAYMENTS, FLEXIBLE_CLASSIC, Generation("payments", 7, 5), id="classic, version 4"),
        pytest.param(REFUNDS, JOINED_CONSUMER, Generation("refunds", 2, 5), id="KIP-848, joined"),
        pytest.param(REFUNDS, LEFT_CONSUMER, Generation("refunds", 3, 5), id="KIP-848, left"),
        pytest.param(REFUNDS, None, None, id="a group that was deleted"),
        pytest.param(COMMITTED_OFFSET, b"\x00\x04", None, id="a committed offset"),
        pytest.param(CONSUMER_MEMBER, b"\x00\x00", None, id="a KIP-848 member"),
    ],
)
def test_a_record_tells_its_groups_generation(key: bytes, value: bytes | None, expected: Generation | None) -> None:
    record = parse(key, value, at_ms=5)
    assert (generation(record) if record else None) == expected


def _history(*numbers: int) -> list[Generation]:
    """Generation numbers of one group, one a second from second 1 on."""
    return [Generation("payments", number, at_ms=1000 * at) for at, number in enumerate(numbers, start=1)]


@pytest.mark.parametrize(
    ("history", "expected"),
    [
        pytest.param(_history(), 0, id="nothing known"),
        pytest.param(_history(4, 4, 4, 4), 0, id="records without a new generation"),
        pytest.param(_history(4, 5, 6), 2, id="each generation recorded"),
        pytest.param(_history(4, 9), 5, id="records lost to compaction"),
        pytest.param(_history(4, 4, 5, 5, 5, 6), 1, id="one after the end does not count"),
        pytest.param(_history(8, 0, 1), 1, id="deleted and made again"),
    ],
)
def test_rebalances_are_the_growth_within_the_span(history: list[Generation], expected: int) -> None:
    assert count_rebalances(history, "payments", start_ms=1500, end_ms=5500) == expected


def test_a_group_first_seen_within_the_span_has_rebalanced_once() -> None:
    assert count_rebalances(_history(0, 1, 1), "payments", start_ms=0, end_ms=9000) == 1


def test_other_groups_do_not_count() -> None:
    others = [Generation("refunds", number, at_ms=2000 + number) for number in range(5)]
    assert count_rebalances(others, "payments", start_ms=0, end_ms=9000) == 0


@pytest.mark.parametrize(
    ("group", "partition"), [("payments", 13), ("a", 47), ("", 0), ("polygenelubricants", 0), ("Zahlungen-€", 25)]
)
def test_a_group_is_in_the_partition_that_brokers_give_it(group: str, partition: int) -> None:
    """Java: `Utils.abs(group.hashCode()) % 50`; one of them has the hash of which there is no absolute value."""
    assert partition_of(group, 50) == partition
