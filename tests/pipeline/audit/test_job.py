"""The whole job in Spark, on a recorded topic and on damaged ones."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from slackwater.pipeline.audit.layouts import KeyType
from slackwater.pipeline.errors import SourceUnreadable
from slackwater.pipeline.tables import Table, read
from tests.pipeline.audit.encoding import classic_group, classic_member, key, value
from tests.pipeline.audit.recording import RecordedRow, recorded_topic
from tests.pipeline.audit.scene import START_MS

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from slackwater.pipeline.audit.summary import Summary

AUDITED = (Table.AUDIT_GENERATIONS, Table.AUDIT_REBALANCES, Table.AUDIT_MEMBERS, Table.AUDIT_QUARANTINE)


def write_dump(path: Path, rows: Iterable[tuple[Any, ...]], time: pa.DataType | None = None) -> str:
    partitions, offsets, times, keys, values = list(zip(*rows, strict=True)) or [()] * 5
    columns = {
        "partition": pa.array(partitions, pa.int32()),
        "offset": pa.array(offsets, pa.int64()),
        "timestamp": pa.array(times, pa.int64()).cast(time or pa.timestamp("ms", "UTC")),
        "key": pa.array(keys, pa.binary()),
        "value": pa.array(values, pa.binary()),
    }
    pq.write_table(pa.table(columns), path)
    return str(path)


def audit(spark: SparkSession, lake: Path, dump: str, cluster: str | None = "here") -> Summary:
    from slackwater.pipeline.audit.job import Options, run  # noqa: PLC0415 - pyspark only where Spark is

    return run(spark, Options(str(lake), dump=dump, cluster=cluster))


def contents(spark: SparkSession, lake: Path) -> dict[str, list[str]]:
    return {table: sorted(read(spark, str(lake), table).toJSON().collect()) for table in AUDITED}


@pytest.fixture(scope="module")
def recorded_dump(tmp_path_factory: pytest.TempPathFactory) -> str:
    return write_dump(tmp_path_factory.mktemp("copy") / "topic.parquet", recorded_topic())


@pytest.fixture(scope="module")
def recorded_lake(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory, recorded_dump: str) -> Path:
    lake = tmp_path_factory.mktemp("lake")
    audit(spark, lake, recorded_dump)
    return lake


def test_every_rebalance_that_was_caused_is_found_and_none_is_made_up(spark: SparkSession, recorded_lake: Path) -> None:
    rows = read(spark, str(recorded_lake), Table.AUDIT_REBALANCES).orderBy("source_offset").collect()
    found: dict[str, list[tuple[Any, ...]]] = {}
    for row in rows:
        told = (row.from_generation, row.to_generation, row.members_before, row.members_after, row.partitions_moved)
        found.setdefault(row.group_id, []).append((*told, row.cause))

    assert found == {
        "classic-dynamic": [
            (None, 1, 0, 1, 6, "MemberJoined"),
            (1, 2, 1, 2, 3, "MemberJoined"),
            (2, 3, 2, 3, 2, "MemberJoined"),
            (3, 4, 3, 2, 3, "MemberLeft"),
        ],
        "classic-static": [(None, 1, 0, 1, 6, "MemberJoined"), (1, 2, 1, 2, 3, "MemberJoined")],
        "kip848-dynamic": [
            (None, 2, 0, 1, 6, "MemberJoined"),
            (2, 3, 1, 2, 3, "MemberJoined"),
            (3, 4, 2, 3, 2, "MemberJoined"),
            (4, 5, 3, 2, 2, "MemberLeft"),
        ],
        "kip848-static": [(None, 2, 0, 1, 6, "MemberJoined"), (2, 3, 1, 2, 3, "MemberJoined")],
    }


def test_only_kip_848_tells_how_long_a_rebalance_took(spark: SparkSession, recorded_lake: Path) -> None:
    rows = read(spark, str(recorded_lake), Table.AUDIT_REBALANCES).orderBy("source_offset").collect()
    assert all(row.duration_s is None for row in rows if row.group_type == "Classic")
    assert [row.duration_s for row in rows if row.group_id == "kip848-dynamic"] == [0.0, 0.24, 0.482, 0.483]


def test_a_generation_tells_who_is_in_it(spark: SparkSession, recorded_lake: Path) -> None:
    generations = read(spark, str(recorded_lake), Table.AUDIT_GENERATIONS)
    row = generations.filter("group_id = 'classic-static' and generation = 2 and group_type = 'Classic'").first()
    assert row is not None
    told = [(m.instance_id, m.session_timeout_ms, m.subscription, m.partitions) for m in row.members]

    assert (row.cluster, row.protocol_type, row.assignor) == ("here", "consumer", "range")
    assert told == [
        ("s-0", 10_000, ["orders"], ["orders-0", "orders-1", "orders-2"]),
        ("s-1", 10_000, ["orders"], ["orders-3", "orders-4", "orders-5"]),
    ]


def test_returns_and_a_change_of_protocol_are_in_the_members_table(spark: SparkSession, recorded_lake: Path) -> None:
    members = read(spark, str(recorded_lake), Table.AUDIT_MEMBERS).filter("group_id = 'classic-static'")
    stays = members.orderBy("joined_at").collect()
    assert [row.returned for row in stays if row.instance_id == "s-0"] == [False, True, True, True]
    assert all(row.left_at is not None for row in stays)


def test_a_second_run_writes_the_same(spark: SparkSession, recorded_lake: Path, recorded_dump: str) -> None:
    first = contents(spark, recorded_lake)
    audit(spark, recorded_lake, recorded_dump)
    assert contents(spark, recorded_lake) == first


def test_the_summary_counts_what_was_read_and_what_was_passed_over(
    spark: SparkSession, tmp_path: Path, recorded_dump: str
) -> None:
    summary = audit(spark, tmp_path, recorded_dump)

    assert (summary.groups, summary.groups_whole, summary.rebalances, summary.quarantined) == (4, 4, 12, 0)
    assert {count.number: (count.records, count.tombstones) for count in summary.counts}[KeyType.OFFSET_COMMIT] == (
        60,
        12,
    )
    most = summary.shown[0]
    assert (most.group_id, most.rebalances, most.members, most.whole) == ("classic-dynamic", 4, 0, True)


def test_the_order_in_which_a_copy_was_written_does_not_matter(
    spark: SparkSession, tmp_path: Path, recorded_lake: Path
) -> None:
    dump = write_dump(tmp_path / "backwards.parquet", reversed(recorded_topic()), pa.int64())
    audit(spark, tmp_path / "lake", dump)
    assert contents(spark, tmp_path / "lake") == contents(spark, recorded_lake)


def test_what_cannot_be_read_is_in_quarantine_with_its_reason(spark: SparkSession, tmp_path: Path) -> None:
    groups = key(KeyType.CLASSIC_GROUP, "payments")
    good = value(KeyType.CLASSIC_GROUP, classic_group(1, classic_member("a-1", None, (0,))), 3)
    records: list[tuple[bytes | None, bytes | None]] = [
        (None, b"x"),
        (b"", b"x"),
        (b"\x00\x02\x00\x10short", good),
        (groups, b"\x00\x05" + good[2:]),
        (groups, good[:20]),
        (groups, good),
        (b"\x00\x0b\x00\x06shares", b"\x00\x00"),
        (b"\x00\x63\x00\x06future", b"\x00\x00"),
    ]
    dump = write_dump(
        tmp_path / "damaged.parquet", [(0, offset, START_MS, *each) for offset, each in enumerate(records)]
    )

    summary = audit(spark, tmp_path, dump)

    quarantine = read(spark, str(tmp_path), Table.AUDIT_QUARANTINE).orderBy("source_offset").collect()
    assert [(row.source_offset, row.reason) for row in quarantine] == [
        (0, "NoKey"),
        (1, "Truncated"),
        (2, "Truncated"),
        (3, "FutureVersion"),
        (4, "Truncated"),
    ]
    assert quarantine[4].value_hex == good[:20].hex()
    assert summary.rebalances == 1
    assert {count.name: count.records for count in summary.counts} == {
        "no key type": 2,
        "classic group": 4,
        "share group epoch": 1,
        "key type 99, not known here": 1,
    }


def test_an_empty_topic_has_no_groups_and_no_error(spark: SparkSession, tmp_path: Path) -> None:
    summary = audit(spark, tmp_path, write_dump(tmp_path / "empty.parquet", []), cluster=None)
    assert (summary.groups, summary.oldest, summary.shown) == (0, None, ())
    assert json.dumps(contents(spark, tmp_path)) == json.dumps({table: [] for table in AUDITED})


def test_a_copy_that_is_not_there_is_told(spark: SparkSession, tmp_path: Path) -> None:
    with pytest.raises(SourceUnreadable, match=r"there is no Parquet at .*nowhere"):
        audit(spark, tmp_path, str(tmp_path / "nowhere"))


def test_a_copy_that_lacks_columns_is_told(spark: SparkSession, tmp_path: Path) -> None:
    pq.write_table(pa.table({"key": pa.array([b""]), "offset": pa.array([1])}), tmp_path / "other.parquet")
    with pytest.raises(SourceUnreadable, match="it lacks partition, timestamp, value"):
        audit(spark, tmp_path, str(tmp_path / "other.parquet"))


def test_the_sessions_settings_are_as_they_were(spark: SparkSession, tmp_path: Path, recorded_dump: str) -> None:
    name = "spark.sql.execution.arrow.maxRecordsPerBatch"
    before = spark.conf.get(name)
    audit(spark, tmp_path, recorded_dump)
    assert spark.conf.get(name) == before


def test_keys_are_cut_by_spark_as_the_decoder_cuts_them(spark: SparkSession, tmp_path: Path) -> None:
    """A group's records are brought together by a column expression; a wrong cut would tear groups apart."""
    from slackwater.pipeline.audit.selection import records_of_groups  # noqa: PLC0415
    from slackwater.pipeline.audit.source import records_of_dump  # noqa: PLC0415

    names = ["g", "zahlungen-ü", "x" * 249]
    rows: list[RecordedRow] = [
        (0, at, START_MS, key(key_type, name, "member"), b"\x00\x00")
        for at, (name, key_type) in enumerate(
            (name, key_type) for name in names for key_type in (KeyType.CLASSIC_GROUP, KeyType.MEMBER_TARGET)
        )
    ]
    dump = write_dump(tmp_path / "keys.parquet", rows)
    cut = records_of_groups(records_of_dump(spark, dump)).select("group_key").distinct().collect()
    assert {bytes(row.group_key).decode() for row in cut} == set(names)


