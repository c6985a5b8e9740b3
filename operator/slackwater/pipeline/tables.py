"""The lake: names and places of its tables, and how whole ones are read and written.

A lake is any path that Spark's Hadoop layer understands (`/data/lake`, `hdfs://…`, `s3a://…`); its tables are folders
of Parquet in it. The streaming sinks of `ingest` write the bronze tables by themselves.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any, Final

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
    WARM_UPS = "silver/warm_ups"
    AUDIT_GENERATIONS = "audit/generations"
    AUDIT_MEMBERS = "audit/members"
    AUDIT_REBALANCES = "audit/rebalances"
    AUDIT_QUARANTINE = "audit/quarantine"
    RECOMMENDATIONS = "gold/recommendations"


_FRESH: Final = ".new"
_OLD: Final = ".old"
"""What the folders of a table are called that is being written, and that is being replaced."""
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
        old = f"{path_of(lake, table)}{_OLD}"
        if _Folders(spark, old).exists(old):
            return reader.parquet(old)
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
    """Write the whole table again, so that running a job again gives the same. `rows` may read the table itself.

    The new one is written beside the old one and takes its place by two renames: a job that dies before has changed
    nothing, and one that dies between the two leaves the old table where `read` looks next.
    """
    place = path_of(lake, table)
    fresh, old = f"{place}{_FRESH}", f"{place}{_OLD}"
    rows.write.mode("overwrite").parquet(fresh)
    folders = _Folders(rows.sparkSession, place)
    if folders.exists(place):
        folders.delete(old)
        folders.rename(place, old)
    folders.rename(fresh, place)
    folders.delete(old)


class _Folders:
    """Hadoop's view of the file system that a path is on."""

    def __init__(self, spark: SparkSession, path: str) -> None:
        context = spark.sparkContext
        jvm: Any = context._jvm  # noqa: SLF001 - pyspark's own way to Java has no public name
        java_context: Any = context._jsc  # noqa: SLF001 - as above
        self._path = jvm.org.apache.hadoop.fs.Path
        self._system = self._path(path).getFileSystem(java_context.hadoopConfiguration())

    def exists(self, path: str) -> bool:
        return bool(self._system.exists(self._path(path)))

    def delete(self, path: str) -> None:
        self._system.delete(self._path(path), True)

    def rename(self, path: str, to: str) -> None:
        if not self._system.rename(self._path(path), self._path(to)):
            raise LakeUnusable(
                f"{path} cannot be renamed to {to}: correct the permissions of the lake, and run it again"
            )
