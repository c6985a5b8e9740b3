"""Restarts and poll windows, counted per group: columns only, and what comes out is bounded however much goes in.

A group with few of them keeps every value as it is. One with more than `MOST_POINTS` has them rounded up to the grid of
`statistics.history`, as the statistics themselves would. The rounding comes before the grouping, so that each worker
counts what it holds and only counts travel. All quantities are counted together: each table is read twice, once for how
much there is of each and once for the counts.
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
COUNTED: Final = {
    SILENCE: ("value", "step", "returned", "planned", "day", "rollout", "times"),
    LONGEST: ("value", "step", "times"),
    RECORD: ("value", "step", "times"),
}
"""What is told of each quantity's counts. Either `value` or `step` is null."""
DAYS_TOGETHER: Final = 28
"""Of a group that restarts too often for each to be told apart, whose restarts are held to have come together."""
_WHOSE: Final = (*GROUP_KEY, "quantity")


def counts_of(restarts: DataFrame, polls: DataFrame) -> DataFrame:
    """GROUP_KEY, `quantity`, and how many `times` there was each `value` or `step`, with `returned`, `planned`, the
    `day` (since 1970) and, of a rollout's restarts, the `rollout`.

    Takes RESTARTS and POLLS.
    """
    values = _silences(restarts).unionByName(_poll_times(polls), allowMissingColumns=True)
    many = values.groupBy(*_WHOSE).count().where(F.col("count") > MOST_POINTS).drop("count")
    marked = values.join(F.broadcast(many.withColumn("many", F.lit(True))), on=list(_WHOSE), how="left")
    placed = marked.withColumn("step", F.when(F.col("many") & ~F.isnan("value"), _step()))
    kept = placed.withColumn("value", F.when(F.col("step").isNull(), F.col("value")))
    block = F.col("day") - F.pmod(F.col("day"), F.lit(DAYS_TOGETHER))
    day = F.when(F.col("many"), block).otherwise(F.col("day"))
    coarse = kept.withColumns({"day": day, "rollout": F.when(F.col("many").isNull(), F.col("rollout"))})
    by = ("value", "step", "returned", "planned", "day", "rollout")
    return coarse.groupBy(*_WHOSE, *by).agg(F.count("*").alias("times"))


def _silences(restarts: DataFrame) -> DataFrame:
    """What was seen of members' absences, in seconds; no warm handovers (F37).

    An absence that nobody could measure is NaN: the statistics count it among those left out.
    """
    planned = F.col("reason") == "Rollout"
    began = F.coalesce("last_seen_at", "stopped_at", "told_at")
    return restarts.where(F.col("mode") != "WarmHandover").select(
        *GROUP_KEY,
        F.lit(SILENCE).alias("quantity"),
        F.coalesce("observed_away_s", F.lit(float("nan"))).alias("value"),
        (F.col("outcome") == "Returned").alias("returned"),
        planned.alias("planned"),
        F.unix_date(F.to_date(began)).alias("day"),
        F.when(planned, F.col("spec_generation")).alias("rollout"),
    )


def _poll_times(polls: DataFrame) -> DataFrame:
    """Each window's longest time between two polls, in milliseconds, and that over the records of its average poll."""
    longest_ms, records = F.col("time_between_poll_max_ms"), F.col("records_per_poll_avg")
    longest = F.struct(F.lit(LONGEST).alias("quantity"), longest_ms.alias("value"))
    per_record_ms = F.when(records >= 1, longest_ms / records)
    record = F.struct(F.lit(RECORD).alias("quantity"), per_record_ms.alias("value"))
    told = polls.where(longest_ms > 0).select(*GROUP_KEY, F.inline(F.array(longest, record)))
    return told.where(F.col("value").isNotNull())


def _step() -> Column:
    from_value = F.coalesce(*(F.when(F.col("quantity") == name, F.lit(each)) for name, each in GRID_FROM.items()))
    logarithm = F.log(F.greatest(F.col("value"), from_value) / from_value)
    return F.ceil(logarithm / F.lit(LOG_STEP) - F.lit(ON_THE_GRID)).cast("int")
