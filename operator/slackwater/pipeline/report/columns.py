"""The columns that the report reads of tables whose schema is not in `slackwater.pipeline.schemas`. Spark's types.

Of a recommendation they are the fields of `slackwater.api.recommendation`, and a test holds the two equal.
"""

from __future__ import annotations

from typing import Final

from pyspark.sql.types import (
    ArrayType,
    BooleanType,
    DataType,
    DoubleType,
    IntegerType,
    LongType,
    StringType,
    StructField,
    StructType,
    TimestampType,
)

TEXT: Final = StringType()
COUNT: Final = LongType()
NUMBER: Final = DoubleType()
MOMENT: Final = TimestampType()


def _struct(**fields: DataType) -> StructType:
    return StructType([StructField(name, of) for name, of in fields.items()])


SETTING: Final = _struct(current=COUNT, lower=COUNT, target=COUNT, upper=COUNT, why=TEXT)
INTERVAL: Final = _struct(lower=NUMBER, value=NUMBER, upper=NUMBER)
SURVIVAL: Final = _struct(silence_s=NUMBER, survival=NUMBER, lower=NUMBER, upper=NUMBER)
COST: Final = _struct(session_timeout_ms=COUNT, cost=NUMBER, today=BooleanType(), recommended=BooleanType())

RECOMMENDATIONS: Final = _struct(
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
AUDIT_REBALANCES: Final = _struct(cluster=TEXT, group_id=TEXT, at=MOMENT, cause=TEXT, duration_s=NUMBER)
AUDIT_GENERATIONS: Final = _struct(cluster=TEXT, group_id=TEXT, at=MOMENT, generation=IntegerType())
QUARANTINE: Final = _struct(reason=TEXT)
