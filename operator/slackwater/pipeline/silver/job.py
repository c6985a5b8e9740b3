"""All silver tables, from the lake's events: computed whole, so that running it again gives the same."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Final

from pyspark.sql import DataFrame, SparkSession

from slackwater.pipeline.progress import stage
from slackwater.pipeline.schemas import EVENTS
from slackwater.pipeline.silver.events import known_by, newest
from slackwater.pipeline.silver.groups import groups_of
from slackwater.pipeline.silver.happenings import holds_of, lag_of, polls_of, rebalances_of, settings_of, warm_ups_of
from slackwater.pipeline.silver.restarts import impossible_restarts_of, restarts_of
from slackwater.pipeline.silver.turns import turns_of
from slackwater.pipeline.tables import Table, overwrite, read

TRANSFORMS: Final[Mapping[Table, Callable[[DataFrame], DataFrame]]] = {
    Table.GROUPS: groups_of,
    Table.RESTARTS: restarts_of,
    Table.IMPOSSIBLE_RESTARTS: impossible_restarts_of,
    Table.REBALANCES: rebalances_of,
    Table.HOLDS: holds_of,
    Table.SETTINGS: settings_of,
    Table.TURNS: turns_of,
    Table.LAG: lag_of,
    Table.POLLS: polls_of,
    Table.WARM_UPS: warm_ups_of,
}
"""Each silver table from the events: EVENTS, with doubles in it."""


def silver_of(events: DataFrame, as_of: datetime | None) -> dict[Table, DataFrame]:
    """The silver tables of what was known at `as_of`; of all events when that is None. Nothing is computed yet."""
    known = known_by(events, as_of)
    return {table: transform(known) for table, transform in TRANSFORMS.items()}


def write_silver(spark: SparkSession, lake: str, as_of: datetime | None = None) -> datetime | None:
    """Write every silver table again; the moment as of which they are, None when there is no event.

    `as_of`: None means the newest event's moment, never the clock's. Raises LakeUnusable when there are no bronze
    tables.
    """
    events = read(spark, lake, Table.EVENTS, EVENTS)
    moment = as_of or newest(events)
    for table, rows in silver_of(events, moment).items():
        with stage(f"Write {table}", spark):
            overwrite(rows, lake, table)
    return moment
