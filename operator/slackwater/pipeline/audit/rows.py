"""What the history of a group is told in: the rows of the audit's tables, still as plain values.

**What counts as a rebalance.** The group's partitions were handed out again:

- classic: a generation with members that follows another. The broker writes one record for it, when the leader has
  answered. A record of the *same* generation is none: a static member came back under a new member id.
- KIP-848: a new target assignment, of a higher epoch than the last. A higher group epoch alone is none yet: the broker
  waits for a heartbeat, and since Kafka 4.3 for the assignment interval, and then makes one assignment for all
  epochs since. A static member that comes back is handed its predecessor's target without a new epoch: none either.
- Going over from one protocol to the other (F6) keeps the number: none, unless the number rises with it.
- The last member's leaving is none: nobody gets anything. Its generation has a row without members.
- What compaction removed cannot be counted. Where a group's history does not begin with the group, its first generation
  is where counting begins.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from slackwater.pipeline.audit.facts import GroupType, Member, Position


class Cause(StrEnum):
    """Why a rebalance took place, as far as the topic tells. The first that applies, in this order."""

    MEMBER_JOINED = "MemberJoined"
    MEMBER_LEFT = "MemberLeft"
    ASSIGNOR = "Assignor"
    METADATA = "Metadata"  # another subscription, or partitions that the group never had
    STATIC_RETURN = "StaticReturn"
    COOPERATIVE = "Cooperative"  # the second step: partitions that the first one took away go to their new owners
    UNKNOWN = "Unknown"


@dataclass(frozen=True, slots=True)
class Generation:
    """A generation (classic) or the group epoch of an assignment (KIP-848), and who is in it with what.

    `unrecorded_before`: numbers since the one before that left no record (compacted away, or a classic generation that
    was overtaken before its leader had answered). None: the history begins here, whatever was before it.
    """

    position: Position
    generation: int
    group_type: GroupType
    protocol_type: str
    assignor: str | None
    leader: str | None
    members: tuple[Member, ...]
    unrecorded_before: int | None


@dataclass(frozen=True, slots=True)
class Rebalance:
    """`position` is that of the record that hands the partitions out; `from_generation` None: the group's first.

    `joined`, `left` count by instance id where there is one; `returned` are instance ids with another member id than
    before. `partitions_moved`: those that have an owner whom they did not have before.
    `duration_ms`: KIP-848 only, until the last member had caught up; None where the next came first. The classic
    protocol leaves no trace of when a rebalance began.
    """

    position: Position
    from_generation: int | None
    to_generation: int
    group_type: GroupType
    assignor: str | None
    members_before: int
    members_after: int
    joined: int
    left: int
    returned: int
    partitions_moved: int | None
    duration_ms: int | None
    cause: Cause


@dataclass(frozen=True, slots=True)
class Stay:
    """A member id from its coming to its going. `joined_at_ms` None: it was there when the history begins.

    `left_at_ms` None: still there. `returned`: it took its instance id over from another member id.
    """

    group_type: GroupType
    member: Member
    joined_at_ms: int | None
    left_at_ms: int | None
    returned: bool


Row = Generation | Rebalance | Stay
