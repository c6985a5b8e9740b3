"""One row for each turn of a group, put together from all that was told of it, as its restarts are."""

from __future__ import annotations

from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from slackwater.pipeline.schemas import GROUP_KEY, TURN, TURNS
from slackwater.pipeline.silver.events import once

_LISTS: Final = ("fleets", "held_by")
"""Empty where it is not known."""


def turns_of(events: DataFrame) -> DataFrame:
    """TURNS: each field that of the newest telling in which it is known."""
    newest = [
        F.max_by(_field(name), F.struct(_is_known(name), "at", F.xxhash64("body"))).alias(name)
        for name in TURN.names
        if name != "turn"
    ]
    together = (
        once(events, "turn")
        .groupBy(*GROUP_KEY, _field("turn").alias("turn"))
        .agg(*newest, F.max("at").alias("told_at"))
    )
    return together.select(*TURNS.names)


def _is_known(name: str) -> Column:
    return F.size(_field(name)) > 0 if name in _LISTS else _field(name).isNotNull()


def _field(name: str) -> Column:
    return F.col("body")[name]
