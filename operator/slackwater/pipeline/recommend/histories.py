"""One row a group: its newest settings and its counted history. Bounded, whatever the group has been through."""

from __future__ import annotations

from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from slackwater.pipeline.recommend.counting import (
    COUNTED,
    LONGEST,
    RECORD,
    SILENCE,
    longest_poll_counts,
    record_counts,
    silence_counts,
)
from slackwater.pipeline.schemas import GROUP_KEY

FEWEST_REBALANCES: Final = 5
"""Measured ones, below which their usual length is not taken from them."""


def histories_of(groups: DataFrame, restarts: DataFrame, polls: DataFrame, rebalances: DataFrame) -> DataFrame:
    """Groups (GROUPS, all their columns) with `silence`, `longest` and `record`, each an array of structs of COUNTED,
    `warm_handovers` and `rebalance_s`; null where there is nothing."""
    key = list(GROUP_KEY)
    parts = (silence_counts(restarts), longest_poll_counts(polls), record_counts(polls))
    counts = parts[0].unionByName(parts[1]).unionByName(parts[2])
    return (
        groups.join(_together(counts), on=key, how="left")
        .join(_warm_handovers(restarts), on=key, how="left")
        .join(_usual_rebalances(rebalances), on=key, how="left")
    )


def _together(counts: DataFrame) -> DataFrame:
    return counts.groupBy(*GROUP_KEY).agg(*(_points(quantity) for quantity in (SILENCE, LONGEST, RECORD)))


def _points(quantity: str) -> Column:
    """Sorted, so that the same counts are the same row in whatever order they came."""
    point = F.when(F.col("quantity") == quantity, F.struct(*COUNTED))
    return F.array_sort(F.collect_list(point)).alias(quantity)


def _warm_handovers(restarts: DataFrame) -> DataFrame:
    warm = restarts.where(F.col("mode") == "WarmHandover")
    return warm.groupBy(*GROUP_KEY).agg(F.count("*").alias("warm_handovers"))


def _usual_rebalances(rebalances: DataFrame) -> DataFrame:
    """The median length of those whose length is known, where there are a few."""
    lengths = rebalances.where(F.col("duration_s") > 0).groupBy(*GROUP_KEY)
    usual = lengths.agg(F.median("duration_s").alias("rebalance_s"), F.count("*").alias("measured"))
    return usual.where(F.col("measured") >= FEWEST_REBALANCES).drop("measured")
