"""What the operator reports about a ConsumerGroup.

Every part is open: a newer operator may have written fields that this version does not know, and must keep.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from pydantic import ConfigDict, Field, JsonValue

from slackwater.api.conditions import Condition
from slackwater.api.distinct import Distinct
from slackwater.api.model import ApiModel
from slackwater.api.timestamps import Timestamp

Conditions = Annotated[tuple[Condition, ...], Distinct(key="type")]


class StatusPart(ApiModel):
    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, JsonValue] = Field(init=False)


class GroupStatus(StatusPart):
    """The group as Kafka last described it."""

    state: str | None = None
    """State in Kafka's words, such as Stable or PreparingRebalance."""
    type: str | None = None
    """Classic or Consumer."""
    assignor: str | None = None
    members: int | None = None
    partitions: int | None = None
    lag: int | None = None
    """Records between the committed offsets and the ends of the logs, over all partitions."""
    observed_at: Timestamp | None = None


class RolloutStep(StatusPart):
    """The restart in progress. Written before the operator touches the pod."""

    ordinal: int
    started_at: Timestamp | None = None


class CanaryStatus(StatusPart):
    index: int = 0
    """Which of the spec's canary steps the rollout waits at, or comes to next."""
    held_since: Timestamp | None = None


class UpgradeStatus(StatusPart):
    """The protocol migration in progress. Written before the first act of each step."""

    from_: Annotated[str | None, Field(alias="from")] = None
    """The settings profile that the group had when the upgrade began."""
    to: str | None = None
    """The settings profile that the pods are to have in the end."""
    strategy: str | None = None
    """TwoBounce, OneBounce, DrainCutover or OnlineMigration."""
    path: tuple[str, ...] = ()
    """The profiles still to go through, in this order."""
    step: int | None = None
    """The current step, the first being 1."""


class ClaimedStatus(StatusPart):
    """Where and since when this ConsumerGroup has its group: one that begins later with the same groupId holds."""

    cluster_id: str
    """Of the Kafka cluster; empty where its brokers have none."""
    at: Timestamp


class TurnStatus(StatusPart):
    """The group's turn to move, where ConsumerFleets select it. Written before the first pod is touched."""

    reason: str | None = None
    """What the group moves for: Rollout, Restart, ProtocolUpgrade, Scale or Start."""
    asked_at: Timestamp | None = None
    """Since when it waits, or waited: it stays when the turn ends early."""
    given_at: Timestamp | None = None
    """When the group got it; None while it waits."""
    done_at: Timestamp | None = None
    """When the rollout was Complete, RolledBack or Failed."""
    cluster: str | None = None
    """The id of the Kafka cluster where the group got it."""
    coordinator: int | None = None
    """The broker that coordinated the group then."""
    campaign: str | None = None
    """The uid of the FleetCampaign that the group moves for."""
    yielded: int | None = None
    """How often it has ended early, since the rollout stood still."""
    again_at: Timestamp | None = None
    """Since when it waits in the middle of its rollout."""
    is_a_fix: bool | None = None
    """The version before it had failed: no halt keeps this one from beginning."""
    stands: bool | None = None
    """The way back, or a cut-over that has stopped all pods, has made no step for long: others have its
    room until it makes one."""
    tried_since: Timestamp | None = None
    """Since when that tries to go on without a new pod."""


class TookStatus(StatusPart):
    """How long the last five rollouts took, in seconds, counted for the number of pods of the last one."""

    pods: int | None = None
    p50: float | None = None
    p90: float | None = None


