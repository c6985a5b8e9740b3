"""The recommend job: events to silver, silver to one history a group, histories to recommendations, and out.

Run again over the same events and as of the same moment it writes the same, to the letter.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Final

from pyspark import StorageLevel
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.pandas.types import to_arrow_schema

from slackwater.api.recommendation import LEAST_DAYS
from slackwater.pipeline import schemas
from slackwater.pipeline.failures import in_sentences
from slackwater.pipeline.gold import RECOMMENDATIONS
from slackwater.pipeline.progress import stage
from slackwater.pipeline.recommend.counting import LONGEST, RECORD
from slackwater.pipeline.recommend.fleets import Fleets, fleets_of
from slackwater.pipeline.recommend.found import Summary
from slackwater.pipeline.recommend.histories import histories_of
from slackwater.pipeline.recommend.judging import recommending, sharing
from slackwater.pipeline.recommend.pooling import SHAPES, most_restarted
from slackwater.pipeline.recommend.publishing import messages_of, write_file, write_topic
from slackwater.pipeline.recommend.summary import savings_of, statuses_of
from slackwater.pipeline.silver.job import write_silver
from slackwater.pipeline.tables import Table, overwrite, read

GROUPS_A_TASK: Final = 100
"""About: a task's memory is bounded, its work a second or two, and Spark gathers up to 128 keys' lists unsorted."""
TASKS_A_CORE: Final = 4
_SETTINGS: Final = {
    "spark.sql.execution.arrow.maxRecordsPerBatch": "64",  # a group's row holds some thousand counts
    "spark.sql.adaptive.localShuffleReader.enabled": "false",  # it keeps partitions near empty
}


@dataclass(frozen=True, slots=True)
class Options:
    """`as_of`: events after it are left out; None: the newest event's moment. `out_file`, `out_topic`: None: nowhere.

    `options`: Spark's for the Kafka sink, the client's own with `kafka.` before them.
    """

    lake: str
    as_of: datetime | None = None
    out_file: str | None = None
    out_topic: str | None = None
    servers: str = ""
    options: Mapping[str, str] = field(default_factory=dict)
    least_days: float = LEAST_DAYS


_NEVER: Final = datetime.fromtimestamp(0, UTC)
_SILVER: Final = {
    Table.GROUPS: schemas.GROUPS,
    Table.RESTARTS: schemas.RESTARTS,
    Table.POLLS: schemas.POLLS,
    Table.REBALANCES: schemas.REBALANCES,
    Table.WARM_UPS: schemas.WARM_UPS,
}


@dataclass(frozen=True, slots=True)
class Silver:
    """What recommendations are made of, as `schemas` has it."""

    groups: DataFrame
    restarts: DataFrame
    polls: DataFrame
    rebalances: DataFrame
    warm_ups: DataFrame


def run(spark: SparkSession, options: Options) -> Summary:
    """Raises LakeUnusable, Unpublishable or JobFailed."""
    with in_sentences(f"the lake {options.lake}", options.lake):
        as_of = write_silver(spark, options.lake, options.as_of)
        summary = recommend(spark, options.lake, as_of, options.least_days)
        return _published(spark, options, summary)


def recommend(spark: SparkSession, lake: str, as_of: datetime | None, least_days: float = LEAST_DAYS) -> Summary:
    """From the lake's silver tables to its gold one. `as_of`: None where there are no events."""
    silver = Silver(*(read(spark, lake, table, schema) for table, schema in _SILVER.items()))
    groups = silver.groups.count()
    with _settings(spark, _SETTINGS), _kept(_histories(silver, groups)) as histories:
        with stage("Recommend: count restarts and polls of each group", spark):
            histories.count()
        with stage("Recommend: learn the shapes of silences", spark):
            fleets = fleets_in(histories, as_of or _NEVER)
        with stage("Recommend: choose each group's settings", spark):
            overwrite(recommendations_of(histories, fleets, as_of or _NEVER, least_days), lake, Table.RECOMMENDATIONS)
    written = read(spark, lake, Table.RECOMMENDATIONS, RECOMMENDATIONS)
    return Summary(as_of, groups, statuses_of(written), savings_of(written))


def fleets_in(histories: DataFrame, as_of: datetime) -> Fleets:
    """The shapes that the groups have. Only what that takes of a history goes to Python; what comes back is bounded."""
    lean = histories.drop(LONGEST, RECORD)
    shapes = most_restarted(lean.mapInArrow(sharing(to_arrow_schema(SHAPES), as_of), SHAPES))
    return fleets_of(row.asDict() for row in shapes.collect())


def recommendations_of(
    histories: DataFrame, fleets: Fleets, as_of: datetime, least_days: float = LEAST_DAYS
) -> DataFrame:
    """Rows of `gold`, one for each of the histories, each where its history lies."""
    choose = recommending(to_arrow_schema(RECOMMENDATIONS), as_of, fleets, least_days)
    return histories.mapInArrow(choose, RECOMMENDATIONS)


def _histories(silver: Silver, groups: int) -> DataFrame:
    """Over as many partitions as keep all cores busy to the end: most of the time is the statistics'."""
    partitions = max(_cores(silver.groups) * TASKS_A_CORE, -(-groups // GROUPS_A_TASK))
    return histories_of(silver.groups, silver.restarts, silver.polls, silver.rebalances, silver.warm_ups, partitions)


def _cores(rows: DataFrame) -> int:
    return rows.sparkSession.sparkContext.defaultParallelism


def _published(spark: SparkSession, options: Options, summary: Summary) -> Summary:
    if options.out_file is None and options.out_topic is None:
        return summary
    messages = messages_of(read(spark, options.lake, Table.RECOMMENDATIONS), read(spark, options.lake, Table.GROUPS))
    if options.out_file is not None:
        with stage(f"Recommend: write {options.out_file}", spark):
            summary = replace(summary, sent_to_file=write_file(messages, options.out_file))
    if options.out_topic is not None:
        with stage(f"Recommend: send to {options.out_topic}", spark):
            sent = write_topic(messages, options.servers, options.out_topic, options.options)
            summary = replace(summary, sent_to_topic=sent)
    return summary


@contextmanager
def _kept(rows: DataFrame) -> Iterator[DataFrame]:
    """Computed once for all that is made of it; on the workers' disks where memory does not suffice."""
    kept = rows.persist(StorageLevel.MEMORY_AND_DISK)
    try:
        yield kept
    finally:
        kept.unpersist()


@contextmanager
def _settings(spark: SparkSession, chosen: Mapping[str, str]) -> Iterator[None]:
    """Spark's settings for the body only: the session may be another's."""
    before = {name: spark.conf.get(name, None) for name in chosen}
    for name, value in chosen.items():
        spark.conf.set(name, value)
    try:
        yield
    finally:
        for name, earlier in before.items():
            spark.conf.unset(name) if earlier is None else spark.conf.set(name, earlier)
