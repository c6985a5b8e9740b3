"""From rows of Spark, as mappings, to the model: names of columns are known here and in `fleet` only. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

from slackwater.api.recommendation import Curves, Recommendation
from slackwater.pipeline.report.model import (
    GenerationPoint,
    Group,
    Held,
    History,
    Key,
    Kind,
    LagSlot,
    Slot,
    Standing,
    Totals,
    Waits,
    WaitSlot,
)

Fields = Mapping[str, Any]
"""One row as `Row.asDict(recursive=True)` gives it."""


def key_of(row: Fields) -> Key:
    return Key(row["cluster"] or "", row["namespace"] or "", row["name"] or "", row["group_id"] or "")


def group_of(row: Fields) -> Group:
    """One row of `ranking.ranked`."""
    recommendation = recommendation_of(row) if row["status"] is not None else None
    return Group(key_of(row), recommendation, row["cost_today"] if recommendation else None, _history_of(row))


def recommendation_of(row: Fields) -> Recommendation:
    """Columns that an older pipeline did not write are left to the model's defaults."""
    found = {name: row[name] for name in Recommendation.model_fields if name in row and row[name] is not None}
    return Recommendation.model_validate(found | {"as_of": datetime.fromtimestamp(row["as_of_s"], UTC)})


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
        session_timeout_ms=row["observed_session_ms"],
        library=" ".join(part for part in (row["library"], row["library_version"]) if part),
    )


def totals_of(rows: Iterable[Fields]) -> Totals:
    """From one row a standing, as `ranking.totals` gives them."""
    by_standing = {Standing(row["standing"]): row for row in rows}

    def total(column: str) -> float | None:
        known = [row[column] for row in by_standing.values() if row[column] is not None]
        return sum(known) if known else None

    return Totals(
        groups=int(total("groups") or 0),
        standings=tuple((standing, row["groups"]) for standing, row in by_standing.items()),
        saving=total("saving"),
        cost_today=total("cost_today"),
        needless_today=total("needless_today"),
        needless_recommended=total("needless_recommended"),
        restarts=int(total("recorded_restarts") or 0),
        evictions=int(total("recorded_evictions") or 0),
        rebalances=int(total("recorded_rebalances") or 0),
    )


def curves_of(row: Fields) -> Curves:
    return Curves.model_validate(row["curves"] or {})


def slot_of(kind: Kind, row: Fields) -> Slot:
    return Slot(kind, row["cause"], row["first_s"], row["last_s"], row["count"], row["evicted"] or 0, row["longest_s"])


def generation_of(row: Fields) -> GenerationPoint:
    return GenerationPoint(row["at_s"], row["generation"])


def lag_of(row: Fields) -> LagSlot:
    return LagSlot(row["at_s"], row["mean"], row["highest"])


def held_of(row: Fields) -> Held:
    return Held(
        row["fleet"] or "", row["by"], row["name"] or "", row["place"], row["held_s"], row["turns"], row["groups"]
    )


def wait_slot_of(row: Fields) -> WaitSlot:
    return WaitSlot(row["at_s"], row["given"], row["median_s"], row["longest_s"])


def waits_of(row: Fields) -> Waits | None:
    """One row of `turns.totals`; None where there was no turn."""
    if row["first_s"] is None:
        return None
    last_s = row["first_s"] if row["last_s"] is None else row["last_s"]
    return Waits(
        row["first_s"],
        last_s,
        row["given"],
        row["waiting"],
        row["gave_way"],
        row["median_s"],
        row["p90_s"],
        row["longest_s"],
    )
