"""Sums of waits, straight from rows of turns."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from slackwater.pipeline.report.rows import held_of, wait_slot_of, waits_of
from slackwater.pipeline.report.turns import held_by_budget, held_by_place, slots, totals
from slackwater.pipeline.schemas import TURNS

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.spark
START = datetime(2026, 1, 31, 12, tzinfo=UTC)


def turn(name: str, at_s: float, waited_s: float | None, place: str = "k/1", outcome: str = "Done") -> dict[str, Any]:
    """One that stood two thirds of its wait at a coordinator, the rest at a closed window."""
    asked, known = START + timedelta(seconds=at_s), waited_s or 0.0
    fleet = "slackwater/platform"
    return {
        "cluster": "k", "namespace": "shop", "name": name, "group_id": name,
        "turn": f"{name}/{at_s}", "reason": "Rollout",
        "outcome": outcome, "fleets": [fleet], "asked_at": asked, "waits_since": asked, "waited_s": waited_s,
        "given_at": None if outcome == "Waits" else asked + timedelta(seconds=known), "told_at": asked,
        "held_by": [("Budget", fleet, "coordinators", place, known * 2 / 3), ("Window", fleet, None, None, known / 3)],
    }  # fmt: skip


def table(spark: SparkSession, *rows: dict[str, Any]) -> DataFrame:
    return spark.createDataFrame([tuple(row.get(name) for name in TURNS.names) for row in rows], TURNS)


def test_waits_are_added_up_by_what_held_groups_back(spark: SparkSession) -> None:
    told = table(
        spark,
        turn("a", 0, 60.0),
        turn("b", 100, 90.0, "k/2"),
        turn("a", 4000, 600.0),
        turn("c", 9000, 30.0, outcome="Waits"),
        turn("d", 9000, None, outcome="GaveWay"),
    )
    waits = waits_of(totals(told).collect()[0].asDict())
    assert waits is not None
    assert (waits.given, waits.waiting, waits.gave_way) == (4, 1, 1)
    assert (waits.median_s, waits.longest_s) == (90.0, 600.0)
    assert (waits.first_s, waits.last_s) == (START.timestamp(), START.timestamp() + 9000)
    budgets = [held_of(row.asDict()) for row in held_by_budget(told).collect()]
    found = [(each.by, each.name, each.place, round(each.held_s), each.turns, each.groups) for each in budgets]
    assert found == [("Budget", "coordinators", "", 520, 5, 4), ("Window", "", "", 260, 5, 4)]
    places = [held_of(row.asDict()) for row in held_by_place(told).collect()]
    assert [(each.place, round(each.held_s)) for each in places] == [("k/1", 460), ("", 260), ("k/2", 60)]
    by_slot = [wait_slot_of(row.asDict()) for row in slots(told, waits.first_s, waits.last_s).collect()]
    assert [(each.given, each.longest_s) for each in by_slot] == [(1, 60.0), (1, 90.0), (1, 600.0), (1, None)]


def test_without_turns_there_is_nothing(spark: SparkSession) -> None:
    assert waits_of(totals(table(spark)).collect()[0].asDict()) is None
