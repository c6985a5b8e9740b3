"""The command without Spark and the pipeline say the same, to the letter, of the same events."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from slackwater.pipeline.local.job import Options as LocalOptions
from slackwater.pipeline.local.job import run as run_locally
from slackwater.pipeline.recommend.job import Options, run
from tests.pipeline.local.test_job import folder_of
from tests.pipeline.recommend.months import WHO, a_month
from tests.pipeline.recommend.test_job import lake_of
from tests.pipeline.telling import event

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def test_the_same_events_give_the_same_messages(spark: SparkSession, tmp_path: Path) -> None:
    lines = [line for n in range(6) for line in a_month({**WHO, "name": f"g-{n}", "group_id": f"g-{n}"})]
    lines += [
        event(
            "poll_observed",
            f"p{n}",
            -60.0 * n,
            {"time_between_poll_max_ms": 100.0 + n},
            **{**WHO, "name": "g-0", "group_id": "g-0"},
        )
        for n in range(60)
    ]
    by_spark, here = tmp_path / "spark.jsonl", tmp_path / "here.jsonl"
    run(spark, Options(lake_of(spark, tmp_path / "lake", lines), out_file=str(by_spark)))
    run_locally(LocalOptions(folder_of(tmp_path / "telemetry", lines), here))
    assert here.read_text() == by_spark.read_text()
