"""What one record of the offsets topic says, in the words of the field. Plain values; imports nothing of Spark.

A partition is a pair (topic, number). In records of KIP-848 the topic is an id until the history finds its name.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

Partitions = frozenset[tuple[str, int]]


class GroupType(StrEnum):
    """Which protocol the group speaks; Kafka's own words."""

    CLASSIC = "Classic"
    CONSUMER = "Consumer"


@dataclass(frozen=True, slots=True)
class Position:
    """Where a record stands, and when the broker appended it (milliseconds since the epoch)."""

    partition: int
    offset: int
    at_ms: int


@dataclass(frozen=True, slots=True)
class Member:
    """One member. None is what the topic does not say: a KIP-848 member's session timeout is a setting of its group.

    `subscription`: topic names, and `regex:…` where it subscribes to a pattern.
    `partitions`: None where the group's protocol is not Kafka's consumer protocol, or its bytes are damaged.
    """

    member_id: str
    instance_id: str | None
    client_id: str
    client_host: str
    session_timeout_ms: int | None
    rebalance_timeout_ms: int | None
    subscription: tuple[str, ...]
    partitions: Partitions | None
    assignor: str | None = None

    @property
    def identity(self) -> str:
        """Who it is, through restarts: a static member has its instance id, a dynamic one is new each time."""
        return self.member_id if self.instance_id is None else self.instance_id


@dataclass(frozen=True, slots=True)
class ClassicGroup:
    """Key type 2: the whole group as it is from this generation on."""

    protocol_type: str
    generation: int
    assignor: str | None
    leader: str | None
    members: tuple[Member, ...]


@dataclass(frozen=True, slots=True)
class EpochBumped:
    """Key type 3: something changed that calls for a new assignment."""

    epoch: int


@dataclass(frozen=True, slots=True)
class TopicsNamed:
    """Key type 4, and offset commits: names by topic id."""

    names: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class MemberDescribed:
    """Key type 5: a member came, or told something new of itself."""

    member: Member


@dataclass(frozen=True, slots=True)
class TargetMade:
    """Key type 6: the members' targets that precede it are the assignment of this epoch."""

    epoch: int


@dataclass(frozen=True, slots=True)
class MemberTarget:
    """Key type 7: what a member is to own."""

    member_id: str
    partitions: Partitions


@dataclass(frozen=True, slots=True)
class MemberCurrent:
    """Key type 8: what a member owns, and the epoch that it has caught up with (-2: a static one that is away)."""

    member_id: str
    epoch: int
    partitions: Partitions


@dataclass(frozen=True, slots=True)
class GroupGone:
    """A tombstone of key type 2 or 3: the group was deleted, or goes over to the other protocol."""


@dataclass(frozen=True, slots=True)
class MemberGone:
    """A tombstone of key type 5."""

    member_id: str


@dataclass(frozen=True, slots=True)
class MemberTargetGone:
    """A tombstone of key type 7."""

    member_id: str


@dataclass(frozen=True, slots=True)
class Nothing:
    """A record that changes nothing here: the other tombstones."""


Fact = (
    ClassicGroup
    | EpochBumped
    | TopicsNamed
    | MemberDescribed
    | TargetMade
    | MemberTarget
    | MemberCurrent
    | GroupGone
    | MemberGone
    | MemberTargetGone
    | Nothing
)
