"""From rows of Spark, as mappings, to the model: names of columns are known here and in `fleet` only. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from slackwater.pipeline.report.model import (
    Advice,
    CostPoint,
    GenerationPoint,
    Group,
    History,
    Interval,
    Key,
    Kind,
    LagSlot,
    Membership,
    Setting,
    Slot,
    Standing,
    SurvivalPoint,
    Totals,
)

SETTINGS: Final = ("session_timeout_ms", "heartbeat_interval_ms", "max_poll_interval_ms", "max_poll_records")
"""The columns of a recommendation that hold {current, lower, target, upper, why}."""

Fields = Mapping[str, Any]
"""One row as `Row.asDict(recursive=True)` gives it."""


def key_of(row: Fields) -> Key:
    return Key(row["cluster"] or "", row["namespace"] or "", row["name"] or "", row["group_id"] or "")


def group_of(row: Fields) -> Group:
    """One row of `fleet.ranked`."""
    return Group(key_of(row), _advice_of(row) if row["status"] is not None else None, _history_of(row))


def _advice_of(row: Fields) -> Advice:
    needless = row["needless_rebalances_per_month"] or {}
    return Advice(
        standing=Standing(row["status"]),
        why=row["why"] or "",
        binding=row["binding"] or "",
        as_of_s=row["as_of_s"],
        spec_generation=row["spec_generation"],
        restarts=row["restarts"] or 0,
        pooled_restarts=row["pooled_restarts"] or 0,
        observed_days=row["observed_days"],
        settings=tuple(_setting_of(name, row[name]) for name in SETTINGS if row[name] is not None),
        membership=_membership_of(row["membership"]),
        saving=_interval_of(row["saving_partition_s_per_month"]),
        needless_today=needless.get("today"),
        needless_recommended=needless.get("recommended"),
        needless_upper=needless.get("upper"),
        cost_today=row["cost_today"],
    )


def _setting_of(name: str, field: Fields) -> Setting:
    return Setting(name, field["current"], field["lower"], field["target"], field["upper"], field["why"] or "")


def _membership_of(field: Fields | None) -> Membership | None:
    if field is None:
        return None
    return Membership(field["current"] or "", field["cheaper"] or "", field["saving_partition_s_per_month"])


def _interval_of(field: Fields | None) -> Interval | None:
    return None if field is None else Interval(field["lower"], field["value"], field["upper"])


def _history_of(row: Fields) -> History:
    return History(
        first_s=row["first_s"],
        last_s=row["last_s"],
        restarts=row["recorded_restarts"] or 0,
        evictions=row["recorded_evictions"] or 0,
        rebalances=row["recorded_rebalances"] or 0,
        audited=row["audited_rebalances"],
        members=row["members"],
        partitions=row["partitions"],
        protocol=row["protocol"] or "",
        assignor=row["assignor"] or "",
        library=" ".join(part for part in (row["library"], row["library_version"]) if part),
    )


def totals_of(row: Fields, standings: Mapping[Standing, int]) -> Totals:
    return Totals(
        groups=row["groups"] or 0,
        standings=tuple(standings.items()),
        saving=row["saving"],
        cost_today=row["cost_today"],
        needless_today=row["needless_today"],
        needless_recommended=row["needless_recommended"],
        restarts=row["restarts"] or 0,
        evictions=row["evictions"] or 0,
        rebalances=row["rebalances"] or 0,
    )


def standing_of(row: Fields) -> Standing:
    if row["status"] is not None:
        return Standing(row["status"])
    return Standing.NONE_YET if row["managed"] else Standing.AUDITED_ONLY


def survival_of(points: list[Fields] | None) -> tuple[SurvivalPoint, ...]:
    found = (SurvivalPoint(p["silence_s"], p["survival"], p["lower"], p["upper"]) for p in points or ())
    return tuple(sorted(found, key=lambda point: point.silence_s))


def cost_of(points: list[Fields] | None) -> tuple[CostPoint, ...]:
    found = (
        CostPoint(p["session_timeout_ms"], p["cost"], bool(p["today"]), bool(p["recommended"])) for p in points or ()
    )
    return tuple(sorted(found, key=lambda point: point.session_timeout_ms))


def slot_of(kind: Kind, row: Fields) -> Slot:
    return Slot(kind, row["cause"], row["first_s"], row["last_s"], row["count"], row["evicted"] or 0, row["longest_s"])


def generation_of(row: Fields) -> GenerationPoint:
    return GenerationPoint(row["at_s"], row["generation"])


def lag_of(row: Fields) -> LagSlot:
    return LagSlot(row["at_s"], row["mean"], row["highest"])
