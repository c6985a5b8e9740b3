"""Columns of `gold/recommendations`: what the report reads of it, and the very text of each message."""

from __future__ import annotations

from typing import Final

from pyspark.sql.types import StringType, StructField, StructType

from slackwater.pipeline.report import columns

RECOMMENDATIONS: Final = StructType([*columns.RECOMMENDATIONS.fields, StructField("message", StringType())])
"""`message` is what goes to the topic or the file, to the letter."""