def test_two_clusters_share_a_lake_and_neither_erases_the_other(
    spark: SparkSession, tmp_path: Path, recorded_dump: str
) -> None:
    audit(spark, tmp_path, recorded_dump, cluster="here")
    alone = contents(spark, tmp_path)
    summary = audit(spark, tmp_path, recorded_dump, cluster="there")
    both = contents(spark, tmp_path)
    for table in AUDITED:
        assert [row for row in both[table] if '"here"' in row] == alone[table]
        assert len(both[table]) == 2 * len(alone[table])
    assert summary.generations == len(alone[Table.AUDIT_GENERATIONS])


def test_what_compaction_has_taken_from_kafka_stays_in_the_lake(
    spark: SparkSession, tmp_path: Path, recorded_dump: str
) -> None:
    """A group's key has one value after cleaning, the newest: with earlier audits its history is whole all the same."""
    before = tmp_path / "before"
    audit(spark, before, recorded_dump)
    whole = contents(spark, before)
    newest = {row[3]: row for row in recorded_topic()}
    compacted = write_dump(tmp_path / "compacted.parquet", newest.values())
    audit(spark, before, compacted)
    after = contents(spark, before)
    assert after[Table.AUDIT_GENERATIONS] == whole[Table.AUDIT_GENERATIONS]
    assert after[Table.AUDIT_REBALANCES] == whole[Table.AUDIT_REBALANCES]
