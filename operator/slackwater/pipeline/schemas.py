"""The tables' columns, written out: what `select` in the transforms must give, and what readers may rely on.

Bodies of events have the fields of `slackwater.api.telemetry`, under the same names, and a test holds the two equal.
Spark writes every column of a file as nullable, so `nullable=False` says what the transforms keep, not what Parquet
enforces. Counts and milliseconds are longs, `_s` doubles (seconds), `_at` timestamps, `day` the date of `at` in UTC.
"""

from __future__ import annotations

from typing import Final

from pyspark.sql.types import (
    ArrayType,
    BooleanType,
    DataType,
    DateType,
    DoubleType,
    IntegerType,
    LongType,
    StringType,
    StructField,
    StructType,
    TimestampType,
)

TEXT: Final = StringType()
COUNT: Final = LongType()
NUMBER: Final = DoubleType()
MOMENT: Final = TimestampType()
TRUTH: Final = BooleanType()


def _needed(of: DataType, *names: str) -> list[StructField]:
    return [StructField(name, of, nullable=False) for name in names]


def _known_or_null(of: DataType, *names: str) -> list[StructField]:
    return [StructField(name, of, nullable=True) for name in names]


GROUP_OBSERVED: Final = StructType(
    [
        *_needed(TEXT, "state", "group_type", "assignor"),
        *_needed(COUNT, "members", "partitions", "unowned_partitions"),
        *_known_or_null(COUNT, "lag"),
        *_needed(COUNT, "replicas", "members_per_pod"),
        *_needed(TEXT, "membership", "rollout_strategy", "library"),
        *_known_or_null(TEXT, "library_version"),
        *_needed(TEXT, "protocol", "timeouts_mode"),
        *_known_or_null(COUNT, "session_timeout_ms", "heartbeat_interval_ms", "max_poll_interval_ms"),
        *_known_or_null(COUNT, "max_poll_records", "recover_within_ms"),
        *_known_or_null(NUMBER, "needless_rebalances_per_month"),
        *_known_or_null(COUNT, "session_min_ms", "session_max_ms", "heartbeat_min_ms", "heartbeat_max_ms"),
        *_needed(COUNT, "spec_generation"),
        *_known_or_null(COUNT, "warm_up_ms"),
        *_known_or_null(NUMBER, "warmed_up_s"),
        *_known_or_null(MOMENT, "warmed_up_after"),
    ]
)
MEMBER_RESTARTED: Final = StructType(
    [
        *_needed(TEXT, "episode"),
        *_known_or_null(TEXT, "instance_id"),
        *_needed(TEXT, "pod"),
        *_needed(COUNT, "ordinal"),
        *_needed(TEXT, "reason", "mode", "outcome"),
        *_known_or_null(MOMENT, "last_seen_at", "stopped_at", "started_at", "ready_at", "rejoined_at"),
        *_known_or_null(TRUTH, "evicted"),
        *_known_or_null(COUNT, "partitions", "spec_generation"),
    ]
)
REBALANCE: Final = StructType(
    [
        *_known_or_null(MOMENT, "started_at"),
        *_needed(MOMENT, "ended_at"),
        *_known_or_null(COUNT, "generation_before", "generation_after"),
        *_needed(COUNT, "members_before", "members_after", "partitions_moved"),
        *_needed(TEXT, "cause"),
        *_needed(ArrayType(TEXT, containsNull=False), "instance_ids"),
    ]
)
POLL_OBSERVED: Final = StructType(
    [
        *_needed(TEXT, "pod"),
        *_known_or_null(TEXT, "instance_id"),
        *_needed(NUMBER, "window_s"),
        *_known_or_null(NUMBER, "time_between_poll_avg_ms", "time_between_poll_max_ms"),
        *_known_or_null(NUMBER, "records_per_poll_avg", "poll_idle_ratio_avg"),
        *_needed(TEXT, "source"),
    ]
)
GATE_HELD: Final = StructType(
    [
        *_needed(TEXT, "reason", "message"),
        *_needed(MOMENT, "since"),
        *_known_or_null(MOMENT, "until"),
        *_needed(NUMBER, "held_s"),
    ]
)
SETTING_CHANGE: Final = StructType([*_needed(TEXT, "name"), *_known_or_null(TEXT, "before", "after")])
SETTINGS_CHANGED: Final = StructType(
    [
        *_needed(TEXT, "how"),
        *_needed(ArrayType(SETTING_CHANGE, containsNull=False), "changes"),
        *_needed(COUNT, "spec_generation"),
    ]
)
TURN_HELD: Final = StructType(
    [*_needed(TEXT, "by"), *_known_or_null(TEXT, "fleet", "name", "place"), *_needed(NUMBER, "held_s")]
)
TURN: Final = StructType(
    [
        *_needed(TEXT, "turn", "reason", "outcome"),
        *_needed(ArrayType(TEXT, containsNull=False), "fleets"),
        *_known_or_null(TEXT, "campaign"),
        *_needed(MOMENT, "asked_at"),
        *_known_or_null(MOMENT, "waits_since", "given_at", "ended_at"),
        *_known_or_null(NUMBER, "waited_s", "lasted_s"),
        *_known_or_null(COUNT, "coordinator"),
        *_needed(ArrayType(TURN_HELD, containsNull=False), "held_by"),
    ]
)

