"""Restarts and poll windows, counted per group: columns only, and what comes out is bounded however much goes in.

A group with few of them keeps every value as it is. One with more than `MOST_POINTS` has them rounded up to the grid of
`statistics.history`, as the statistics themselves would. The rounding comes before the grouping, so that each worker
counts what it holds and only counts travel.
"""

from __future__ import annotations

from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from slackwater.pipeline.schemas import GROUP_KEY
from slackwater.pipeline.statistics.history import GRID_FROM_S, LOG_STEP, MOST_POINTS, ON_THE_GRID

SILENCE: Final = "silence"
LONGEST: Final = "longest"
RECORD: Final = "record"
GRID_FROM: Final = {SILENCE: GRID_FROM_S, LONGEST: 1000 * GRID_FROM_S, RECORD: 1e-4}
"""Where each quantity's grid begins; silences in seconds, the other two in milliseconds."""
COUNTED: Final = ("value", "step", "returned", "planned", "times")
"""Either `value` or `step` is null; the flags are so but for silences."""


def silence_counts(restarts: DataFrame) -> DataFrame:
    """GROUP_KEY and COUNTED of what was seen of members' absences, in seconds; no warm handovers (F37).

    Takes RESTARTS. An absence that nobody could measure is NaN: the statistics count it among those left out.
    """
    silences = restarts.where(F.col("mode") != "WarmHandover").select(
        *GROUP_KEY,
        F.coalesce("observed_away_s", F.lit(float("nan"))).alias("value"),
        (F.col("outcome") == "Returned").alias("returned"),
        (F.col("reason") == "Rollout").alias("planned"),
    )
    return _counted(silences, SILENCE)


def longest_poll_counts(polls: DataFrame) -> DataFrame:
    """GROUP_KEY and COUNTED of each window's longest time between two polls, in milliseconds. Takes POLLS."""
    longest = polls.select(*GROUP_KEY, F.col("time_between_poll_max_ms").alias("value"), *_no_flags())
    return _counted(longest.where(F.col("value") > 0), LONGEST)


def record_counts(polls: DataFrame) -> DataFrame:
    """GROUP_KEY and COUNTED of that time over the records of the window's average poll. Takes POLLS."""
    several = polls.where((F.col("records_per_poll_avg") >= 1) & (F.col("time_between_poll_max_ms") > 0))
    per_record_ms = F.col("time_between_poll_max_ms") / F.col("records_per_poll_avg")
    return _counted(several.select(*GROUP_KEY, per_record_ms.alias("value"), *_no_flags()), RECORD)


def _no_flags() -> list[Column]:
    return [F.lit(None).cast("boolean").alias(name) for name in ("returned", "planned")]


def _counted(values: DataFrame, quantity: str) -> DataFrame:
    many = values.groupBy(*GROUP_KEY).count().where(F.col("count") > MOST_POINTS).drop("count")
    marked = values.join(F.broadcast(many.withColumn("many", F.lit(True))), on=list(GROUP_KEY), how="left")
    on_grid = F.col("many") & ~F.isnan("value")
    placed = marked.withColumn("step", F.when(on_grid, _step(GRID_FROM[quantity])))
    kept = placed.withColumn("value", F.when(F.col("step").isNull(), F.col("value")))
    counts = kept.groupBy(*GROUP_KEY, "value", "step", "returned", "planned").agg(F.count("*").alias("times"))
    return counts.select(*GROUP_KEY, F.lit(quantity).alias("quantity"), *COUNTED)


def _step(from_value: float) -> Column:
    logarithm = F.log(F.greatest(F.col("value"), F.lit(from_value)) / F.lit(from_value))
    return F.ceil(logarithm / F.lit(LOG_STEP) - F.lit(ON_THE_GRID)).cast("int")
