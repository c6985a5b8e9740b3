"""Groups as the statistics get them."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import numpy as np

from slackwater.api.recommendation import MembershipKind
from slackwater.core.world.broker import Bounds
from slackwater.pipeline.statistics.arrays import Bools, Floats
from slackwater.pipeline.statistics.cost import RebalanceProtocol
from slackwater.pipeline.statistics.history import Absences
from slackwater.pipeline.statistics.settings import GroupIdentity, GroupSettings

CLASSIC = Bounds(6_000, 1_800_000)
CONSUMER = Bounds(45_000, 60_000)
PAYMENTS = GroupIdentity("c-1", "shop", "payments", "payments", datetime(2026, 1, 1, tzinfo=UTC), 3)
EAGER = GroupSettings(
    group=PAYMENTS,
    protocol=RebalanceProtocol.EAGER,
    membership=MembershipKind.STATIC,
    partitions=30,
    members=6,
    session_timeout_ms=45_000,
    heartbeat_interval_ms=3_000,
    max_poll_interval_ms=300_000,
    max_poll_records=500,
    rebalance_s=3.0,
)


def settings(**changes: Any) -> GroupSettings:
    return replace(EAGER, **changes)


def history(silence_s: Floats | list[float], days: float = 90.0, **more: Any) -> Absences:
    """All of them returned, unless `returned` says otherwise."""
    silences = np.asarray(silence_s, dtype=np.float64)
    returned: Bools = more.pop("returned", np.ones(len(silences), dtype=np.bool_))
    return Absences(silences, np.asarray(returned, dtype=np.bool_), days, **more)


def two_humps(count: int, seed: int = 1, second: float = 0.2) -> Floats:
    """Pods that start again in about 8 s, and now and then in about 90 s."""
    rng = np.random.default_rng(seed)
    middle = np.where(rng.random(count) < second, 90.0, 8.0)
    return np.asarray(middle * np.exp(rng.normal(0, 0.3, count)))
