"""Columns of `gold/recommendations`: what `recommend` writes, and everything else reads.

They are the fields of `slackwater.api.recommendation`, under the same names and in the same order, and a test holds the
two equal. Parquet holds besides them the very text of each message.
"""

from __future__ import annotations

from typing import Final

from pyspark.sql.types import ArrayType, DataType, IntegerType, StructField, StructType

from slackwater.pipeline.schemas import COUNT, MOMENT, NUMBER, TEXT, TRUTH


def _struct(**fields: DataType) -> StructType:
    return StructType([StructField(name, of) for name, of in fields.items()])


SETTING: Final = _struct(current=COUNT, lower=COUNT, target=COUNT, upper=COUNT, why=TEXT)
INTERVAL: Final = _struct(lower=NUMBER, value=NUMBER, upper=NUMBER)
SURVIVAL: Final = _struct(silence_s=NUMBER, survival=NUMBER, lower=NUMBER, upper=NUMBER)
COST: Final = _struct(session_timeout_ms=COUNT, cost=NUMBER, today=TRUTH, recommended=TRUTH)

RECOMMENDATION: Final = _struct(
    schema=IntegerType(),
    cluster=TEXT,
    namespace=TEXT,
    name=TEXT,
    group_id=TEXT,
    as_of=MOMENT,
    spec_generation=COUNT,
    restarts=COUNT,
    pooled_restarts=NUMBER,
    observed_days=NUMBER,
    status=TEXT,
    why=TEXT,
    binding=TEXT,
    session_timeout_ms=SETTING,
    heartbeat_interval_ms=SETTING,
    max_poll_interval_ms=SETTING,
    max_poll_records=SETTING,
    membership=_struct(current=TEXT, cheaper=TEXT, saving_partition_s_per_month=INTERVAL, why=TEXT),
    saving_partition_s_per_month=INTERVAL,
    needless_rebalances_per_month=_struct(today=NUMBER, recommended=NUMBER, upper=NUMBER),
    curves=_struct(survival=ArrayType(SURVIVAL), cost=ArrayType(COST)),
)
"""Of a recommendation itself."""
RECOMMENDATIONS: Final = StructType([*RECOMMENDATION.fields, StructField("message", TEXT)])
"""`message` is what goes to the topic or the file, to the letter."""
