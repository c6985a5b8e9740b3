"""Small lakes of Parquet for the report to read, and what is in them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from pyspark.sql import SparkSession
from pyspark.sql.types import StructType

from slackwater.api.recommendation import Curves, Recommendation
from slackwater.pipeline import schemas
from slackwater.pipeline.gold import RECOMMENDATION
from slackwater.pipeline.report.columns import AUDIT_GENERATIONS, AUDIT_REBALANCES, QUARANTINE
from slackwater.pipeline.report.model import Key
from slackwater.pipeline.tables import Table, overwrite
from tests.pipeline.report import samples

SCHEMAS: Final[Mapping[Table, StructType]] = {
    Table.RECOMMENDATIONS: RECOMMENDATION,
    Table.EVENTS: schemas.EVENTS,
    Table.QUARANTINE: QUARANTINE,
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


def event(key: Key, kind: str, day: float, body: Row) -> Row:
    """An event as ingest writes it; the id says all that tells it from others."""
    at = START + timedelta(days=day)
    return {
        "schema": 1, "id": f"{key.title}/{kind}/{day}", "type": kind, "at": at, **of(key), kind: body,
        "source": "made-up", "day": at.date(),
    }  # fmt: skip


def observed(key: Key, day: float, lag: int | None = 0) -> Row:
    body = {
        "state": "Stable", "group_type": "Classic", "assignor": "range", "members": 6, "partitions": 24,
        "unowned_partitions": 0, "lag": lag, "replicas": 6, "members_per_pod": 1, "membership": "Static",
        "rollout_strategy": "InPlace", "library": "Java", "library_version": "4.3", "protocol": "Eager",
        "timeouts_mode": "Off", "session_timeout_ms": 45_000, "spec_generation": 3,
    }  # fmt: skip
    return event(key, "group_observed", day, body)


def restart(key: Key, day: float, reason: str = "Rollout", evicted: bool = False, silence_s: float = 20.0) -> Row:
    stopped = START + timedelta(days=day)
    rejoined = stopped + timedelta(seconds=silence_s)
    body = {
        "episode": f"{key.name}/{day}", "instance_id": f"{key.name}-0", "pod": f"{key.name}-0", "ordinal": 0,
        "reason": reason, "mode": "InPlace", "outcome": "Returned", "last_seen_at": stopped, "stopped_at": stopped,
        "rejoined_at": rejoined, "evicted": evicted, "partitions": 4,
    }  # fmt: skip
    return event(key, "member_restarted", day, body)


def rebalance(key: Key, day: float, generation: int | None, cause: str = "Restart", duration_s: float = 3.0) -> Row:
    ended = START + timedelta(days=day)
    body: Row = {
        "started_at": ended - timedelta(seconds=duration_s), "ended_at": ended, "generation_after": generation,
        "members_before": 6, "members_after": 6, "partitions_moved": 4, "cause": cause, "instance_ids": [],
    }  # fmt: skip
    return event(key, "rebalance", day, body)


def turn(key: Key, day: float, waited_s: float = 60.0, place: str = "lkc-7/1", outcome: str = "Done") -> Row:
    """One that stood two thirds of its wait at a coordinator, the rest at a closed window."""
    asked = START + timedelta(days=day)
    given = None if outcome == "Waits" else asked + timedelta(seconds=waited_s)
    budget = {"by": "Budget", "fleet": "slackwater/platform", "name": "coordinators", "place": place}
    window = {"by": "Window", "fleet": "slackwater/platform", "name": None, "place": None}
    body: Row = {
        "turn": f"{key.name}/{day}", "reason": "Rollout", "outcome": outcome, "fleets": ["slackwater/platform"],
        "asked_at": asked, "waits_since": asked, "given_at": given, "waited_s": waited_s,
        "held_by": [{**budget, "held_s": waited_s * 2 / 3}, {**window, "held_s": waited_s / 3}],
    }  # fmt: skip
    return event(key, "turn", day, body)


def audited(group_id: str, day: float, cause: str = "MemberLeft", cluster: str = "lkc-7") -> Row:
    return {"cluster": cluster, "group_id": group_id, "at": START + timedelta(days=day), "cause": cause}
