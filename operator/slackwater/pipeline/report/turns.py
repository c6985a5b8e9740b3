"""Who waited for a turn, for how long, and at what: sums of bounded length, `DataFrame -> DataFrame`. Spark."""

from __future__ import annotations

from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from slackwater.api.telemetry.words import TurnOutcome
from slackwater.pipeline.report.ranking import KEY, moment_s
from slackwater.pipeline.report.series import SLOTS

MOST_HELD: Final = 50
"""Budgets, or places of them, that come back: the longest waits stand at few."""


def totals(turns: DataFrame) -> DataFrame:
    """One row; `first_s` is null where there is no turn."""
    given, waited_s = F.col("given_at").isNotNull(), F.when(F.col("given_at").isNotNull(), F.col("waited_s"))
    began_s = F.least(moment_s("asked_at"), moment_s("waits_since"), moment_s("given_at"))
    return turns.agg(
        F.min(began_s).alias("first_s"),
        F.max(F.greatest(moment_s("told_at"), moment_s("ended_at"))).alias("last_s"),
        F.count_if(given).alias("given"),
        F.count_if(_is(TurnOutcome.WAITS)).alias("waiting"),
        F.count_if(_is(TurnOutcome.GAVE_WAY)).alias("gave_way"),
        F.percentile(waited_s, 0.5).alias("median_s"),
        F.percentile(waited_s, 0.9).alias("p90_s"),
        F.max(waited_s).alias("longest_s"),
    )


def held_by_budget(turns: DataFrame) -> DataFrame:
    """What held groups back, wherever that was: the longest first."""
    return _held(turns, F.lit(""))


def held_by_place(turns: DataFrame) -> DataFrame:
    """What held groups back, each place apart: the bottlenecks are the first."""
    return _held(turns, F.coalesce("held.place", F.lit("")))


def slots(turns: DataFrame, first_s: float, last_s: float) -> DataFrame:
    """How long those waited whose turns were given in each slot of that span, in order of time."""
    at_s, span_s = moment_s("given_at"), max(last_s - first_s, 1.0)
    slot = F.least(F.greatest(F.floor((at_s - first_s) / span_s * SLOTS), F.lit(0)), F.lit(SLOTS - 1))
    return (
        turns.where(F.col("given_at").isNotNull())
        .groupBy(slot.alias("slot"))
        .agg(
            F.min(at_s).alias("at_s"),
            F.count("*").alias("given"),
            F.percentile("waited_s", 0.5).alias("median_s"),
            F.max("waited_s").alias("longest_s"),
        )
        .orderBy("slot")
    )


def _held(turns: DataFrame, place: Column) -> DataFrame:
    at = turns.select(*KEY, "turn", F.explode("held_by").alias("held"))
    return (
        at.groupBy("held.fleet", "held.by", "held.name", place.alias("place"))
        .agg(
            F.sum("held.held_s").alias("held_s"),
            F.count_distinct("turn").alias("turns"),
            F.count_distinct(*KEY).alias("groups"),
        )
        .orderBy(F.desc("held_s"), "fleet", "by", "name", "place")
        .limit(MOST_HELD)
    )


def _is(outcome: TurnOutcome) -> Column:
    return F.col("outcome") == outcome.value
