"""The recorded topic without Spark: what a real broker wrote is decoded to the last byte and folded into the truth."""

from __future__ import annotations

from collections import Counter

from slackwater.pipeline.audit.decoding import decode
from slackwater.pipeline.audit.fold import told
from slackwater.pipeline.audit.layouts import KeyType
from slackwater.pipeline.audit.rows import Generation, Rebalance, Row, Stay
from tests.pipeline.audit.recording import recorded_topic


def rows_of(group: str) -> list[Row]:
    """The group's rows, its offset commits told first, as Spark gives them."""
    records = []
    for partition, offset, at_ms, key, value in recorded_topic():
        group_key = key[4 : 4 + int.from_bytes(key[2:4], "big")]
        names = key[:2] == KeyType.OFFSET_COMMIT.to_bytes(2, "big")
        if group_key == group.encode() and not (names and value is None):
            records.append((group_key, 0 if names else 1, partition, offset, at_ms, key, value))
    rows = [row for _, row in told(sorted(records, key=lambda record: (record[1], record[3])))]
    assert all(isinstance(row, Generation | Rebalance | Stay) for row in rows)
    return [row for row in rows if isinstance(row, Generation | Rebalance | Stay)]


def test_every_record_of_a_real_broker_is_read() -> None:
    assert all(not decode(key, value).refused for _, _, _, key, value in recorded_topic())


def test_rebalances_and_returns_are_those_that_were_caused() -> None:
    found = {
        group: (
            sum(isinstance(row, Rebalance) for row in rows),
            sum(isinstance(row, Stay) and row.returned for row in rows),
        )
        for group in ("classic-dynamic", "classic-static", "kip848-dynamic", "kip848-static")
        if (rows := rows_of(group))
    }
    assert found == {
        "classic-dynamic": (4, 0),
        "classic-static": (2, 6),  # two came back, then both went over to KIP-848, and back
        "kip848-dynamic": (4, 0),
        "kip848-static": (2, 2),
    }


def test_a_group_that_goes_over_and_back_moves_no_partition() -> None:
    """F6, as the topic tells it: both types in turn, one generation, the same owners."""
    generations = [row for row in rows_of("classic-static") if isinstance(row, Generation) and row.generation == 2]
    owners = [{member.identity: member.partitions for member in row.members} for row in generations]

    assert [row.group_type for row in generations] == ["Classic", "Consumer", "Classic"]
    assert owners[0] == owners[1] == owners[2]


def test_a_classic_members_session_timeout_is_told_in_a_kip_848_group_too() -> None:
    over = next(
        row for row in rows_of("classic-static") if isinstance(row, Generation) and row.group_type == "Consumer"
    )
    assert Counter(member.session_timeout_ms for member in over.members) == {10_000: 2}
