"""A recommendation for one group, as it travels from the pipeline to the operator and into the report.

One JSON object a group, snake_case, under the key `<namespace>/<name>` of a compacted topic or as a line of a file.
What every number means, and when not to trust it, stands in docs/tuning.md.
"""

from __future__ import annotations

from datetime import UTC, datetime
from enum import StrEnum
from typing import Annotated, Final, Literal, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, FailFast, Field, model_validator

from slackwater.api.timestamps import Timestamp

SCHEMA: Final = 1
LEAST_DAYS: Final = 7.0
"""A month cannot be told from less than a week: a quiet Monday is no month, and neither is a demonstration."""
MOST_CURVE_POINTS: Final = 200
LONGEST_MESSAGE: Final = 64 * 1024
"""Bytes; the pipeline's have some thousand. Whoever may write the topic writes into every operator's memory."""
MOST_VALUES: Final = 3_000
"""Objects, lists and commas of a message, those in its texts as well; one with all its curves has 2,000. What is parsed
takes by how many there are, not by bytes: an empty object takes as long as two hundred letters."""
_FIRST_YEAR, _LAST_YEAR = 2000, 2199


def _is_of_our_time(at: datetime) -> datetime:
    """Moments of which no arithmetic and no clock of another zone runs out of years."""
    if not _FIRST_YEAR <= at.year <= _LAST_YEAR:
        raise ValueError(f"year {at.year} has to lie between {_FIRST_YEAR} and {_LAST_YEAR}")
    return at.astimezone(UTC)


OfOurTime = Annotated[Timestamp, AfterValidator(_is_of_our_time)]
Words = Annotated[str, Field(max_length=1_024)]
Number = Annotated[int, Field(ge=0, le=2**31 - 1)]
"""What Kafka's clients and brokers take: they count in 32 bits, with a sign."""
Count = Annotated[int, Field(ge=0, le=2**53)]


class WireModel(BaseModel):
    """Immutable, without NaN and infinities, and open to fields that a newer pipeline may add."""

    model_config = ConfigDict(
        frozen=True,
        extra="ignore",
        allow_inf_nan=False,
        validate_by_name=True,
        validate_by_alias=True,
        serialize_by_alias=True,
        use_attribute_docstrings=True,
    )


class RecommendationStatus(StrEnum):
    RECOMMENDED = "Recommended"
    """The session timeout should become `session_timeout_ms.target`."""
    KEEP_TODAY = "KeepToday"
    """Nothing is shown to be better than what the group has."""
    NOT_ENOUGH_DATA = "NotEnoughData"
    NOT_ENOUGH_TIME = "NotEnoughTime"
    """Watched for less than `LEAST_DAYS`: nothing is said about a month."""
    INFEASIBLE = "Infeasible"
    """No timeout meets all constraints; `binding` says which, and what would relax it."""


class MembershipKind(StrEnum):
    STATIC = "Static"
    DYNAMIC = "Dynamic"
    WARM_HANDOVER = "WarmHandover"


class RecommendedSetting(WireModel):
    current: Number | None
    """None where the group leaves it to the library or the broker."""
    lower: Number
    target: Number
    upper: Number
    why: Words

    @model_validator(mode="after")
    def _is_ordered(self) -> Self:
        if not self.lower <= self.target <= self.upper:
            raise ValueError(f"target {self.target} has to lie between lower {self.lower} and upper {self.upper}")
        return self


class Interval(WireModel):
    """A 95 % interval around an estimate."""

    lower: float
    value: float
    upper: float


class MembershipAdvice(WireModel):
    current: MembershipKind
    cheaper: MembershipKind | None
    """Another membership that costs less with 95 % confidence; None where none does."""
    saving_partition_s_per_month: Interval | None = None
    why: Words = ""


class NeedlessRebalances(WireModel):
    """Rebalances a month because of members that came back, or would have."""

    today: float
    recommended: float
    upper: float
    """One-sided 95 % bound of `recommended`."""


class SurvivalPoint(WireModel):
    silence_s: float
    survival: float
    """The share of restarted members that are still silent after `silence_s`."""
    lower: float
    upper: float


class CostPoint(WireModel):
    session_timeout_ms: int
    cost: float
    """Partition-seconds a month."""
    today: bool = False
    recommended: bool = False


class Curves(WireModel):
    """For the report; not on the topic."""

    survival: Annotated[tuple[SurvivalPoint, ...], Field(max_length=MOST_CURVE_POINTS), FailFast()] = ()
    cost: Annotated[tuple[CostPoint, ...], Field(max_length=MOST_CURVE_POINTS), FailFast()] = ()


class Recommendation(WireModel):
    schema_version: Annotated[Literal[1], Field(alias="schema")] = SCHEMA
    cluster: Words
    namespace: Words
    name: Words
    group_id: Words
    as_of: OfOurTime
    spec_generation: Count | None = None
    restarts: Count
    """Silences of this group that were counted."""
    pooled_restarts: Annotated[float, Field(ge=0)] = 0.0
    """How many restarts' weight similar groups lent."""
    observed_days: Annotated[float, Field(ge=0)]
    status: RecommendationStatus
    why: Words
    binding: Words | None = None
    session_timeout_ms: RecommendedSetting | None = None
    heartbeat_interval_ms: RecommendedSetting | None = None
    max_poll_interval_ms: RecommendedSetting | None = None
    max_poll_records: RecommendedSetting | None = None
    membership: MembershipAdvice | None = None
    saving_partition_s_per_month: Interval | None = None
    needless_rebalances_per_month: NeedlessRebalances | None = None
    curves: Curves | None = None

    def message(self) -> str:
        """The JSON text of a message: all but the curves."""
        return self.model_dump_json(exclude={"curves"})
