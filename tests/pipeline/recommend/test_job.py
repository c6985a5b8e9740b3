"""From a lake of events to a file that the operator reads, twice the same."""

from __future__ import annotations

import random
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from slackwater.api.recommendation import Recommendation, RecommendationStatus
from slackwater.pipeline.errors import LakeUnusable
from slackwater.pipeline.ingest.bronze import accepted, judge
from slackwater.pipeline.recommend.job import Options, run
from slackwater.pipeline.recommend.publishing import Unpublishable
from slackwater.pipeline.tables import Table, path_of
from tests.pipeline.recommend.months import RESTARTS, a_month
from tests.pipeline.telling import NOON, raw

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def lake_of(spark: SparkSession, path: Path, events: Sequence[str]) -> str:
    accepted(judge(raw(spark, events))).write.parquet(path_of(str(path), Table.EVENTS))
    return str(path)


def test_a_lake_of_events_gives_a_line_for_each_group(spark: SparkSession, tmp_path: Path) -> None:
    out = tmp_path / "recommendations.jsonl"
    summary = run(spark, Options(lake_of(spark, tmp_path / "lake", a_month()), out_file=str(out)))
    assert (summary.groups, summary.sent_to_file, summary.as_of) == (1, 1, NOON)
    (line,) = out.read_text().splitlines()
    found = Recommendation.model_validate_json(line)
    assert (found.name, found.restarts, found.as_of) == ("payments", RESTARTS, NOON)
    assert found.status is not RecommendationStatus.NOT_ENOUGH_DATA
    assert list(tmp_path.glob(".*")) == []


def test_running_it_again_and_events_that_come_twice_or_late_change_nothing(
    spark: SparkSession, tmp_path: Path
) -> None:
    events = a_month()
    outs = [tmp_path / f"{number}.jsonl" for number in range(3)]
    lake = lake_of(spark, tmp_path / "lake", events)
    disordered = lake_of(spark, tmp_path / "other", random.Random(1).sample([*events, *events], 2 * len(events)))
    for from_lake, out in zip((lake, lake, disordered), outs, strict=True):
        run(spark, Options(from_lake, out_file=str(out)))
    first, again, other = (out.read_bytes() for out in outs)
    assert first == again
    assert first == other


def test_what_is_newer_than_the_moment_asked_for_is_left_out(spark: SparkSession, tmp_path: Path) -> None:
    lake = lake_of(spark, tmp_path / "lake", a_month())
    out = tmp_path / "out.jsonl"
    run(spark, Options(lake, as_of=NOON - timedelta(days=15), out_file=str(out)))
    found = Recommendation.model_validate_json(out.read_text())
    assert found.as_of == NOON - timedelta(days=15)
    assert found.restarts < RESTARTS


def test_an_empty_lake_has_nothing_to_say(spark: SparkSession, tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    summary = run(spark, Options(lake_of(spark, tmp_path / "lake", []), out_file=str(out)))
    assert (summary.as_of, summary.groups, summary.by_status, summary.savings) == (None, 0, {}, ())
    assert out.read_text() == ""


def test_a_lake_that_nothing_was_ingested_into_is_told_in_a_sentence(spark: SparkSession, tmp_path: Path) -> None:
    with pytest.raises(LakeUnusable, match="run `slackwater pipeline ingest` first"):
        run(spark, Options(str(tmp_path)))


def test_a_file_that_cannot_be_written_is_told_in_a_sentence(spark: SparkSession, tmp_path: Path) -> None:
    lake = lake_of(spark, tmp_path / "lake", a_month()[:3])
    with pytest.raises(Unpublishable, match=r"No such file or directory.*choose another --out-file"):
        run(spark, Options(lake, out_file=str(tmp_path / "nowhere" / "out.jsonl")))
