"""A fleet's silver tables, made by DuckDB itself from hashes of row numbers: the same every time, no row in Python.

Half of all restarts and of all polls are of one group; the others share the rest evenly.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import duckdb

GROUPS: Final = 5_000
RESTARTS: Final = 1_000_000
POLLS: Final = 20_000_000
DAYS: Final = 60
AS_OF: Final = datetime(2026, 11, 1, tzinfo=UTC)
_PRELUDE: Final = """
CREATE MACRO share(i, salt) AS (hash(i, salt) % 1000000007) / 1000000007.0;
CREATE MACRO normal(i, salt) AS sqrt(-2 * ln(share(i, salt) + 1e-9)) * cos(2 * pi() * share(i, salt + 1000));
CREATE MACRO whose(i, groups) AS CASE WHEN i % 2 = 0 THEN 0 ELSE (hash(i, 1) % groups)::BIGINT END;
CREATE MACRO moment(seconds_ago) AS to_timestamp({as_of} - seconds_ago);
CREATE MACRO namespace_of(g) AS 'namespace-' || (g % 40);
CREATE MACRO name_of(g) AS 'group-' || g;
CREATE MACRO silence_of(i, g) AS round(exp(ln(4 + 20 * share(g, 3)) + 0.9 * normal(i, 4)), 3);
"""
_KEY: Final = "'cluster-1' AS cluster, namespace_of(g) AS namespace, name_of(g) AS name, name_of(g) AS group_id"
_GROUPS: Final = f"""
SELECT {_KEY}, moment({DAYS} * 86400.0) AS first_at, moment(0.0) AS last_at, {DAYS}::DOUBLE AS observed_days,
    moment(0.0) AS settings_at,
    'Stable' AS state, 'Classic' AS group_type, 'range' AS assignor, (2 + g % 12)::BIGINT AS members,
    (12 * (2 + g % 12))::BIGINT AS partitions, 0::BIGINT AS unowned_partitions, NULL::BIGINT AS lag,
    (2 + g % 12)::BIGINT AS replicas, 1::BIGINT AS members_per_pod, 'Static' AS membership,
    'InPlace' AS rollout_strategy, ['Java', 'Librdkafka', 'KafkaStreams'][1 + g % 3] AS library,
    NULL::VARCHAR AS library_version, ['Eager', 'Cooperative'][1 + g % 2] AS protocol, 'Recommend' AS timeouts_mode,
    45000::BIGINT AS session_timeout_ms, 3000::BIGINT AS heartbeat_interval_ms, 300000::BIGINT AS max_poll_interval_ms,
    500::BIGINT AS max_poll_records, NULL::BIGINT AS recover_within_ms, NULL::DOUBLE AS needless_rebalances_per_month,
    6000::BIGINT AS session_min_ms, 1800000::BIGINT AS session_max_ms, NULL::BIGINT AS heartbeat_min_ms,
    NULL::BIGINT AS heartbeat_max_ms, 1::BIGINT AS spec_generation, NULL::BIGINT AS warm_up_ms,
    NULL::DOUBLE AS warmed_up_s, NULL::TIMESTAMPTZ AS warmed_up_after
FROM (SELECT range AS g FROM range({{groups}}))
"""
_RESTARTS: Final = f"""
SELECT {_KEY}, 'episode-' || i AS episode, name_of(g) || '-0' AS instance_id, name_of(g) || '-0' AS pod,
    0::BIGINT AS ordinal, CASE WHEN i % 5 = 1 THEN 'Crash' ELSE 'Rollout' END AS reason, 'InPlace' AS mode,
    CASE WHEN gone THEN 'Away' ELSE 'Returned' END AS outcome, away_s > 45 AS evicted, 12::BIGINT AS partitions,
    (ago_s / 604800)::BIGINT AS spec_generation,
    moment(ago_s) AS last_seen_at, moment(ago_s - 0.5) AS stopped_at, NULL::TIMESTAMPTZ AS started_at,
    NULL::TIMESTAMPTZ AS ready_at, CASE WHEN NOT gone THEN moment(ago_s - away_s) END AS rejoined_at,
    moment(greatest(ago_s - away_s, 0)) AS told_at, CASE WHEN NOT gone THEN away_s END AS silence_s,
    CASE WHEN gone THEN ago_s ELSE away_s END AS observed_away_s
FROM (SELECT i, whose(i, {{groups}}) AS g, share(i, 2) * {DAYS} * 86400 AS ago_s, share(i, 5) < 0.005 AS gone,
        silence_of(i, whose(i, {{groups}})) AS away_s
    FROM (SELECT range AS i FROM range({{restarts}})))
"""
_POLLS: Final = f"""
SELECT {_KEY}, moment(share(i, 2) * {DAYS} * 86400) AS at, name_of(g) || '-0' AS pod, name_of(g) || '-0' AS instance_id,
    30::DOUBLE AS window_s, 10::DOUBLE AS time_between_poll_avg_ms,
    round(exp(5 + 0.8 * normal(i, 6))) + 1 AS time_between_poll_max_ms,
    50 + 400 * share(i, 7) AS records_per_poll_avg, 0.5::DOUBLE AS poll_idle_ratio_avg, 'Java' AS source
FROM (SELECT i, whose(i, {{groups}}) AS g FROM (SELECT range AS i FROM range({{polls}})))
"""
_REBALANCES: Final = f"""
SELECT {_KEY}, moment(ago_s) AS at, moment(ago_s + 3) AS started_at, moment(ago_s) AS ended_at,
    NULL::BIGINT AS generation_before,
    NULL::BIGINT AS generation_after, 6::BIGINT AS members_before, 6::BIGINT AS members_after,
    12::BIGINT AS partitions_moved, 'Restart' AS cause, []::VARCHAR[] AS instance_ids, 3::DOUBLE AS duration_s
FROM (SELECT i % {{groups}} AS g, share(i, 8) * {DAYS} * 86400 AS ago_s
    FROM (SELECT range AS i FROM range({{groups}} * 6)))
"""
_WARM_UPS: Final = f"""
SELECT {_KEY}, moment(ago_s) AS warmed_up_after, 20 + round(40 * share(i, 9)) AS warmed_up_s
FROM (SELECT i, i % {{groups}} AS g, share(i, 8) * {DAYS} * 86400 AS ago_s
    FROM (SELECT range AS i FROM range({{groups}} * 6)))
"""


@dataclass(frozen=True, slots=True)
class Size:
    groups: int
    restarts: int
    polls: int

    @property
    def rows(self) -> int:
        return self.restarts + self.polls


def size_at(scale: float) -> Size:
    return Size(*(max(1, round(scale * full)) for full in (GROUPS, RESTARTS, POLLS)))


def make_lake(lake: Path, size: Size) -> None:
    """Write the silver tables; deterministic but for the order of rows."""
    with duckdb.connect(config={"threads": 2, "memory_limit": "4GB"}) as duck:
        duck.execute("SET preserve_insertion_order = false")
        duck.execute("SET TimeZone = 'UTC'")
        duck.execute(_PRELUDE.format(as_of=AS_OF.timestamp()))
        tables = {
            "groups": _GROUPS,
            "restarts": _RESTARTS,
            "polls": _POLLS,
            "rebalances": _REBALANCES,
            "warm_ups": _WARM_UPS,
        }
        for name, query in tables.items():
            folder = lake / "silver" / name
            folder.parent.mkdir(parents=True, exist_ok=True)
            rows = query.format(groups=size.groups, restarts=size.restarts, polls=size.polls)
            duck.execute(f"COPY ({rows}) TO '{folder}' (FORMAT parquet, PER_THREAD_OUTPUT true)")
