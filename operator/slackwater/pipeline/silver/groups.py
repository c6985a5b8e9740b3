"""One row for each group: how it was when it was last seen, and how long it has been watched."""

from __future__ import annotations

from typing import Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from slackwater.pipeline.schemas import GROUP_KEY, GROUPS
from slackwater.pipeline.silver.events import once

_DAY_S: Final = 86_400.0


def groups_of(events: DataFrame) -> DataFrame:
    """GROUPS. Settings, and `settings_at`, are null where the group itself was never observed."""
    watched = events.groupBy(*GROUP_KEY).agg(F.min("at").alias("first_at"), F.max("at").alias("last_at"))
    days = (F.col("last_at").cast("double") - F.col("first_at").cast("double")) / _DAY_S
    newest = F.max_by(F.struct("at", "body"), F.struct("at", F.xxhash64("body"))).alias("newest")
    settings = once(events, "group_observed").groupBy(*GROUP_KEY).agg(newest)
    settings = settings.select(*GROUP_KEY, F.col("newest.at").alias("settings_at"), "newest.body.*")
    return (
        watched.withColumn("observed_days", days).join(settings, on=list(GROUP_KEY), how="left").select(*GROUPS.names)
    )
