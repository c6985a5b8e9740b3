"""The closed vocabularies of the events, where no resource has the same words already."""

from __future__ import annotations

from enum import StrEnum


class EventType(StrEnum):
    """An event holds one object of its own named by its type."""

    GROUP_OBSERVED = "group_observed"
    MEMBER_RESTARTED = "member_restarted"
    REBALANCE = "rebalance"
    POLL_OBSERVED = "poll_observed"
    GATE_HELD = "gate_held"
    SETTINGS_CHANGED = "settings_changed"
    TURN = "turn"


class GroupType(StrEnum):
    CLASSIC = "Classic"
    CONSUMER = "Consumer"
    OTHER = "Other"


class RebalanceProtocol(StrEnum):
    UNKNOWN = ""
    EAGER = "Eager"
    COOPERATIVE = "Cooperative"
    CONSUMER = "Consumer"
    """KIP-848."""


class RestartReason(StrEnum):
    ROLLOUT = "Rollout"
    """The operator restarted it."""
    CRASH = "Crash"
    """Its process ended by itself."""
    OUT_OF_MEMORY = "OutOfMemory"
    EVICTED = "Evicted"
    NODE_LOST = "NodeLost"
    DELETED = "Deleted"
    """Somebody else deleted its pod."""
    SCALED_AWAY = "ScaledAway"
    UNKNOWN = "Unknown"


class RestartMode(StrEnum):
    """What the group's members are, which decides what a restart costs."""

    IN_PLACE = "InPlace"
    """A static member, whose partitions wait for it."""
    WARM_HANDOVER = "WarmHandover"
    """A static member, whose successor was there before it went (F37)."""
    DYNAMIC = "Dynamic"


class Outcome(StrEnum):
    AWAY = "Away"
    RETURNED = "Returned"
    SCALED_AWAY = "ScaledAway"
    """It will not come back, and was not to."""


class RebalanceCause(StrEnum):
    RESTART = "Restart"
    SCALE = "Scale"
    UPGRADE = "Upgrade"
    CRASH = "Crash"
    FOREIGN = "Foreign"
    """A member that the operator does not run came or went."""
    UNKNOWN = "Unknown"


class PollSource(StrEnum):
    """In whose words the consumer publishes its metrics."""

    JAVA = "Java"
    MICROMETER = "Micrometer"
    LIBRDKAFKA = "Librdkafka"


class ChangedBy(StrEnum):
    ROLLOUT = "Rollout"
    """Pods were restarted with other settings."""
    GROUP_CONFIG = "GroupConfig"
    """The group's own settings in Kafka: no pod was restarted (F23)."""


class TurnOutcome(StrEnum):
    WAITS = "Waits"
    """It was asked for, and is not given yet."""
    HAS = "Has"
    """It was given: the group may move."""
    DONE = "Done"
    """What it was for has come to its end, whichever."""
    GAVE_WAY = "GaveWay"
    """It ended early, since nothing came of it for a while: the group asks for another one."""
    WITHDRAWN = "Withdrawn"
    """It was never given, and is not needed any more."""


class HeldBy(StrEnum):
    """What has no room for a group that waits."""

    BUDGET = "Budget"
    WAVE = "Wave"
    """Of a FleetCampaign: as many of its groups move as may."""
    WINDOW = "Window"
    """All are closed."""
    FREEZE = "Freeze"
    PAUSE = "Pause"
    HALT = "Halt"
    NOT_ACCEPTED = "NotAccepted"
    """The fleet's spec cannot be kept."""
    ORDER = "Order"
    """Of a FleetCampaign, which has not called it."""
