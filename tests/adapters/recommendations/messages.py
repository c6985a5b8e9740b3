"""Recommendations as they travel."""

from __future__ import annotations

from typing import Any

from slackwater.api.recommendation import Recommendation, RecommendationStatus, RecommendedSetting


def setting(lower: int, target: int, upper: int, why: str = "") -> RecommendedSetting:
    return RecommendedSetting(current=None, lower=lower, target=target, upper=upper, why=why)


def recommendation(name: str, **changes: Any) -> Recommendation:
    usual: dict[str, Any] = {
        "cluster": "c",
        "namespace": "shop",
        "name": name,
        "group_id": name,
        "as_of": "2026-11-20T12:00:00Z",
        "spec_generation": 3,
        "restarts": 120,
        "observed_days": 30,
        "status": RecommendationStatus.RECOMMENDED,
        "why": "restarts take 12 s",
        "session_timeout_ms": setting(18_000, 20_000, 22_000, "restarts take 12 s"),
        "heartbeat_interval_ms": setting(1_000, 6_000, 6_666),
        "max_poll_records": setting(80, 100, 120),
    }
    return Recommendation(**(usual | changes))
