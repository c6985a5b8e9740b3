"""How a change reaches the pods."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from pydantic import Field

from slackwater.api.durations import DurationMs, PositiveDurationMs
from slackwater.api.model import MOST_PODS, WITHOUT_DEFAULT, ApiModel, Int32, Int64, rule


class RolloutStrategy(StrEnum):
    IN_PLACE = "InPlace"
    WARM_HANDOVER = "WarmHandover"


class HandoverTiming(StrEnum):
    OVERLAPPING = "Overlapping"
    PREDICTIVE = "Predictive"


class OnFailure(StrEnum):
    PAUSE = "Pause"
    ROLLBACK = "Rollback"


class MaxLag(ApiModel):
    absolute: Annotated[Int64, Field(ge=1)] | None = None
    """At most this many records, over all of the group's partitions."""
    growth: Annotated[Int64, Field(ge=1)] | None = None
    """At most this many records more than before the rollout, over all of the group's partitions."""

    @rule(
        "has(self.absolute) != has(self.growth)",
        "give maxLag one bound: either absolute, the most records that the group may lag, or growth, the most by which"
        " its lag may grow during a rollout",
    )
    def there_is_one_bound(self) -> bool:
        return (self.absolute is None) != (self.growth is None)


class CanaryStep(ApiModel):
    replicas: Annotated[Int32, Field(ge=1, le=MOST_PODS)]
    """Stop when this many pods have the new version."""
    hold_ms: Annotated[DurationMs | None, Field(alias="hold")] = None
    """How long to stay there, all gates holding; until somebody promotes it when not given."""


class Rollout(ApiModel):
    strategy: Annotated[RolloutStrategy, Field(json_schema_extra=WITHOUT_DEFAULT)] = RolloutStrategy.IN_PLACE
    """InPlace, also when not given, restarts pods one at a time. WarmHandover starts each replacement before its pod
    ends: no idle partitions, some duplicates, one pod more; for static members of the classic protocol."""
    stable_for_ms: Annotated[DurationMs, Field(alias="stableFor", json_schema_extra=WITHOUT_DEFAULT)] = 10_000
    """The group has to have been calm this long before each step; 10s when not given."""
    max_lag: MaxLag | None = None
    """The lag above which the operator restarts no pod. Never 0: transaction markers leave a lag that nobody can
    consume.
    """
    rejoin_timeout_ms: Annotated[
        PositiveDurationMs, Field(alias="rejoinTimeout", json_schema_extra=WITHOUT_DEFAULT)
    ] = 300_000
    """A restarted pod that is not back in the group after this time has failed; 5m when not given."""
    surge_timeout_ms: Annotated[DurationMs | None, Field(alias="surgeTimeout")] = None
    """WarmHandover: when there has been no room for one pod more for so long, the rollout goes on in place. Without it
    the rollout waits."""
    handover: Annotated[HandoverTiming, Field(json_schema_extra=WITHOUT_DEFAULT)] = HandoverTiming.OVERLAPPING
    """WarmHandover: when an old pod is let go. Overlapping, also when left out: when its replacement has taken over;
    until it has ended, some records come twice. Predictive: just before that, by how long earlier pods of the same
    version took to join; almost nothing comes twice, and partitions are idle for less than a second. For the first
    pod of each version it is as Overlapping.
    """
    on_failure: Annotated[OnFailure, Field(json_schema_extra=WITHOUT_DEFAULT)] = OnFailure.PAUSE
    """What a failed pod means: Pause, also when not given, stops until somebody decides, Rollback restores the last
    good version."""
    canary: Annotated[tuple[CanaryStep, ...], Field(max_length=16)] = ()
    """Where to stop on the way, in the order of their replicas."""

    @property
    def stable_for_s(self) -> float:
        return self.stable_for_ms / 1000

    @property
    def rejoin_timeout_s(self) -> float:
        return self.rejoin_timeout_ms / 1000

    @property
    def surge_timeout_s(self) -> float | None:
        return None if self.surge_timeout_ms is None else self.surge_timeout_ms / 1000

    @rule(
        "!has(self.canary) || self.canary.map(step, step.replicas).isSorted()",
        "list the canary steps by growing replicas",
        field_path="canary",
    )
    def canary_grows(self) -> bool:
        replicas = [step.replicas for step in self.canary]
        return replicas == sorted(replicas)
