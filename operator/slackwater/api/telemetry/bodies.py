"""What the events say, one model for each type. A null means "not known", or what the field's text says."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from slackwater.api.client import Library
from slackwater.api.consumer_group import Membership
from slackwater.api.fleet_budgets import MoveReason
from slackwater.api.rollout import RolloutStrategy
from slackwater.api.telemetry.wire import Count, Milliseconds, Moment, Seconds, WireModel
from slackwater.api.telemetry.words import (
    ChangedBy,
    GroupType,
    HeldBy,
    Outcome,
    PollSource,
    RebalanceCause,
    RebalanceProtocol,
    RestartMode,
    RestartReason,
    TurnOutcome,
)
from slackwater.api.timeouts import TimeoutsMode


class GroupObserved(WireModel):
    """How a group is, and what its members are given. Told when anything in it changes, lag at most once a minute."""

    state: str
    """Kafka's own name."""
    group_type: GroupType
    assignor: str
    members: Count
    partitions: Count
    unowned_partitions: Count
    """Partitions that no member has."""
    lag: Count | None = None
    """Records behind, over all partitions."""
    replicas: Count
    members_per_pod: Count
    membership: Membership
    rollout_strategy: RolloutStrategy
    library: Library
    library_version: str | None = None
    protocol: RebalanceProtocol
    timeouts_mode: TimeoutsMode
    session_timeout_ms: Milliseconds | None = None
    """Null: the group has whatever the brokers or its consumers have of their own."""
    heartbeat_interval_ms: Milliseconds | None = None
    max_poll_interval_ms: Milliseconds | None = None
    max_poll_records: Count | None = None
    """Null: the library's default, or a library that has no such setting."""
    recover_within_ms: Milliseconds | None = None
    """Null: no such objective is set."""
    needless_rebalances_per_month: Annotated[float, Field(ge=0)] | None = None
    """Null: no such objective is set."""
    session_min_ms: Milliseconds | None = None
    """The least that the brokers allow, for the protocol in force."""
    session_max_ms: Milliseconds | None = None
    heartbeat_min_ms: Milliseconds | None = None
    heartbeat_max_ms: Milliseconds | None = None
    spec_generation: Count
    warm_up_ms: Milliseconds | None = None
    """How long a partition is slow with a new owner, as the spec says; null: it does not."""
    warmed_up_s: Seconds | None = None
    """How long it took after the last rebalance that was watched to its end, until the lag was back where it was
    before; half an hour at most. Null: none was yet."""
    warmed_up_after: Moment | None = None
    """Which rebalance that was: its `ended_at`."""


class MemberRestarted(WireModel):
    """A member's process ended; and, told later under the same `episode`, what became of it.

    Each telling says all that was known then, so the newest one of an episode is the whole of it, unless another
    operator process told it: that one may not know what the first saw, and leaves it null, or its reason Unknown. So a
    reader takes, for each field, the newest telling in which it is known. While a member stays away that is told again
    every five minutes: it is known to have been away until the `at` of its newest telling, and of later nothing is
    known.
    """

    episode: str
    """The same for all tellings of one restart."""
    instance_id: str | None = None
    """Null for dynamic members."""
    pod: str
    ordinal: Count
    reason: RestartReason
    mode: RestartMode
    outcome: Outcome
    last_seen_at: Moment | None = None
    """The last moment at which its process was known to run; never later than `stopped_at`."""
    stopped_at: Moment | None = None
    """When its process ended, as the kubelet tells it: in whole seconds."""
    started_at: Moment | None = None
    """When the process that came after it started."""
    ready_at: Moment | None = None
    """When that one's pod was Ready."""
    rejoined_at: Moment | None = None
    """When that one was first seen in the group."""
    evicted: bool | None = None
    """Whether the group gave its partitions to others meanwhile."""
    partitions: Count | None = None
    """How many it owned before."""
    spec_generation: Count | None = None
    """Of the ConsumerGroup when the process ended: restarts of one rollout have the same. Null: told by an operator
    that did not say so yet."""


