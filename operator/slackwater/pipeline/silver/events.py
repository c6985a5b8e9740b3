"""What silver begins with: the events of one type that were known by a moment, each once."""

from __future__ import annotations

from datetime import UTC, datetime

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from slackwater.pipeline.schemas import GROUP_KEY


def known_by(events: DataFrame, as_of: datetime | None) -> DataFrame:
    """The events up to and including `as_of`; all of them when that is None."""
    return events if as_of is None else events.where(F.col("at") <= F.lit(as_of))


def newest(events: DataFrame) -> datetime | None:
    """The newest event's moment, in UTC; None when there are no events."""
    epoch_s = events.agg(F.max("at").cast("decimal(20, 6)").alias("newest")).collect()[0]["newest"]
    return None if epoch_s is None else datetime.fromtimestamp(float(epoch_s), UTC)


def once(events: DataFrame, kind: str) -> DataFrame:
    """GROUP_KEY, `at` and `body` of the events of one type; of those with the same id, one.

    The same id is the same fact, recorded again: the earliest `at` wins, then the content. Where the records stood does
    not count, so the same events in another order, or spread over other files, give the same tables.
    """
    rows = events.where(F.col("type") == kind).select("id", "at", *GROUP_KEY, F.col(kind).alias("body"))
    told_again = Window.partitionBy("id").orderBy("at", F.xxhash64(*GROUP_KEY, "body"))
    first = rows.withColumn("telling", F.row_number().over(told_again)).where(F.col("telling") == 1)
    return first.select(*GROUP_KEY, "at", "body")
