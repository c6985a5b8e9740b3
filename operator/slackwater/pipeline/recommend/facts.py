"""A group's settings as the statistics want them, from its row of `silver/groups`. Pure.

What the group leaves to Kafka counts as Kafka's documented default, and the recommendation says so. Numbers that cannot
be (bounds in the wrong order, a timeout of nothing) are as good as unknown: they came from a broker or an operator that
we do not know.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from slackwater.api.client import Library
from slackwater.api.recommendation import MembershipKind
from slackwater.api.timeouts import (
    DEFAULT_HEARTBEAT_INTERVAL_MS,
    DEFAULT_MAX_POLL_INTERVAL_MS,
    DEFAULT_SESSION_TIMEOUT_MS,
    LONGEST_TIMEOUT_MS,
    Objective,
)
from slackwater.core.world.broker import Bounds
from slackwater.pipeline.statistics.cost import RebalanceProtocol
from slackwater.pipeline.statistics.settings import GroupIdentity, GroupSettings
from slackwater.pipeline.statistics.warming import NOT_KNOWN, WarmUp, spread_of

CLASSIC_SESSION: Final = Bounds(6_000, 1_800_000)
CONSUMER_SESSION: Final = Bounds(45_000, 60_000)
CONSUMER_HEARTBEAT: Final = Bounds(5_000, 15_000)
"""The brokers' own defaults (F22, F23)."""
DEFAULT_CONSUMER_HEARTBEAT_MS: Final = 5_000
USUAL_REBALANCE_S: Final = 3.0
REBALANCE_WITHIN_S: Final = (0.5, 30.0)
"""What a measured rebalance is held within: R is how long partitions are idle, not how long a rollout lasts."""


@dataclass(frozen=True, slots=True)
class GroupFacts:
    """`assumed`: what was not known, as (field of the recommendation or "", words)."""

    settings: GroupSettings
    bounds: Bounds
    objective: Objective
    assumed: tuple[tuple[str, str], ...] = ()

    @property
    def assumption(self) -> str:
        """A sentence to add to why, with a space before it; empty where all was known."""
        words = [text for _, text in self.assumed]
        return f" Not told, so Kafka's defaults were taken: {', '.join(words)}." if words else ""

    def is_assumed(self, name: str) -> bool:
        return any(field == name for field, _ in self.assumed)


def identity_of(row: Mapping[str, Any], as_of: datetime) -> GroupIdentity:
    names = (row["cluster"], row["namespace"], row["name"], row["group_id"])
    return GroupIdentity(*names, as_of, row["spec_generation"])


def facts_of(row: Mapping[str, Any], as_of: datetime) -> GroupFacts | None:
    """None where the group's settings were never seen."""
    if row["settings_at"] is None or not row["partitions"] or not row["members"]:
        return None
    is_consumer = row["protocol"] == "Consumer" or (row["protocol"] == "" and row["group_type"] == "Consumer")
    told = _Told(row)
    bounds = told.bounds("session", CONSUMER_SESSION if is_consumer else CLASSIC_SESSION)
    session_ms = told.timeout("session_timeout_ms", DEFAULT_SESSION_TIMEOUT_MS)
    usual_heartbeat_ms = DEFAULT_CONSUMER_HEARTBEAT_MS if is_consumer else DEFAULT_HEARTBEAT_INTERVAL_MS
    warm_up = _warm_up(row)
    settings = GroupSettings(
        group=identity_of(row, as_of),
        protocol=told.protocol(is_consumer),
        membership=_membership(row),
        partitions=row["partitions"],
        members=row["members"],
        session_timeout_ms=session_ms,
        heartbeat_interval_ms=told.timeout("heartbeat_interval_ms", min(usual_heartbeat_ms, max(1, session_ms // 3))),
        max_poll_interval_ms=told.timeout("max_poll_interval_ms", DEFAULT_MAX_POLL_INTERVAL_MS),
        max_poll_records=row["max_poll_records"] or None,
        rebalance_s=_rebalance_s(row["rebalance_s"]),
        can_be_static=row["library"] != Library.OTHER,
        warm_up_s=warm_up.seconds,
        warm_up_spread=warm_up.spread,
        heartbeat_bounds=told.bounds("heartbeat", CONSUMER_HEARTBEAT) if is_consumer else None,
    )
    objective = Objective(
        recover_within_ms=row["recover_within_ms"] or None,
        needless_rebalances_per_month=row["needless_rebalances_per_month"],
    )
    return GroupFacts(settings, bounds, objective, tuple(told.assumed))


class _Told:
    """Reads settings, and keeps in mind which were not told."""

    def __init__(self, row: Mapping[str, Any]) -> None:
        self._row = row
        self.assumed: list[tuple[str, str]] = []

    def timeout(self, name: str, default_ms: int) -> int:
        value = self._row[name]
        if value and value <= LONGEST_TIMEOUT_MS:
            return int(value)
        words = name.removesuffix("_ms").replace("_", " ")
        self.assumed.append((name, f"{words} {default_ms / 1000:g} s"))
        return default_ms

    def bounds(self, name: str, default: Bounds) -> Bounds:
        least, most = self._row[f"{name}_min_ms"], self._row[f"{name}_max_ms"]
        if least and most and least <= most <= LONGEST_TIMEOUT_MS:
            return Bounds(least, most)
        words = f"brokers' bounds of the {name} {default.min_ms / 1000:g} s to {default.max_ms / 1000:g} s"
        self.assumed.append(("", words))
        return default

    def protocol(self, is_consumer: bool) -> RebalanceProtocol:
        if is_consumer:
            return RebalanceProtocol.CONSUMER
        if self._row["protocol"] == "":
            self.assumed.append(("", "eager rebalances"))
            return RebalanceProtocol.EAGER
        return RebalanceProtocol(self._row["protocol"])


def _membership(row: Mapping[str, Any]) -> MembershipKind:
    if row["membership"] == "Dynamic":
        return MembershipKind.DYNAMIC
    is_warm = row["rollout_strategy"] == "WarmHandover"
    return MembershipKind.WARM_HANDOVER if is_warm else MembershipKind.STATIC


def _warm_up(row: Mapping[str, Any]) -> WarmUp:
    """What the spec says; else what was measured."""
    if row["warm_up_ms"] is not None:
        return WarmUp(row["warm_up_ms"] / 1000, 0.0)
    measured = row["warmed_up"]
    if measured is None:
        return NOT_KNOWN
    return spread_of(measured["first_s"], measured["median_s"], measured["third_s"], measured["count"])


def _rebalance_s(measured_s: float | None) -> float:
    if measured_s is None:
        return USUAL_REBALANCE_S
    shortest_s, longest_s = REBALANCE_WITHIN_S
    return min(max(measured_s, shortest_s), longest_s)
