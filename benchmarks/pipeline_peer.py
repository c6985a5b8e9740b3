"""The peer: the same recommendations by DuckDB and the same Python statistics, on one machine without Spark.

The counting is written in DuckDB's SQL as `recommend.counting` writes it in Spark's columns; the rows that come out are
what `recommend.judging` takes, so that both end in the same functions.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Final

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.pipeline_data import AS_OF
from slackwater.pipeline.recommend.counting import DAYS_TOGETHER, GRID_FROM, LONGEST, RECORD, SILENCE
from slackwater.pipeline.recommend.fleets import KEY, Fleets, fleets_of
from slackwater.pipeline.recommend.judging import recommending, sharing
from slackwater.pipeline.statistics.history import LOG_STEP, MOST_POINTS, ON_THE_GRID

WORKERS: Final = 2
_GROUPS_A_BATCH: Final = 64
_KEY: Final = "cluster, namespace, name, group_id"
_COUNTED: Final = """
SELECT {key}, list({{value: value, step: step, returned: returned, planned: planned, day: day, rollout: rollout,
    times: times}} ORDER BY value, step, returned, planned, day, rollout) AS {quantity}
FROM (SELECT {key}, CASE WHEN many THEN NULL ELSE value END AS value,
        CASE WHEN many THEN ceil(ln(greatest(value, {from_value}) / {from_value}) / {log_step} - {on_grid})::INTEGER END
            AS step, returned, planned, CASE WHEN many THEN day - day % {block} ELSE day END AS day,
            CASE WHEN many THEN NULL ELSE rollout END AS rollout, count(*) AS times
    FROM (SELECT {key}, {value} AS value, {returned} AS returned, {planned} AS planned, {day} AS day,
            CASE WHEN {planned} THEN {rollout} END AS rollout FROM {table} WHERE {where})
    LEFT JOIN (SELECT {key}, true AS many FROM {table} WHERE {where} GROUP BY ALL HAVING count(*) > {most})
        USING ({key})
    GROUP BY ALL)
GROUP BY {key}
"""
_PER_RECORD: Final = "time_between_poll_max_ms / records_per_poll_avg"
_NO_FLAG: Final = "NULL::BOOLEAN"
_NO_NUMBER: Final = "NULL::BIGINT"
_DAY: Final = "datediff('day', DATE '1970-01-01', coalesce(last_seen_at, stopped_at, told_at)::DATE)"
_QUANTITIES: Final = (
    (SILENCE, "restarts", "observed_away_s", "outcome = 'Returned'", "reason = 'Rollout'", "mode <> 'WarmHandover'"),
    (LONGEST, "polls", "time_between_poll_max_ms", _NO_FLAG, _NO_FLAG, "time_between_poll_max_ms > 0"),
    (RECORD, "polls", _PER_RECORD, _NO_FLAG, _NO_FLAG, "records_per_poll_avg >= 1 AND time_between_poll_max_ms > 0"),
)
_SHAPES: Final = pa.schema(
    [(name, pa.string()) for name in (*KEY, "library")]
    + [("restarts", pa.float64()), ("survival", pa.list_(pa.float64()))]
)
_MESSAGES: Final = pa.schema([("namespace", pa.string()), ("name", pa.string()), ("message", pa.string())])


def recommend(lake: Path) -> int:
    """Write gold/peer.parquet; how many groups."""
    with (
        duckdb.connect(config={"threads": WORKERS, "memory_limit": "4GB"}) as duck,
        ProcessPoolExecutor(WORKERS, mp_context=get_context("spawn")) as workers,
    ):
        duck.execute("SET TimeZone = 'UTC'")
        for table in ("groups", "restarts", "polls", "rebalances", "warm_ups"):
            duck.execute(f"CREATE VIEW {table} AS FROM read_parquet('{lake}/silver/{table}/*.parquet')")
        duck.execute(f"CREATE TABLE histories AS {_histories()}")
        shapes = pa.Table.from_batches(workers.map(_share, _batches(duck, "FROM histories")), schema=_SHAPES)
        choose = partial(_recommend, fleets_of(shapes.to_pylist()))
        found = pa.Table.from_batches(workers.map(choose, _batches(duck, "FROM histories")), schema=_MESSAGES)
    (lake / "gold").mkdir(exist_ok=True)
    pq.write_table(found, lake / "gold" / "peer.parquet")
    return int(found.num_rows)


def _histories() -> str:
    counted = [
        _COUNTED.format(
            key=_KEY, quantity=quantity, table=table, value=value, returned=returned, planned=planned, where=where,
            day=_DAY if table == "restarts" else _NO_NUMBER, block=DAYS_TOGETHER,
            rollout="spec_generation" if table == "restarts" else _NO_NUMBER,
            from_value=GRID_FROM[quantity], log_step=LOG_STEP, on_grid=ON_THE_GRID, most=MOST_POINTS,
        )
        for quantity, table, value, returned, planned, where in _QUANTITIES
    ]  # fmt: skip
    usual = f"""SELECT {_KEY}, median(duration_s) AS rebalance_s FROM rebalances WHERE duration_s > 0
        GROUP BY ALL HAVING count(*) >= 5"""
    quartiles = ", ".join(
        f"{name}: quantile_cont(warmed_up_s, {share})"
        for name, share in (("first_s", 0.25), ("median_s", 0.5), ("third_s", 0.75))
    )
    warm = f"SELECT {_KEY}, {{{quartiles}, count: count(*)}} AS warmed_up FROM warm_ups GROUP BY ALL"
    joins = " ".join(f"LEFT JOIN ({each}) USING ({_KEY})" for each in (*counted, usual, warm))
    return f"SELECT *, NULL::BIGINT AS warm_handovers FROM groups {joins}"


def _batches(duck: duckdb.DuckDBPyConnection, query: str) -> Iterator[bytes]:
    """Each as a stream of its own: a pickled slice of a table takes all of the table's buffers along."""
    whole: pa.Table = duck.sql(query).to_arrow_table()
    return map(_sent, whole.combine_chunks().to_batches(max_chunksize=_GROUPS_A_BATCH))


def _sent(batch: pa.RecordBatch) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema) as stream:
        stream.write_batch(batch)
    return bytes(sink.getvalue())


def _received(batch: bytes) -> pa.RecordBatch:
    return pa.ipc.open_stream(batch).read_next_batch()


def _share(batch: bytes) -> pa.RecordBatch:
    return next(sharing(_SHAPES, AS_OF)([_received(batch)]))


def _recommend(fleets: Fleets, batch: bytes) -> pa.RecordBatch:
    return next(recommending(_MESSAGES, AS_OF, fleets)([_received(batch)]))


if __name__ == "__main__":
    recommend(Path(sys.argv[1]))
