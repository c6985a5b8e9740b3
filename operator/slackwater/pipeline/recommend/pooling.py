"""What the groups of one client library have in common: the shapes of those that restarted most, brought together."""

from __future__ import annotations

from typing import Final

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F
from pyspark.sql.types import ArrayType, DoubleType, StringType, StructField, StructType

from slackwater.pipeline.recommend.fleets import KEPT, KEY

SHAPES: Final = StructType(
    [
        *(StructField(name, StringType()) for name in (*KEY, "library")),
        StructField("restarts", DoubleType()),
        StructField("survival", ArrayType(DoubleType())),
    ]
)
"""One row for each group that has a shape to give (`statistics.fleet`)."""


def most_restarted(shapes: DataFrame) -> DataFrame:
    """SHAPES: of each library those with most restarts, `KEPT` at most. Takes SHAPES."""
    first = Window.partitionBy("library").orderBy(F.desc("restarts"), *KEY)
    ranked = shapes.withColumn("rank", F.row_number().over(first))
    return ranked.where(F.col("rank") <= KEPT).select(*SHAPES.names)
