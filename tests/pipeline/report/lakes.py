"""Small lakes of Parquet for the report to read, and what is in them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from pyspark.sql import SparkSession
from pyspark.sql.types import StructType

from slackwater.api.recommendation import Curves, Recommendation
from slackwater.pipeline import schemas
from slackwater.pipeline.report.columns import AUDIT_GENERATIONS, AUDIT_REBALANCES, QUARANTINE, RECOMMENDATIONS
from slackwater.pipeline.report.model import Key
from slackwater.pipeline.tables import Table, overwrite
from tests.pipeline.report import samples

SCHEMAS: Final[Mapping[Table, StructType]] = {
    Table.RECOMMENDATIONS: RECOMMENDATIONS,
    Table.EVENTS: schemas.EVENTS,
    Table.GROUPS: schemas.GROUPS,
    Table.RESTARTS: schemas.RESTARTS,
    Table.REBALANCES: schemas.REBALANCES,
    Table.LAG: schemas.LAG,
    Table.QUARANTINE: QUARANTINE,
    Table.AUDIT_QUARANTINE: QUARANTINE,
    Table.AUDIT_REBALANCES: AUDIT_REBALANCES,
    Table.AUDIT_GENERATIONS: AUDIT_GENERATIONS,
}
START: Final = datetime.fromtimestamp(samples.FIRST_S, UTC)

Row = dict[str, Any]


def write(spark: SparkSession, lake: str, table: Table, rows: Iterable[Row]) -> None:
    """Rows as mappings; columns that a row does not name are null."""
    names = SCHEMAS[table].names
    content = [tuple(row.get(name) for name in names) for row in rows]
    overwrite(spark.createDataFrame(content, SCHEMAS[table]), lake, table)


def of(key: Key) -> Row:
    return {"cluster": key.cluster, "namespace": key.namespace, "name": key.name, "group_id": key.group_id}


def advice(recommendation: Recommendation, curves: bool = True) -> Row:
    shapes = Curves(survival=samples.survival(), cost=samples.cost()) if curves else None
    whole = recommendation.model_copy(update={"curves": shapes}).model_dump(mode="json", by_alias=True)
    return {**whole, "as_of": recommendation.as_of}


def known(key: Key, last: datetime = samples.NOW, **facts: Any) -> Row:
    return {
        **of(key), "first_at": START, "last_at": last, "observed_days": 60.0, "settings_at": START,
        "members": 6, "partitions": 24, "protocol": "Eager", "assignor": "range", "library": "Java",
        "library_version": "4.3", **facts,
    }  # fmt: skip


def restart(key: Key, day: float, reason: str = "Rollout", evicted: bool = False, silence_s: float = 20.0) -> Row:
    stopped = START + timedelta(days=day)
    return {
        **of(key), "episode": f"{key.name}/{day}", "pod": "p-0", "ordinal": 0, "reason": reason, "mode": "InPlace",
        "outcome": "Returned", "evicted": evicted, "last_seen_at": stopped, "stopped_at": stopped,
        "told_at": stopped + timedelta(seconds=silence_s), "silence_s": silence_s, "observed_away_s": silence_s,
    }  # fmt: skip


def rebalance(key: Key, day: float, generation: int | None, cause: str = "Restart", duration_s: float = 3.0) -> Row:
    ended = START + timedelta(days=day)
    return {
        **of(key), "at": ended, "ended_at": ended, "generation_after": generation, "members_before": 6,
        "members_after": 6, "partitions_moved": 4, "cause": cause, "instance_ids": [], "duration_s": duration_s,
    }  # fmt: skip


def lag(key: Key, day: float, records: int | None) -> Row:
    return {**of(key), "at": START + timedelta(days=day), "lag": records, "state": "Stable"}


def audited(group_id: str, day: float, cause: str = "MemberLeft", cluster: str = "lkc-7") -> Row:
    return {"cluster": cluster, "group_id": group_id, "at": START + timedelta(days=day), "cause": cause}
