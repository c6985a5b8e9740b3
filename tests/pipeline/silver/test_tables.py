"""The other silver tables: each fact once, under the columns that the schemas promise."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from slackwater.pipeline import schemas
from slackwater.pipeline.silver.events import newest
from slackwater.pipeline.silver.groups import groups_of
from slackwater.pipeline.silver.happenings import holds_of, lag_of, polls_of, settings_of
from slackwater.pipeline.silver.job import TRANSFORMS, silver_of
from slackwater.pipeline.silver.turns import turns_of
from slackwater.pipeline.tables import Table
from tests.pipeline.telling import NOON, at, event, events, restart

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

DAY_S = 86_400


@pytest.mark.parametrize("table", TRANSFORMS)
def test_the_columns_are_those_of_the_schema(table: Table, spark: SparkSession) -> None:
    promised = getattr(schemas, table.name)
    found = silver_of(events(spark, []), NOON)[table].schema
    assert [(f.name, f.dataType.simpleString()) for f in found] == [
        (f.name, f.dataType.simpleString()) for f in promised
    ]


def test_a_fact_that_was_recorded_twice_is_there_once_as_it_was_told_first(spark: SparkSession) -> None:
    told = [event("poll_observed", "same", 9), event("poll_observed", "same", 5), event("poll_observed", "other", 7)]
    rows = polls_of(events(spark, told)).orderBy("at").collect()
    assert [row["at"].timestamp() - NOON.timestamp() for row in rows] == [5, 7]


def test_a_group_is_as_it_was_seen_last_and_was_watched_from_its_first_event_to_its_last(spark: SparkSession) -> None:
    told = [
        event("group_observed", "a", 0, {"members": 3}),
        event("group_observed", "b", DAY_S / 4, {"members": 5, "session_timeout_ms": None}),
        event("poll_observed", "c", DAY_S / 2),
    ]
    (row,) = groups_of(events(spark, told)).collect()
    assert (row.members, row.session_timeout_ms, row.observed_days) == (5, None, 0.5)
    assert (row.settings_at - row.first_at, row.last_at - row.first_at) == (timedelta(hours=6), timedelta(hours=12))


def test_a_group_that_was_never_observed_itself_has_no_settings(spark: SparkSession) -> None:
    (row,) = groups_of(events(spark, [restart("a", 1, {})])).collect()
    assert (row.settings_at, row.members, row.observed_days) == (None, None, 0.0)


def test_a_hold_is_one_row_and_has_ended_when_its_end_was_told(spark: SparkSession) -> None:
    begun = {"since": at(0), "until": None, "held_s": 1.0}
    told = [event("gate_held", "a", 1, begun), event("gate_held", "b", 9, begun | {"until": at(9), "held_s": 9.0})]
    (row,) = holds_of(events(spark, told)).collect()
    assert (row.held_s, row.until - row.since) == (9.0, timedelta(seconds=9))


def test_a_turn_is_one_row_that_has_what_any_of_its_tellers_knew(spark: SparkSession) -> None:
    """The second operator did not see how long the group had waited, and at what."""
    budget = {"by": "Budget", "fleet": "a/b", "name": "all", "place": None, "held_s": 30.0}
    waits: dict[str, Any] = {"outcome": "Waits", "given_at": None, "ended_at": None, "lasted_s": None, "held_by": []}
    has = waits | {"outcome": "Has", "given_at": at(40), "waited_s": 40.0, "held_by": [budget]}
    unseen: dict[str, Any] = {"waits_since": None, "waited_s": None, "held_by": []}
    done = has | unseen | {"outcome": "Done", "ended_at": at(90), "lasted_s": 50.0}
    tellings = [("a", 0.0, waits | {"waited_s": 0.0}), ("b", 40.0, has), ("c", 90.0, done)]
    told = [event("turn", name, moment, body) for name, moment, body in tellings]
    (row,) = turns_of(events(spark, told)).collect()
    assert (row.outcome, row.waited_s, row.lasted_s, row.told_at) == ("Done", 40.0, 50.0, row.ended_at)
    assert [(each.name, each.held_s) for each in row.held_by] == [("all", 30.0)]


def test_each_setting_that_changed_is_a_row(spark: SparkSession) -> None:
    changes = [{"name": "a", "before": None, "after": "1"}, {"name": "b", "before": "2", "after": None}]
    rows = settings_of(events(spark, [event("settings_changed", body={"changes": changes})])).collect()
    assert {(row.setting, row.before, row.after) for row in rows} == {("a", None, "1"), ("b", "2", None)}


def test_what_came_after_the_moment_in_question_is_not_known(spark: SparkSession) -> None:
    told = events(spark, [event("group_observed", "a", 0, {"lag": 1}), event("group_observed", "b", 9, {"lag": 2})])
    assert newest(told) == NOON + timedelta(seconds=9)
    assert [row.lag for row in silver_of(told, NOON)[Table.LAG].collect()] == [1]
    assert lag_of(told).count() == 2
