"""How a change reaches the pods."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, NamedTuple

from pydantic import Field

from slackwater.api.amounts import Amount, IntOrPercent, amount_of
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


class Stop(NamedTuple):
    """A canary step, for a number of pods."""

    replicas: int
    hold_ms: int | None = None
    """None: until somebody promotes it."""


class CanaryStep(ApiModel):
    replicas: Annotated[Int32, Field(ge=1, le=MOST_PODS)] | None = None
    """Stop when this many pods have the new version."""
    percent: Annotated[Int32, Field(ge=1, le=100)] | None = None
    """Stop when this share of the pods has the new version; rounded down, and 1 pod at least."""
    hold_ms: Annotated[DurationMs | None, Field(alias="hold")] = None
    """How long to stay there, while every gate passes; until somebody promotes it when not given."""

    @rule(
        "has(self.replicas) != has(self.percent)",
        "say how many pods the canary step has: either replicas, a number, or percent, a share of all pods",
    )
    def there_is_one_size(self) -> bool:
        return (self.replicas is None) != (self.percent is None)


class Rollout(ApiModel):
    strategy: Annotated[RolloutStrategy, Field(json_schema_extra=WITHOUT_DEFAULT)] = RolloutStrategy.IN_PLACE
    """InPlace, also when not given, restarts pods one at a time, or maxUnavailable at a time. WarmHandover starts each
    replacement before its pod ends: no idle partitions, some duplicates, one pod more; for static members of the
    classic protocol."""
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
    max_unavailable: Annotated[
        IntOrPercent,
        Amount("write how many pods may be away at once: 1 or more, or 1% to 100%"),
        Field(json_schema_extra=WITHOUT_DEFAULT),
    ] = 1
    """InPlace: how many pods may be away at once because of the rollout: a number, or a share of all pods, rounded
    down, and 1 at least; 1 when not given. The first pod of a version always goes alone and has to be back in the
    group. A rollback goes the same way; a step to another protocol, and an adopted StatefulSet under OrderedReady, one
    pod at a time."""
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
    """Where to stop on the way, in the order of their replicas, or of their percent."""

    @property
    def stable_for_s(self) -> float:
        return self.stable_for_ms / 1000

    @property
    def rejoin_timeout_s(self) -> float:
        return self.rejoin_timeout_ms / 1000

    def stops(self, pods: int) -> tuple[Stop, ...]:
        """The canary's steps, of so many pods. Of those that come to one number of pods the longest hold counts."""
        holds: dict[int, int | None] = {}
        for step in self.canary:
            size = step.replicas or amount_of(f"{step.percent}%", pods)
            known = holds.get(size, 0)
            holds[size] = None if known is None or step.hold_ms is None else max(known, step.hold_ms)
        return tuple(Stop(size, hold_ms) for size, hold_ms in holds.items())

    @property
    def surge_timeout_s(self) -> float | None:
        return None if self.surge_timeout_ms is None else self.surge_timeout_ms / 1000

    @rule(
        "!has(self.canary)"
        " || (self.canary.all(step, has(step.replicas)) && self.canary.map(step, step.replicas).isSorted())"
        " || (self.canary.all(step, has(step.percent)) && self.canary.map(step, step.percent).isSorted())",
        "list the canary steps by growing replicas, or all of them by growing percent",
        field_path="canary",
    )
    def canary_grows(self) -> bool:
        """Which of a number and a share is the larger depends on how many pods there are."""
        replicas = [step.replicas for step in self.canary if step.replicas is not None]
        percent = [step.percent for step in self.canary if step.percent is not None]
        return [*replicas, *percent] == (sorted(replicas) or sorted(percent))