BODIES: Final = {
    "group_observed": GROUP_OBSERVED,
    "member_restarted": MEMBER_RESTARTED,
    "rebalance": REBALANCE,
    "poll_observed": POLL_OBSERVED,
    "gate_held": GATE_HELD,
    "settings_changed": SETTINGS_CHANGED,
    "turn": TURN,
}
"""The struct of each type of event. An event has that of its own type; the others are null."""

ENVELOPE: Final = StructType(
    [
        *_needed(COUNT, "schema"),
        *_needed(TEXT, "id"),
        *_needed(MOMENT, "at"),
        *_needed(TEXT, "cluster", "namespace", "name", "group_id"),
        *_needed(TEXT, "type"),
    ]
)
SOURCE: Final = StructType(
    [
        *_needed(TEXT, "source"),  # the topic, or the file
        *_known_or_null(IntegerType(), "source_partition"),  # null: a file
        *_known_or_null(LongType(), "source_offset"),
        *_known_or_null(MOMENT, "source_at"),  # the record's own time, or when the file was written last
    ]
)
RAW: Final = StructType([*_known_or_null(TEXT, "raw"), *SOURCE.fields])
"""What a source gives: one row a record, or a line. A record without a value has a null."""

EVENTS: Final = StructType(
    [
        *ENVELOPE.fields,
        *(StructField(name, body, nullable=True) for name, body in BODIES.items()),
        *SOURCE.fields,
        *_needed(DateType(), "day"),
    ]
)
QUARANTINE: Final = StructType(
    [
        *_known_or_null(TEXT, "raw"),
        *_needed(TEXT, "reason", "detail"),
        *SOURCE.fields,
        *_needed(MOMENT, "seen_at"),
        *_needed(DateType(), "day"),
    ]
)

GROUP_KEY: Final = ("cluster", "namespace", "name", "group_id")
"""What every silver table begins with."""
_OF_GROUP: Final = _needed(TEXT, *GROUP_KEY)

RESTARTS: Final = StructType(
    [
        *_OF_GROUP,
        *_needed(TEXT, "episode"),
        *_known_or_null(TEXT, "instance_id"),
        *_needed(TEXT, "pod"),
        *_needed(COUNT, "ordinal"),
        *_needed(TEXT, "reason", "mode", "outcome"),
        *_known_or_null(TRUTH, "evicted"),
        *_known_or_null(COUNT, "partitions", "spec_generation"),
        *_known_or_null(MOMENT, "last_seen_at", "stopped_at", "started_at", "ready_at", "rejoined_at"),
        *_needed(MOMENT, "told_at"),  # of the newest telling
        *_known_or_null(NUMBER, "silence_s", "observed_away_s"),
    ]
)
IMPOSSIBLE_RESTARTS: Final = StructType([*_OF_GROUP, *_needed(TEXT, "episode", "reason", "detail")])
GROUPS: Final = StructType(
    [
        *_OF_GROUP,
        *_needed(MOMENT, "first_at", "last_at"),
        *_needed(NUMBER, "observed_days"),
        *_known_or_null(MOMENT, "settings_at"),
        *(StructField(field.name, field.dataType, nullable=True) for field in GROUP_OBSERVED.fields),
    ]
)
POLLS: Final = StructType([*_OF_GROUP, *_needed(MOMENT, "at"), *POLL_OBSERVED.fields])
REBALANCES: Final = StructType(
    [*_OF_GROUP, *_needed(MOMENT, "at"), *REBALANCE.fields, *_known_or_null(NUMBER, "duration_s")]
)
HOLDS: Final = StructType([*_OF_GROUP, *_needed(MOMENT, "at"), *GATE_HELD.fields])
SETTINGS: Final = StructType(
    [
        *_OF_GROUP,
        *_needed(MOMENT, "at"),
        *_needed(TEXT, "how", "setting"),
        *_known_or_null(TEXT, "before", "after"),
        *_needed(COUNT, "spec_generation"),
    ]
)
TURNS: Final = StructType([*_OF_GROUP, *TURN.fields, *_needed(MOMENT, "told_at")])  # of the newest telling
LAG: Final = StructType([*_OF_GROUP, *_needed(MOMENT, "at"), *_known_or_null(COUNT, "lag"), *_needed(TEXT, "state")])
WARM_UPS: Final = StructType([*_OF_GROUP, *_needed(MOMENT, "warmed_up_after"), *_needed(NUMBER, "warmed_up_s")])
