"""One row a group: its newest settings and its counted history. Bounded, whatever the group has been through."""

from __future__ import annotations

from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from slackwater.pipeline.recommend.counting import COUNTED, counts_of
from slackwater.pipeline.schemas import GROUP_KEY

FEWEST_REBALANCES: Final = 5
"""Measured ones, below which their usual length is not taken from them."""


def histories_of(
    groups: DataFrame,
    restarts: DataFrame,
    polls: DataFrame,
    rebalances: DataFrame,
    warm_ups: DataFrame,
    partitions: int,
) -> DataFrame:
    """Groups (GROUPS, all their columns) with `silence`, `longest` and `record`, each an array of structs of COUNTED,
    `rebalance_s`, and `warmed_up`, the quartiles and the number of measured warm-ups; null where there is nothing.
    Spread over so many partitions by their groups."""
    key = list(GROUP_KEY)
    known = groups.join(F.broadcast(_usual_rebalances(rebalances)), on=key, how="left")
    known = known.join(F.broadcast(_warmed_up(warm_ups)), on=key, how="left")
    # Counts travel once, and small: they meet their group, and one another, where the group's history will lie.
    counts = counts_of(restarts, polls).repartition(partitions, *key)
    return known.repartition(partitions, *key).join(_together(counts), on=key, how="left")


def _together(counts: DataFrame) -> DataFrame:
    return counts.groupBy(*GROUP_KEY).agg(*map(_points, COUNTED))


def _points(quantity: str) -> Column:
    """Sorted, so that the same counts are the same row in whatever order they came.

    `sort_array`, not `array_sort`: that one calls an interpreted comparison for every pair.
    """
    point = F.when(F.col("quantity") == quantity, F.struct(*COUNTED[quantity]))
    return F.sort_array(F.collect_list(point)).alias(quantity)


def _usual_rebalances(rebalances: DataFrame) -> DataFrame:
    """The median length of those whose length is known, where there are a few."""
    lengths = rebalances.where(F.col("duration_s") > 0).groupBy(*GROUP_KEY)
    usual = lengths.agg(F.median("duration_s").alias("rebalance_s"), F.count("*").alias("measured"))
    return usual.where(F.col("measured") >= FEWEST_REBALANCES).drop("measured")


def _warmed_up(warm_ups: DataFrame) -> DataFrame:
    seconds = F.col("warmed_up_s")
    first, median, third = (F.percentile(seconds, share) for share in (0.25, 0.5, 0.75))
    of_all = F.struct(
        first.alias("first_s"), median.alias("median_s"), third.alias("third_s"), F.count("*").alias("count")
    )
    return warm_ups.groupBy(*GROUP_KEY).agg(of_all.alias("warmed_up"))