class RolloutStatus(StatusPart):
    phase: str | None = None
    target_hash: str | None = None
    """Template hash of the version that the operator rolls out."""
    last_good_revision: str | None = None
    """The revision that a rollback restores."""
    failed_hash: str | None = None
    """Template hash of the version that failed last: not tried again until somebody says so."""
    started_at: Timestamp | None = None
    step: RolloutStep | None = None
    replicas: int | None = None
    """How many pods the rollout goes on with, whatever spec.replicas becomes meanwhile."""
    canary: CanaryStatus | None = None
    lag_before: int | None = None
    """The group's lag when the rollout began, in records: maxLag.growth counts from there."""
    upgrade: UpgradeStatus | None = None
    """The protocol migration in progress, if any."""
    claimed: ClaimedStatus | None = None
    inherited: Mapping[str, JsonValue] = Field(default_factory=dict)
    """By the path below spec: what pods have because a ConsumerFleet gave it, {value, fleet}. Only a rollout
    changes it, whatever becomes of the fleet."""
    turn: TurnStatus | None = None
    """None where no ConsumerFleet selects the group, or it has never moved since."""
    took: TookStatus | None = None
    message: str | None = None


class ProtocolStatus(StatusPart):
    current: str | None = None
    """The protocol that Kafka shows for the group; while nobody is in it, the one that the pods have settings for."""
    from_: Annotated[str | None, Field(alias="from")] = None
    """Where the current upgrade began."""
    to: str | None = None
    """Where the current upgrade ends."""
    target: str | None = None
    """What the spec asks for."""
    strategy: str | None = None
    """How the current upgrade goes: TwoBounce, OneBounce, DrainCutover or OnlineMigration."""
    step: str | None = None
    """The current step, such as "1 of 2"."""
    waiting_for: str | None = None
    """What has to be so before the upgrade goes on, in words."""


class RecommendedSetting(StatusPart):
    """Durations such as 45s, or numbers of records; all as text."""

    current: str | None = None
    """What members have now."""
    lower: str | None = None
    target: str | None = None
    upper: str | None = None
    """Anything from lower to upper does about as well as target."""
    why: str | None = None
    note: str | None = None


class AppliedRecommendation(StatusPart):
    as_of: Timestamp | None = None
    settings: Mapping[str, str] = Field(default_factory=dict)
    """What the group has by recommendation, by its place in spec.timeouts."""


class RecommendationStatus(StatusPart):
    """The recommended timeouts of the group, from how much history, and what becomes of them."""

    reason: str | None = None
    """WithNextRollout, AwaitsApproval, AsRecommended, or why the operator only shows it."""
    message: str | None = None
    why: str | None = None
    """The recommendation's own reason."""
    as_of: Timestamp | None = None
    """Up to when the history goes that it comes from."""
    restarts: int | None = None
    """How many restarts it comes from."""
    settings: Mapping[str, RecommendedSetting] = Field(default_factory=dict)
    """By their place in spec.timeouts."""
    membership: str | None = None
    """Static, Dynamic or WarmHandover, where that would cost less than what the group has."""
    saving_partition_seconds_per_month: int | None = None
    applied: AppliedRecommendation | None = None


class ConsumerGroupStatus(StatusPart):
    observed_generation: int | None = None
    """The generation of the spec that this status speaks of."""
    phase: str | None = None
    """Summary, for people: how a rollout goes; at rest, what the condition Ready says (Ready, NotReady, Unknown)."""
    conditions: Conditions = ()
    replicas: int | None = None
    """Pods that exist."""
    ready_replicas: int | None = None
    """Pods that are Ready, as `kubectl get pods` has it: with their readiness gate, where they have one."""
    updated_replicas: int | None = None
    """Pods of the newest version."""
    selector: str | None = None
    """Label selector of the pods, for the scale subresource."""
    group: GroupStatus | None = None
    rollout: RolloutStatus | None = None
    protocol: ProtocolStatus | None = None
    commands: Mapping[str, str] = Field(default_factory=dict)
    """The tokens of the commands obeyed last, by command."""
    recommendation: RecommendationStatus | None = None
    history: tuple[Mapping[str, JsonValue], ...] = ()


class KafkaConnectionStatus(StatusPart):
    observed_generation: int | None = None
    conditions: Conditions = ()
    cluster_id: str | None = None
    brokers: int | None = None
