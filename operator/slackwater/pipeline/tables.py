"""The lake: names and places of its tables, and how whole ones are read and written.

A lake is any path that Spark's Hadoop layer understands (`/data/lake`, `hdfs://…`, `s3a://…`); its tables are folders
of Parquet in it. The streaming sinks of `ingest` write the bronze tables by themselves.
"""

from __future__ import annotations

from enum import StrEnum

from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

from slackwater.pipeline.errors import LakeUnusable


class Table(StrEnum):
    """Every table; the value is its folder in the lake."""

    EVENTS = "bronze/events"
    QUARANTINE = "bronze/quarantine"
    RESTARTS = "silver/restarts"
    IMPOSSIBLE_RESTARTS = "silver/impossible_restarts"
    GROUPS = "silver/groups"
    POLLS = "silver/polls"
    REBALANCES = "silver/rebalances"
    HOLDS = "silver/holds"
    SETTINGS = "silver/settings"
    TURNS = "silver/turns"
    LAG = "silver/lag"
    AUDIT_GENERATIONS = "audit/generations"
    AUDIT_MEMBERS = "audit/members"
    AUDIT_REBALANCES = "audit/rebalances"
    AUDIT_QUARANTINE = "audit/quarantine"
    RECOMMENDATIONS = "gold/recommendations"


MADE_BY = {"bronze": "ingest", "silver": "recommend", "audit": "audit", "gold": "recommend"}
"""Which job makes the tables of a folder."""


def path_of(lake: str, table: Table) -> str:
    return f"{lake.rstrip('/')}/{table}"


def checkpoint_of(lake: str, name: str) -> str:
    """Where the streaming query of that name keeps its own books."""
    return f"{lake.rstrip('/')}/checkpoints/{name}"


def read(spark: SparkSession, lake: str, table: Table, schema: StructType | None = None) -> DataFrame:
    """A table of the lake. LakeUnusable when it is not there, naming the job that makes it.

    With a `schema`, a table that is there and still empty is one of no rows; without, it is not there.
    """
    reader = spark.read if schema is None else spark.read.schema(schema)
    try:
        return reader.parquet(path_of(lake, table))
    except AnalysisException as error:
        if error.getCondition() not in ("PATH_NOT_FOUND", "UNABLE_TO_INFER_SCHEMA"):
            raise
        job = MADE_BY[table.partition("/")[0]]
        raise LakeUnusable(
            f"the lake {lake} holds no table {table}: run `slackwater pipeline {job}` first, or correct --lake"
        ) from error


def exists(spark: SparkSession, lake: str, table: Table) -> bool:
    """Whether the table is there and holds anything."""
    try:
        read(spark, lake, table)
    except LakeUnusable:
        return False
    return True


def overwrite(rows: DataFrame, lake: str, table: Table) -> None:
    """Write the whole table again, so that running a job again gives the same. Never one that `rows` reads."""
    rows.write.mode("overwrite").parquet(path_of(lake, table))
