"""The few columns that the report reads of tables that are for others in the first place. Spark's types."""

from __future__ import annotations

from typing import Final

from pyspark.sql.types import IntegerType, StructField, StructType

from slackwater.pipeline.schemas import MOMENT, NUMBER, TEXT

_OF_GROUP_THEN: Final = [StructField("cluster", TEXT), StructField("group_id", TEXT), StructField("at", MOMENT)]

AUDIT_REBALANCES: Final = StructType([*_OF_GROUP_THEN, StructField("cause", TEXT), StructField("duration_s", NUMBER)])
AUDIT_GENERATIONS: Final = StructType([*_OF_GROUP_THEN, StructField("generation", IntegerType())])
QUARANTINE: Final = StructType([StructField("reason", TEXT)])
"""Of either job's."""
