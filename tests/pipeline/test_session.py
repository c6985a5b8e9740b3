"""Every job gets its Spark from one place, as its results need it."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from slackwater.pipeline.session import spark_session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def test_a_session_that_is_there_is_adopted_and_left_running(spark: SparkSession) -> None:
    with spark_session("another") as adopted:
        assert adopted.sparkContext is spark.sparkContext
    assert spark.range(3).count() == 3


def test_times_are_in_utc(spark: SparkSession) -> None:
    assert spark.conf.get("spark.sql.session.timeZone") == "UTC"


def test_python_workers_are_this_python(spark: SparkSession) -> None:
    """F43: else they are the PATH's python3, which has none of our packages."""
    seen = spark.sparkContext.parallelize([1], 1).map(lambda _: sys.executable).collect()
    assert seen == [sys.executable]
