"""A recommendation as the operator looks at it: for which group, made when and of how much, what for each setting."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class AdviceStatus(StrEnum):
    RECOMMENDED = "Recommended"
    KEEP_TODAY = "KeepToday"
    NOT_ENOUGH_DATA = "NotEnoughData"
    NOT_ENOUGH_TIME = "NotEnoughTime"
    INFEASIBLE = "Infeasible"


class Subject(StrEnum):
    """What a value is recommended for, in the words of a recommendation; the protocol in force says which setting."""

    SESSION = "session"
    HEARTBEAT = "heartbeat"
    MAX_POLL_INTERVAL = "maxPollInterval"
    MAX_POLL_RECORDS = "maxPollRecords"


@dataclass(frozen=True, slots=True)
class Range:
    """Milliseconds, or records of a poll. Anything from `lower` to `upper` does about as well as `target`."""

    lower: int
    target: int
    upper: int
    why: str = ""


@dataclass(frozen=True, slots=True)
class Advice:
    group_id: str
    as_of: float
    """Seconds since the epoch: up to when the history went that it was made of."""
    generation: int | None
    """Of the spec that the group had then."""
    status: AdviceStatus
    why: str
    restarts: int
    """How many restarts it was learned from."""
    ranges: Mapping[Subject, Range] = field(default_factory=dict)
    consumer_protocol: bool | None = None
    """Whether the group was a KIP-848 group then; None: not known."""
    membership: str = ""
    """Static, Dynamic or WarmHandover, where another one than today's would cost less; empty otherwise."""
    saving_partition_s_per_month: float | None = None
