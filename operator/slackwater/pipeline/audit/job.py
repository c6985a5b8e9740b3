"""The audit job: read, fold, merge with what earlier audits found, summarise. Run again over the same records it writes
the same tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final

from pyspark import StorageLevel
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from slackwater.pipeline.audit.columns import tables_of
from slackwater.pipeline.audit.complaints import TOPIC, kafka_errors
from slackwater.pipeline.audit.fold import fold_groups
from slackwater.pipeline.audit.merging import merged
from slackwater.pipeline.audit.selection import count_by_key_type, records_of_groups
from slackwater.pipeline.audit.source import (
    LISTS_INTERNAL_TOPICS,
    records_of_dump,
    records_of_topic,
    settings,
    stretch_of_topic,
)
from slackwater.pipeline.audit.summary import SUMMED_UP, Summary, summarise
from slackwater.pipeline.errors import SourceUnreadable
from slackwater.pipeline.progress import stage
from slackwater.pipeline.tables import Table, exists, overwrite, read

_FOR_THE_FOLD: Final = {
    # The record of a big group weighs half a megabyte, and a batch is in memory as a whole.
    "spark.sql.execution.arrow.maxRecordsPerBatch": "256",
    # What is kept may have as few partitions as its size asks for; else it is 200, each a start of Python.
    "spark.sql.optimizer.canChangeCachedPlanOutputPartitioning": "true",
}


@dataclass(frozen=True, slots=True)
class Options:
    """Either `servers` or `dump`. `options`: Spark's for the Kafka source, the client's own with `kafka.` before them.

    `cluster`: what the tables call the cluster; asked of the cluster itself when not given.
    """

    lake: str
    servers: str | None = None
    dump: str | None = None
    options: Mapping[str, str] = field(default_factory=dict)
    cluster: str | None = None


@dataclass(frozen=True, slots=True)
class _Source:
    records: DataFrame
    cluster: str
    name: str
    must_have_records: bool


def run(spark: SparkSession, options: Options) -> Summary:
    """Audit one cluster. Raises SourceUnreadable, LakeUnusable or JobFailed."""
    with settings(spark, LISTS_INTERNAL_TOPICS | _FOR_THE_FOLD), kafka_errors(options.servers or ""):
        source = _source(spark, options)
        with _kept(count_by_key_type(source.records)) as counted, _kept(_rows(source)) as rows:
            with stage(f"Count the records of {source.name}", spark):
                is_empty = counted.isEmpty()
            if is_empty and source.must_have_records:
                raise SourceUnreadable(
                    f"Spark gave no record of {TOPIC}, which has some: this Spark's Kafka connector does not honour"
                    f" {next(iter(LISTS_INTERNAL_TOPICS))}. Audit a copy of the topic with --dump"
                )
            for table, content in tables_of(rows, source.cluster).items():
                with stage(f"Write {table}", spark):
                    overwrite(_with_earlier(spark, options.lake, table, content), options.lake, table)
            with stage("Sum up", spark):
                written = (read(spark, options.lake, table) for table in SUMMED_UP)
                return summarise(counted, *(each.where(F.col("cluster") == source.cluster) for each in written))


def _source(spark: SparkSession, options: Options) -> _Source:
    if options.dump is not None:
        records = records_of_dump(spark, options.dump)
        return _Source(records, options.cluster or "", options.dump, must_have_records=False)
    if options.servers is None:
        raise SourceUnreadable("there is nothing to read: give --bootstrap-servers, or --dump")
    stretch = stretch_of_topic(spark, options.servers, options.options)
    records = records_of_topic(spark, options.servers, options.options, stretch)
    cluster = stretch.cluster if options.cluster is None else options.cluster
    return _Source(records, cluster, TOPIC, must_have_records=not stretch.is_empty)


def _with_earlier(spark: SparkSession, lake: str, table: Table, found: DataFrame) -> DataFrame:
    if not exists(spark, lake, table):
        return found
    return merged(table, read(spark, lake, table), found)


def _rows(source: _Source) -> DataFrame:
    return fold_groups(records_of_groups(source.records))


@contextmanager
def _kept(rows: DataFrame) -> Iterator[DataFrame]:
    """Computed once for all that is made of it; on the workers' disks where memory does not suffice."""
    kept = rows.persist(StorageLevel.MEMORY_AND_DISK)
    try:
        yield kept
    finally:
        kept.unpersist()
