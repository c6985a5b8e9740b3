"""What the report reads of a lake. Spark.

A table that is not there is an empty one: whether that is an empty fleet or a job that never ran is for the notes.
Silver is computed again from the events, so that the page is as new as the lake and not as its last `recommend`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from functools import reduce
from typing import Final

from py4j.protocol import Py4JJavaError
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from slackwater.api.recommendation import SCHEMA, RecommendationStatus
from slackwater.pipeline import schemas, tables
from slackwater.pipeline.errors import LakeUnusable
from slackwater.pipeline.gold import RECOMMENDATION
from slackwater.pipeline.report.columns import AUDIT_GENERATIONS, AUDIT_REBALANCES, QUARANTINE
from slackwater.pipeline.silver.job import silver_of
from slackwater.pipeline.tables import Table

_READ: Final = {
    Table.EVENTS: schemas.EVENTS,
    Table.QUARANTINE: QUARANTINE,
    Table.RECOMMENDATIONS: RECOMMENDATION,
    Table.AUDIT_QUARANTINE: QUARANTINE,
    Table.AUDIT_REBALANCES: AUDIT_REBALANCES,
    Table.AUDIT_GENERATIONS: AUDIT_GENERATIONS,
}


@dataclass(frozen=True, slots=True)
class Sources:
    """Silver as `schemas` has it, recommendations as `gold`, the rest with the columns of `columns`.

    `unread`: recommendations of another schema than ours. `missing`: what the lake does not hold.
    """

    recommendations: DataFrame
    unread: DataFrame
    groups: DataFrame
    restarts: DataFrame
    rebalances: DataFrame
    lag: DataFrame
    turns: DataFrame
    quarantine: DataFrame
    audit_rebalances: DataFrame
    audit_generations: DataFrame
    missing: frozenset[Table] = field(default=frozenset())


def is_of_known_schema() -> Column:
    """Whether a recommendation is one that this version can read."""
    known = F.col("status").isin([status.value for status in RecommendationStatus])
    return (F.col("schema") == SCHEMA) & known


def read_sources(spark: SparkSession, lake: str, as_of: datetime | None) -> Sources:
    """All that the report needs of the lake, up to `as_of`. LakeUnusable when there is no lake at that path."""
    _require_lake(spark, lake)
    there = {table: _table(spark, lake, table) for table in _READ}
    missing = frozenset(table for table, rows in there.items() if rows is None)
    found = {table: _nothing(spark, _READ[table]) if rows is None else rows for table, rows in there.items()}

    def until(rows: DataFrame, moment: str = "at") -> DataFrame:
        return rows if as_of is None else rows.where(F.col(moment) <= F.lit(as_of))

    silver = silver_of(found[Table.EVENTS], as_of)
    recommendations = until(found[Table.RECOMMENDATIONS], "as_of")
    refused = (found[Table.QUARANTINE], found[Table.AUDIT_QUARANTINE], silver[Table.IMPOSSIBLE_RESTARTS])
    return Sources(
        recommendations=recommendations.where(is_of_known_schema()),
        unread=recommendations.where(~F.coalesce(is_of_known_schema(), F.lit(False))),
        groups=silver[Table.GROUPS],
        restarts=silver[Table.RESTARTS],
        rebalances=silver[Table.REBALANCES],
        lag=silver[Table.LAG],
        turns=silver[Table.TURNS],
        quarantine=reduce(DataFrame.unionAll, (rows.select("reason") for rows in refused)),
        audit_rebalances=until(found[Table.AUDIT_REBALANCES]),
        audit_generations=until(found[Table.AUDIT_GENERATIONS]),
        missing=missing,
    )


def _table(spark: SparkSession, lake: str, table: Table) -> DataFrame | None:
    """Columns that an older job did not write are null. None when the table is not there."""
    try:
        return tables.read(spark, lake, table, _READ[table])
    except LakeUnusable:
        return None


def _nothing(spark: SparkSession, schema: StructType) -> DataFrame:
    """No rows, and known to have none: Spark plans no work for it."""
    columns = (F.lit(None).cast(field.dataType).alias(field.name) for field in schema.fields)
    return spark.range(0).select(*columns).where(F.lit(False))


def _require_lake(spark: SparkSession, lake: str) -> None:
    """An empty lake has an empty page; a mistyped path has none."""
    jvm, context = spark.sparkContext._jvm, spark.sparkContext._jsc  # noqa: SLF001 - pyspark's own way to Hadoop
    assert jvm is not None
    try:
        path = jvm.org.apache.hadoop.fs.Path(lake)
        there = path.getFileSystem(context.hadoopConfiguration()).exists(path)
    except Py4JJavaError as error:
        said = str(error.java_exception).partition("\n")[0]
        raise LakeUnusable(f"the lake {lake} cannot be reached ({said}): correct --lake") from error
    if not there:
        raise LakeUnusable(f"there is no lake at {lake}: correct --lake, or make one with `slackwater pipeline ingest`")
