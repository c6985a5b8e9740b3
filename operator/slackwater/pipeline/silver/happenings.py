"""The tables that need little more than their events, each once: polls, rebalances, holds, settings, lag."""

from __future__ import annotations

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from slackwater.pipeline.schemas import GROUP_KEY, HOLDS, LAG, POLLS, REBALANCES, SETTINGS, WARM_UPS
from slackwater.pipeline.silver.events import once


def polls_of(events: DataFrame) -> DataFrame:
    """POLLS."""
    return _opened(events, "poll_observed").select(*POLLS.names)


def rebalances_of(events: DataFrame) -> DataFrame:
    """REBALANCES. `duration_s` is null where nobody saw it begin."""
    duration_s = F.col("ended_at").cast("double") - F.col("started_at").cast("double")
    return _opened(events, "rebalance").withColumn("duration_s", duration_s).select(*REBALANCES.names)


def holds_of(events: DataFrame) -> DataFrame:
    """HOLDS. A hold is told when it begins and when it ends: the newest telling is the row."""
    same = Window.partitionBy(*GROUP_KEY, "reason", "since")
    newest_first = same.orderBy(F.col("at").desc(), F.col("held_s").desc(), "message", F.col("until").desc_nulls_last())
    holds = _opened(events, "gate_held").withColumn("telling", F.row_number().over(newest_first))
    return holds.where(F.col("telling") == 1).select(*HOLDS.names)


def settings_of(events: DataFrame) -> DataFrame:
    """SETTINGS: one row for each setting that changed."""
    changes = _opened(events, "settings_changed").withColumn("change", F.explode("changes"))
    opened = changes.withColumn("setting", F.col("change.name")).select("*", "change.before", "change.after")
    return opened.select(*SETTINGS.names)


def lag_of(events: DataFrame) -> DataFrame:
    """LAG: how far behind a group was, in records, whenever it was told."""
    return _opened(events, "group_observed").select(*LAG.names)


def warm_ups_of(events: DataFrame) -> DataFrame:
    """WARM_UPS: how long each rebalance's partitions took to warm up. It is told again and again, and counts once."""
    told = _opened(events, "group_observed").where(F.col("warmed_up_after").isNotNull())
    longest = F.max("warmed_up_s").alias("warmed_up_s")
    measured = told.where(F.col("warmed_up_s").isNotNull()).groupBy(*GROUP_KEY, "warmed_up_after").agg(longest)
    return measured.select(*WARM_UPS.names)


def _opened(events: DataFrame, kind: str) -> DataFrame:
    return once(events, kind).select(*GROUP_KEY, "at", "body.*")
