"""The words that a ConsumerFleet's conditions and Events use. A word is never renamed or given another meaning."""

from __future__ import annotations

from enum import StrEnum


class FleetReason(StrEnum):
    ACCEPTED = "Accepted"
    INVALID_SPEC = "InvalidSpec"
    """It cannot be read, though the API server took it."""
    NOT_READ = "NotRead"
    """Of what stands for the fleets of a namespace that the operator may not read."""
    NAMESPACES_NOT_ALLOWED = "NamespacesNotAllowed"
    NAMESPACE_NOT_WATCHED = "NamespaceNotWatched"
    TIME_ZONE_UNKNOWN = "TimeZoneUnknown"
    TIME_NOT_UNDERSTOOD = "TimeNotUnderstood"
    """A schedule or a day that no calendar has, such as the 30th of February."""
    OVERRIDE_TOO_LONG = "OverrideTooLong"
    TOO_MANY_FLEETS = "TooManyFleets"
    """Only the oldest of its namespace count."""

    OPEN = "Open"
    NOT_ACCEPTED = "NotAccepted"
    PAUSED = "Paused"
    WINDOW_CLOSED = "WindowClosed"
    FROZEN = "Frozen"

    NOT_HALTED = "NotHalted"
    TOO_MANY_FAILED = "TooManyFailed"
    TOO_MANY_DISTURBED = "TooManyDisturbed"

    GROUPS_WAIT = "GroupsWait"
    NOBODY_WAITS = "NobodyWaits"

    SELECTED_TWICE = "SelectedTwice"
    DEFAULTS_DIFFER = "DefaultsDiffer"
    """Another fleet of its layer says other things of the same groups: the older one's hold."""
    NO_OVERLAP = "NoOverlap"

    OPENED = "Opened"
    CLOSED = "Closed"
    HALTED = "Halted"
    RESUMED = "Resumed"
    OVERRIDE_USED = "OverrideUsed"
    TURN_GIVEN = "TurnGiven"
    LET_THROUGH = "LetThrough"
    """A group begins though something keeps all others from it."""
