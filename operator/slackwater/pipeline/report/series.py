"""The series behind the charts, summed up to slots of time: `DataFrame -> DataFrame`. Spark.

`picked` has a row for each group that gets charts: its key, `first_s` and `last_s`. Every series of a group has at most
SLOTS rows for each cause, however many events there were, so what is collected depends on the number of groups only.
"""

from __future__ import annotations

from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from slackwater.api.recommendation import MOST_CURVE_POINTS
from slackwater.pipeline.report.ranking import IN_KAFKA, KEY, moment_s, stopped_s

SLOTS: Final = 100
PICKED: Final = "cluster string, namespace string, name string, group_id string, first_s double, last_s double"


def restart_slots(restarts: DataFrame, picked: DataFrame) -> DataFrame:
    return _slots(_of(restarts, picked, KEY), stopped_s(), F.col("reason"), F.col("evicted"), F.col("silence_s"))


def rebalance_slots(rebalances: DataFrame, picked: DataFrame) -> DataFrame:
    """Of the operator's rebalances or of the audit's: the latter have the key that they share with `picked`."""
    key = KEY if "namespace" in rebalances.columns else IN_KAFKA
    return _slots(_of(rebalances, picked, key), moment_s("at"), F.col("cause"), F.lit(None), F.col("duration_s"))


def generations(rebalances: DataFrame, audited: DataFrame, picked: DataFrame) -> DataFrame:
    """The last generation of each slot, from Kafka's log where the audit read it, else as the operator saw them."""
    seen = _of(rebalances, picked, KEY).select(*_PLACED, _at("at"), F.col("generation_after").alias("generation"))
    logged = _of(audited, picked, IN_KAFKA).select(*_PLACED, _at("at"), "generation")
    told = logged.unionByName(seen.join(logged.select(KEY).distinct(), on=KEY, how="left_anti"))
    return (
        told.where(F.col("generation").isNotNull())
        .groupBy(*KEY, _slot(F.col("at_s")).alias("slot"))
        .agg(F.max("at_s").alias("at_s"), F.max_by("generation", F.struct("at_s", "generation")).alias("generation"))
        .orderBy("slot")
    )


def lag_slots(lag: DataFrame, picked: DataFrame) -> DataFrame:
    """Highest and mean lag of each slot; null where none of its observations knew the lag."""
    return (
        _of(lag, picked, KEY)
        .select(*_PLACED, _at("at"), "lag")
        .groupBy(*KEY, _slot(F.col("at_s")).alias("slot"))
        .agg(F.min("at_s").alias("at_s"), F.avg("lag").alias("mean"), F.max("lag").alias("highest"))
        .orderBy("slot")
    )


def curves(recommendations: DataFrame, picked: DataFrame) -> DataFrame:
    """Curves of the picked groups. A longer one than is agreed on is cut, so that its length stays bounded."""
    cut = F.struct(
        F.slice("curves.survival", 1, MOST_CURVE_POINTS).alias("survival"),
        F.slice("curves.cost", 1, MOST_CURVE_POINTS).alias("cost"),
    )
    return _of(recommendations, picked, KEY).where(F.col("curves").isNotNull()).select(*KEY, cut.alias("curves"))


_PLACED: Final = (*KEY, "first_s", "last_s")


def _of(rows: DataFrame, picked: DataFrame, key: list[str]) -> DataFrame:
    return rows.join(F.broadcast(picked), on=key, how="inner")


def _at(name: str) -> Column:
    return moment_s(name).alias("at_s")


def _slots(rows: DataFrame, at_s: Column, cause: Column, evicted: Column, lasted_s: Column) -> DataFrame:
    return (
        rows.select(
            *_PLACED, at_s.alias("at_s"), cause.alias("cause"), evicted.alias("evicted"), lasted_s.alias("lasted_s")
        )
        .groupBy(*KEY, "cause", _slot(F.col("at_s")).alias("slot"))
        .agg(
            F.min("at_s").alias("first_s"),
            F.max("at_s").alias("last_s"),
            F.count("*").alias("count"),
            F.count_if(F.col("evicted").cast("boolean")).alias("evicted"),
            F.max("lasted_s").alias("longest_s"),
        )
        .orderBy("cause", "slot")
    )


def _slot(at_s: Column) -> Column:
    """Which of the SLOTS equal parts of the group's span; the first where the span is a single moment."""
    span_s = F.col("last_s") - F.col("first_s")
    share = F.when(span_s > 0, (at_s - F.col("first_s")) / span_s).otherwise(F.lit(0.0))
    return F.least(F.greatest(F.floor(share * SLOTS), F.lit(0)), F.lit(SLOTS - 1))
