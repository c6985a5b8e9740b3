"""What an audit found, in so many words and of bounded size, computed by Spark from the tables that were written."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from slackwater.pipeline.audit.layouts import KeyType
from slackwater.pipeline.tables import Table

SHOWN_GROUPS: Final = 20
SUMMED_UP: Final = (Table.AUDIT_GENERATIONS, Table.AUDIT_REBALANCES, Table.AUDIT_QUARANTINE)
"""The tables that `summarise` takes, in its order."""


@dataclass(frozen=True, slots=True)
class KeyTypeCount:
    """The records of one key type; `number` None for keys that are too short to have one."""

    number: int | None
    records: int
    tombstones: int

    @property
    def name(self) -> str:
        """In words; a type that came after Kafka 4.3 by its number."""
        if self.number is None:
            return "no key type"
        known = {each.value: each.name.replace("_", " ").lower() for each in KeyType}
        return known.get(self.number, f"key type {self.number}, not known here")


@dataclass(frozen=True, slots=True)
class GroupRow:
    """One group: the newest generation that stands in the topic, and how much is known of those before.

    `whole`: the history goes back to the group's beginning, without a gap.
    """

    group_id: str
    group_type: str
    assignor: str | None
    members: int
    generation: int
    generations: int
    rebalances: int
    oldest: datetime
    whole: bool


@dataclass(frozen=True, slots=True)
class Summary:
    """Everything that the command prints."""

    counts: tuple[KeyTypeCount, ...]
    oldest: datetime | None
    newest: datetime | None
    groups: int
    groups_whole: int
    generations: int
    rebalances: int
    quarantined: int
    shown: tuple[GroupRow, ...]
    """The groups with the most rebalances, at most SHOWN_GROUPS."""


def summarise(counted: DataFrame, generations: DataFrame, rebalances: DataFrame, quarantine: DataFrame) -> Summary:
    """`counted`: from `count_by_key_type`; the rest: tables of the lake."""
    counts = counted.collect()  # a row for each key type
    of_groups = _of_groups(generations, rebalances)
    total = of_groups.agg(
        F.count("*").alias("groups"),
        F.count_if("whole").alias("whole"),
        F.coalesce(F.sum("generations"), F.lit(0)).alias("generations"),
        F.coalesce(F.sum("rebalances"), F.lit(0)).alias("rebalances"),
    ).collect()[0]
    shown = of_groups.orderBy(F.desc("rebalances"), "group_id").limit(SHOWN_GROUPS).collect()
    return Summary(
        counts=tuple(
            KeyTypeCount(row["key_type"], row["records"], row["tombstones"])
            for row in sorted(counts, key=lambda row: (row["key_type"] is None, row["key_type"]))
        ),
        oldest=_time(min((row["oldest_ms"] for row in counts), default=None)),
        newest=_time(max((row["newest_ms"] for row in counts), default=None)),
        groups=total["groups"],
        groups_whole=total["whole"],
        generations=total["generations"],
        rebalances=total["rebalances"],
        quarantined=quarantine.count(),
        shown=tuple(GroupRow(**row.asDict()) for row in shown),
    )


def _of_groups(generations: DataFrame, rebalances: DataFrame) -> DataFrame:
    """A row for each group, with the columns of GroupRow."""
    newest = F.struct("source_offset", "group_type", "assignor", F.size("members").alias("members"), "generation")
    seen = generations.groupBy("group_id").agg(
        F.max(newest).alias("newest"),
        F.count("*").alias("generations"),
        F.min("at").alias("oldest"),
        F.bool_and(F.coalesce(F.col("unrecorded_before") == 0, F.lit(False))).alias("whole"),
    )
    found = rebalances.groupBy("group_id").agg(F.count("*").alias("rebalances"))
    return seen.join(found, on="group_id", how="left").select(
        "group_id",
        *(f"newest.{name}" for name in ("group_type", "assignor", "members", "generation")),
        "generations",
        F.coalesce("rebalances", F.lit(0)).alias("rebalances"),
        "oldest",
        "whole",
    )


def _time(at_ms: int | None) -> datetime | None:
    return None if at_ms is None else datetime.fromtimestamp(at_ms / 1000, UTC)
