"""One event of each type, as they stand in a file."""

from __future__ import annotations

from typing import Any, Final

_ENVELOPE: Final[dict[str, Any]] = {
    "schema": 1,
    "id": "5d0c",
    "at": "2026-01-31T12:00:00.250Z",
    "cluster": "",
    "namespace": "shop",
    "name": "payments",
    "group_id": "payments",
}
_BODIES: Final[dict[str, dict[str, Any]]] = {
    "group_observed": {
        "state": "Stable",
        "group_type": "Classic",
        "assignor": "range",
        "members": 3,
        "partitions": 6,
        "unowned_partitions": 0,
        "lag": None,
        "replicas": 3,
        "members_per_pod": 1,
        "membership": "Static",
        "rollout_strategy": "InPlace",
        "library": "Java",
        "library_version": "4.0",
        "protocol": "Eager",
        "timeouts_mode": "Recommend",
        "session_timeout_ms": 45000,
        "heartbeat_interval_ms": 3000,
        "max_poll_interval_ms": 300000,
        "max_poll_records": None,
        "recover_within_ms": 60000,
        "needless_rebalances_per_month": 1.0,
        "session_min_ms": 6000,
        "session_max_ms": 1800000,
        "heartbeat_min_ms": None,
        "heartbeat_max_ms": None,
        "spec_generation": 2,
        "warm_up_ms": 60000,
        "warmed_up_s": 42.5,
        "warmed_up_after": "2026-01-31T11:00:00.000Z",
    },
    "member_restarted": {
        "episode": "9f3a",
        "instance_id": "payments-1",
        "pod": "payments-1",
        "ordinal": 1,
        "reason": "Rollout",
        "mode": "InPlace",
        "outcome": "Returned",
        "last_seen_at": "2026-01-31T11:59:50.000Z",
        "stopped_at": "2026-01-31T11:59:50.000Z",
        "started_at": "2026-01-31T11:59:53.000Z",
        "ready_at": None,
        "rejoined_at": "2026-01-31T12:00:00.125Z",
        "evicted": False,
        "partitions": 2,
        "spec_generation": 2,
    },
    "rebalance": {
        "started_at": None,
        "ended_at": "2026-01-31T12:00:00.125Z",
        "generation_before": 4,
        "generation_after": 5,
        "members_before": 3,
        "members_after": 4,
        "partitions_moved": 1,
        "cause": "Scale",
        "instance_ids": ["payments-3"],
    },
    "poll_observed": {
        "pod": "payments-1",
        "instance_id": "payments-1",
        "window_s": 60.0,
        "time_between_poll_avg_ms": 12.5,
        "time_between_poll_max_ms": 900.0,
        "records_per_poll_avg": 20.25,
        "poll_idle_ratio_avg": 0.75,
        "source": "Java",
    },
    "gate_held": {
        "reason": "GroupRebalancing",
        "message": "group is PreparingRebalance",
        "since": "2026-01-31T11:59:50.000Z",
        "until": None,
        "held_s": 10.25,
    },
    "settings_changed": {
        "how": "GroupConfig",
        "changes": [{"name": "consumer.session.timeout.ms", "before": None, "after": "50000"}],
        "spec_generation": 2,
    },
}

EXAMPLES: Final[dict[str, dict[str, Any]]] = {
    kind: {**_ENVELOPE, "type": kind, kind: body} for kind, body in _BODIES.items()
}