class Rebalance(WireModel):
    """Partitions changed hands, or were withdrawn for a while. Told when the group is calm again."""

    started_at: Moment | None = None
    """The first look that saw it under way; null when it fell between two looks."""
    ended_at: Moment
    """The first look that saw the group calm again."""
    generation_before: Count | None = None
    """Null where not visible: of classic groups."""
    generation_after: Count | None = None
    members_before: Count
    members_after: Count
    partitions_moved: Count
    """Partitions that have another owner now. A static member that came back is the same owner."""
    cause: RebalanceCause
    instance_ids: tuple[str, ...]
    """Static members that came, went, or came back."""


class PollObserved(WireModel):
    """How one pod's consumers poll, from their own metrics, over the time that those look back on."""

    pod: str
    instance_id: str | None = None
    window_s: Seconds
    time_between_poll_avg_ms: Annotated[float, Field(ge=0)] | None = None
    time_between_poll_max_ms: Annotated[float, Field(ge=0)] | None = None
    records_per_poll_avg: Annotated[float, Field(ge=0)] | None = None
    poll_idle_ratio_avg: Annotated[float, Field(ge=0, le=1)] | None = None
    """The share of time that the consumers spend waiting for records."""
    source: PollSource


class GateHeld(WireModel):
    """Why nothing was done although there was work. Told when it begins and, with `until`, when it ends."""

    reason: str
    """A condition's reason."""
    message: str
    since: Moment
    until: Moment | None = None
    """Null while it holds."""
    held_s: Seconds


class SettingChange(WireModel):
    name: str
    """As Kafka has it, for example `session.timeout.ms`."""
    before: str | None = None
    """Null: it was not set."""
    after: str | None = None


class SettingsChanged(WireModel):
    """Settings that decide about members' lives have other values from now on."""

    how: ChangedBy
    changes: tuple[SettingChange, ...]
    spec_generation: Count


class TurnHeld(WireModel):
    """What held a group back for a part of its wait: one thing at a time, the one at which it stood in line."""

    by: HeldBy
    fleet: str | None = None
    """The ConsumerFleet whose it is, or the FleetCampaign, as `namespace/name`; null: not known."""
    name: str | None = None
    """Of the budget, or of the campaign's wave."""
    place: str | None = None
    """Where it counts, such as `lkc-7f/2` for broker 2 of a Kafka cluster; null where it counts everywhere."""
    held_s: Seconds
    """As it was seen: a group that waits is looked at once a minute."""


class Turn(WireModel):
    """A group's turn to move, where ConsumerFleets say how many groups may. Told when it is asked for, every hour while
    the group waits, when it is given, and when it ends.

    Each telling says all that was known then, as those of a member's restart do: take, for each field, the newest
    telling in which it is known.
    """

    turn: str
    """The same for all tellings of one turn; and where an upgrade's step failed and is tried again, of both turns."""
    reason: MoveReason
    outcome: TurnOutcome
    fleets: tuple[str, ...]
    """All that select the group and so had to agree, as `namespace/name`."""
    campaign: str | None = None
    """The uid of the FleetCampaign that called the group; null: it moves of its own accord."""
    asked_at: Moment
    """By which its place in the line goes: a turn that ended early asks again with the moment of the first asking, and
    each step of an upgrade with that of the first step."""
    waits_since: Moment | None = None
    """When this wait began."""
    given_at: Moment | None = None
    ended_at: Moment | None = None
    waited_s: Seconds | None = None
    """Until it was given or withdrawn, or until this telling."""
    lasted_s: Seconds | None = None
    """From when it was given until it ended."""
    coordinator: Count | None = None
    """The broker that coordinated the group when it was given."""
    held_by: tuple[TurnHeld, ...]
    """The longest first, 16 at most. What is missing of `waited_s` went to the group's own gates, or was not seen."""
