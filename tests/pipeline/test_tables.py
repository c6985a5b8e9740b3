"""Whole tables: the old one is there until the new one is."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import functions as F

from slackwater.pipeline.tables import Table, overwrite, path_of, read

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PLACE = Table.RECOMMENDATIONS


def rows_in(spark: SparkSession, lake: Path) -> int:
    return read(spark, str(lake), PLACE).count()


def test_a_job_that_dies_while_it_writes_leaves_the_old_table(spark: SparkSession, tmp_path: Path) -> None:
    overwrite(spark.range(100), str(tmp_path), PLACE)
    broken = spark.range(100).select(F.when(F.col("id") == 50, F.raise_error(F.lit("no more"))).alias("id"))
    with pytest.raises(PySparkException):
        overwrite(broken, str(tmp_path), PLACE)
    assert rows_in(spark, tmp_path) == 100
    overwrite(spark.range(7), str(tmp_path), PLACE)
    assert rows_in(spark, tmp_path) == 7


def test_one_that_dies_between_the_two_renames_leaves_it_as_well(spark: SparkSession, tmp_path: Path) -> None:
    overwrite(spark.range(100), str(tmp_path), PLACE)
    place = Path(path_of(str(tmp_path), PLACE))
    place.rename(place.with_name(f"{place.name}.old"))
    assert rows_in(spark, tmp_path) == 100
    overwrite(read(spark, str(tmp_path), PLACE).where("id < 9"), str(tmp_path), PLACE)
    assert rows_in(spark, tmp_path) == 9
    assert [each.name for each in place.parent.iterdir()] == [place.name]


def test_a_table_may_be_made_of_itself(spark: SparkSession, tmp_path: Path) -> None:
    overwrite(spark.range(100), str(tmp_path), PLACE)
    overwrite(read(spark, str(tmp_path), PLACE).where("id < 5"), str(tmp_path), PLACE)
    assert rows_in(spark, tmp_path) == 5
