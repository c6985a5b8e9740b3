"""A restart is put together from all that was told of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from slackwater.pipeline.schemas import RESTARTS
from slackwater.pipeline.silver.restarts import impossible_restarts_of, restarts_of
from tests.pipeline.telling import at, events, restart

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

AWAY = {"outcome": "Away", "last_seen_at": at(0), "stopped_at": at(0)}


def rows(spark: SparkSession, *texts: str) -> list[dict[str, Any]]:
    told = events(spark, texts)
    return [row.asDict() for row in restarts_of(told).orderBy("episode").collect()]


def test_the_newest_telling_counts_and_an_older_one_fills_in_what_it_does_not_know(spark: SparkSession) -> None:
    """As when another operator process took over in between."""
    told = [restart("a", 1, AWAY), restart("b", 12, {"outcome": "Returned", "rejoined_at": at(12)})]
    (row,) = rows(spark, *told)
    assert (row["outcome"], row["silence_s"], row["observed_away_s"]) == ("Returned", 12.0, 12.0)
    assert rows(spark, *reversed(told)) == [row]


def test_an_operator_that_does_not_know_the_reason_does_not_unsay_it(spark: SparkSession) -> None:
    """One that was restarted finds the member away, and who saw it crash is gone."""
    told = [
        restart("a", 1, AWAY | {"reason": "Unknown"}),
        restart("b", 2, AWAY | {"reason": "Crash"}),
        restart("c", 12, {"outcome": "Returned", "rejoined_at": at(12), "reason": "Unknown"}),
        restart("d", 1, AWAY | {"episode": "e2", "reason": "Unknown"}),
    ]
    assert [(row["reason"], row["outcome"]) for row in rows(spark, *told)] == [
        ("Crash", "Returned"),
        ("Unknown", "Away"),
    ]


def test_a_member_that_is_away_was_away_until_the_newest_telling(spark: SparkSession) -> None:
    (row,) = rows(spark, restart("a", 1, AWAY), restart("b", 300.25, AWAY))
    assert (row["silence_s"], row["observed_away_s"]) == (None, 300.25)


def test_a_member_that_was_scaled_away_was_away_until_then(spark: SparkSession) -> None:
    (row,) = rows(spark, restart("a", 1, AWAY), restart("b", 40, {"outcome": "ScaledAway"}))
    assert (row["outcome"], row["silence_s"], row["observed_away_s"]) == ("ScaledAway", None, 40.0)


def test_nothing_was_silent_in_a_warm_handover(spark: SparkSession) -> None:
    """F37: the successor joins before its predecessor stops."""
    times = {"started_at": at(-5), "rejoined_at": at(-1), "last_seen_at": at(0), "stopped_at": at(1)}
    (row,) = rows(spark, restart("a", 2, {**times, "mode": "WarmHandover", "outcome": "Returned"}))
    assert row["silence_s"] == 0.0


def test_without_a_last_sign_of_life_there_is_no_silence(spark: SparkSession) -> None:
    (row,) = rows(spark, restart("a", 2, {"outcome": "Returned", "rejoined_at": at(1)}))
    assert (row["silence_s"], row["observed_away_s"]) == (None, None)


def test_tellings_that_contradict_one_another_are_kept_apart(spark: SparkSession) -> None:
    told = [restart("a", 1, AWAY), restart("b", 12, {"outcome": "Returned", "rejoined_at": at(-3)})]
    assert restarts_of(events(spark, told)).count() == 0
    (row,) = impossible_restarts_of(events(spark, told)).collect()
    assert (row["episode"], row["reason"]) == ("e1", "ImpossibleTimes")
    assert "last_seen_at, 2026-01-31T12:00:00.000Z, is after rejoined_at, 2026-01-31T11:59:57.000Z" in row["detail"]


def test_the_columns_are_those_of_the_schema(spark: SparkSession) -> None:
    found = restarts_of(events(spark, [])).schema
    assert [(field.name, field.dataType) for field in found] == [(f.name, f.dataType) for f in RESTARTS]
