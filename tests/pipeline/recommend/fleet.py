"""A small fleet, made up of silver rows: every kind of group that the job has to tell apart."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from slackwater.pipeline import schemas
from slackwater.pipeline.recommend.job import Silver

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.types import StructType

AS_OF: Final = datetime(2026, 11, 1, tzinfo=UTC)
DAYS: Final = 60.0
Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Rows:
    """Of each table; a group's rows stand together."""

    groups: tuple[Row, ...]
    restarts: tuple[Row, ...] = ()
    polls: tuple[Row, ...] = ()
    rebalances: tuple[Row, ...] = field(default=())
    warm_ups: tuple[Row, ...] = field(default=())

    def silver(self, spark: SparkSession) -> Silver:
        def table(rows: Iterable[Row], schema: StructType) -> Any:
            return spark.createDataFrame([[row.get(name) for name in schema.names] for row in rows], schema)

        return Silver(
            table(self.groups, schemas.GROUPS),
            table(self.restarts, schemas.RESTARTS),
            table(self.polls, schemas.POLLS),
            table(self.rebalances, schemas.REBALANCES),
            table(self.warm_ups, schemas.WARM_UPS),
        )


def key(name: str) -> Row:
    return {"cluster": "lkc-7", "namespace": "shop", "name": name, "group_id": f"{name}-id"}


def group(name: str, **others: Any) -> Row:
    """A group of six static members and sixty partitions, all of whose settings were told."""
    return {
        **key(name),
        "first_at": AS_OF - timedelta(days=DAYS),
        "last_at": AS_OF,
        "observed_days": DAYS,
        "settings_at": AS_OF,
        "state": "Stable",
        "group_type": "Classic",
        "assignor": "range",
        "members": 6,
        "partitions": 60,
        "unowned_partitions": 0,
        "replicas": 6,
        "members_per_pod": 1,
        "membership": "Static",
        "rollout_strategy": "InPlace",
        "library": "Java",
        "protocol": "Eager",
        "timeouts_mode": "Recommend",
        "session_timeout_ms": 45_000,
        "heartbeat_interval_ms": 3_000,
        "max_poll_interval_ms": 300_000,
        "max_poll_records": 500,
        "session_min_ms": 6_000,
        "session_max_ms": 1_800_000,
        "spec_generation": 3,
        **others,
    }


def restart(name: str, number: int, silence_s: float | None, **others: Any) -> Row:
    """One that returned after `silence_s`, in place, by a rollout."""
    return {
        **key(name),
        "episode": f"{name}-{number}",
        "instance_id": f"{name}-0",
        "pod": f"{name}-0",
        "ordinal": 0,
        "reason": "Rollout",
        "mode": "InPlace",
        "outcome": "Returned",
        "told_at": AS_OF - timedelta(days=1),
        "silence_s": silence_s,
        "observed_away_s": silence_s,
        **others,
    }


def restarts(name: str, silences_s: Iterable[float], **others: Any) -> tuple[Row, ...]:
    return tuple(restart(name, number, float(each), **others) for number, each in enumerate(silences_s))


def polls(name: str, longest_ms: Iterable[float], records: float | None = 100.0) -> tuple[Row, ...]:
    return tuple(
        {
            **key(name),
            "at": AS_OF - timedelta(minutes=number),
            "pod": f"{name}-0",
            "window_s": 30.0,
            "time_between_poll_avg_ms": 10.0,
            "time_between_poll_max_ms": float(each),
            "records_per_poll_avg": records,
            "source": "Java",
        }
        for number, each in enumerate(longest_ms)
    )


def heavy(count: int, seed: int = 0) -> np.typing.NDArray[np.float64]:
    """Silences with a long tail, to the millisecond."""
    return np.round(np.random.default_rng(seed).lognormal(np.log(12.0), 1.0, count), 3)
