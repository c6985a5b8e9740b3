"""The columns of the table are the fields of a recommendation, and its message."""

from __future__ import annotations

from pydantic import BaseModel
from pyspark.sql.types import ArrayType, DataType, StructType

from slackwater.api.recommendation import (
    CostPoint,
    Curves,
    Interval,
    MembershipAdvice,
    NeedlessRebalances,
    Recommendation,
    RecommendedSetting,
    SurvivalPoint,
)
from slackwater.pipeline.gold import RECOMMENDATION, RECOMMENDATIONS

STRUCTS: dict[str, type[BaseModel]] = {
    "session_timeout_ms": RecommendedSetting,
    "heartbeat_interval_ms": RecommendedSetting,
    "max_poll_interval_ms": RecommendedSetting,
    "max_poll_records": RecommendedSetting,
    "membership": MembershipAdvice,
    "membership.saving_partition_s_per_month": Interval,
    "saving_partition_s_per_month": Interval,
    "needless_rebalances_per_month": NeedlessRebalances,
    "curves": Curves,
    "curves.survival": SurvivalPoint,
    "curves.cost": CostPoint,
}


def names_of(model: type[BaseModel]) -> list[str]:
    return [info.alias or name for name, info in model.model_fields.items()]


def test_a_recommendation_has_these_columns() -> None:
    assert names_of(Recommendation) == RECOMMENDATION.names
    assert RECOMMENDATIONS.names == [*RECOMMENDATION.names, "message"]


def test_and_these_in_its_structs() -> None:
    found = {}

    def walk(of: DataType, where: str) -> None:
        if isinstance(of, ArrayType):
            walk(of.elementType, where)
        elif isinstance(of, StructType):
            found[where] = of.names
            for field in of.fields:
                walk(field.dataType, f"{where}.{field.name}".lstrip("."))

    walk(RECOMMENDATION, "")
    assert found == {"": RECOMMENDATION.names} | {where: names_of(model) for where, model in STRUCTS.items()}
