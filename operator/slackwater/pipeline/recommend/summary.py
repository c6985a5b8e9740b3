"""What a run found, small enough to show: how many groups of each status, and where most is to be saved. Spark."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from slackwater.pipeline.recommend.found import SHOWN, Saving


def statuses_of(recommendations: DataFrame) -> dict[str, int]:
    rows = recommendations.groupBy("status").count().orderBy("status").collect()
    return {row["status"]: row["count"] for row in rows}


def savings_of(recommendations: DataFrame) -> tuple[Saving, ...]:
    """The `SHOWN` groups with most to save, of those that should change."""
    saving, session = F.col("saving_partition_s_per_month"), F.col("session_timeout_ms")
    rows = (
        recommendations.where(F.col("status") == "Recommended")
        .orderBy(F.desc(saving["value"]), "namespace", "name", "group_id")
        .select(
            "namespace",
            "name",
            "group_id",
            "restarts",
            session["current"].alias("today_ms"),
            session["target"].alias("target_ms"),
            saving["value"].alias("saving"),
            saving["lower"].alias("lower"),
            saving["upper"].alias("upper"),
        )
        .limit(SHOWN)
    )
    return tuple(Saving(**row.asDict()) for row in rows.collect())
