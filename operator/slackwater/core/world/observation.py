"""What Kafka said about one consumer group at one moment.

Values only. Times are seconds since the epoch on the operator's clock, taken when the requests *began*, so that
"newer than my last act" is never said of an answer that was already under way.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from ipaddress import ip_address
from typing import Any, Final, NamedTuple

from pydantic import GetCoreSchemaHandler
from pydantic_core import CoreSchema, core_schema

from slackwater.core.world.identity import ordinal_of
from slackwater.core.world.reasons import Reason


class GroupState(StrEnum):
    """Kafka's own names, classic and KIP-848 together."""

    STABLE = "Stable"
    PREPARING_REBALANCE = "PreparingRebalance"
    COMPLETING_REBALANCE = "CompletingRebalance"
    ASSIGNING = "Assigning"
    RECONCILING = "Reconciling"
    EMPTY = "Empty"
    DEAD = "Dead"
    UNKNOWN = "Unknown"


class GroupType(StrEnum):
    CLASSIC = "Classic"
    CONSUMER = "Consumer"
    OTHER = "Other"
    """Share and Streams groups: not ours to run."""


class TopicPartition(NamedTuple):
    """In a file it is a text, `orders-0`, so that it can be the key of a JSON object."""

    topic: str
    partition: int

    def __str__(self) -> str:
        return f"{self.topic}-{self.partition}"

    @classmethod
    def parse(cls, text: Any) -> TopicPartition:
        """The reverse of `str`; a topic's name may have dashes of its own."""
        if isinstance(text, TopicPartition):
            return text
        topic, dash, number = text.rpartition("-") if isinstance(text, str) else ("", "", "")
        if not dash or not topic or not number.isdecimal():
            raise ValueError("write a partition as <topic>-<number>")
        return cls(topic, int(number))

    @classmethod
    def __get_pydantic_core_schema__(cls, source: type, handler: GetCoreSchemaHandler) -> CoreSchema:
        as_text = core_schema.plain_serializer_function_ser_schema(str, return_schema=core_schema.str_schema())
        return core_schema.no_info_plain_validator_function(cls.parse, serialization=as_text)


OLDEST_OBSERVATION_S: Final = 10.0
"""By one that is older nothing is judged: who is in the group by now, is not known."""


@dataclass(frozen=True, slots=True)
class Member:
    member_id: str
    instance_id: str | None
    client_id: str
    host: str
    """Of a replaced static member: the first holder's, not today's (F41)."""
    assignment: frozenset[TopicPartition] = frozenset()
    target: frozenset[TopicPartition] | None = None
    """KIP-848 only; None for classic groups."""
    epoch: int | None = None
    """KIP-848 only."""
    assignor_data: bool = False
    """Classic only: its assignment holds data of the assignor's own. Brokers take no such group to KIP-848 online."""
    subscribed: frozenset[str] | None = None
    """Topics that it asks for, which for a static member that came back may be others than it owns (F59); None where
    that is not known, as while a classic group rebalances, or of a pattern that brokers match."""

    @property
    def has_left(self) -> bool:
        """KIP-848: it stopped in order and may come back for a while; nobody has to wait for its instance id (F12)."""
        return self.epoch is not None and self.epoch < 0

    @property
    def address(self) -> str:
        """As Kubernetes writes a pod's; Java's brokers write each zero of an IPv6 address."""
        return _as_kubernetes_writes(self.host.lstrip("/"))


def _as_kubernetes_writes(host: str) -> str:
    if ":" not in host:
        return host
    try:
        return ip_address(host).compressed
    except ValueError:
        return host


class MemberRef(NamedTuple):
    """A static member as it was seen: both ids, so that nobody who took the instance id over since is ever meant."""

    instance_id: str
    member_id: str


def refs(members: Iterable[Member]) -> tuple[MemberRef, ...]:
    """Of the static ones among them."""
    return tuple(MemberRef(m.instance_id, m.member_id) for m in members if m.instance_id is not None)


@dataclass(frozen=True, slots=True)
class PartitionOffsets:
    """`None` means that nothing is known: never committed, or not answered."""

    committed: int | None
    end: int | None
    start: int | None = 0
    """The first record that is still there; asked for only where nothing was committed."""

    @property
    def unread(self) -> int | None:
        """Records that the group has before it: those behind what is committed, or all that are still there."""
        begins_at = self.committed if self.committed is not None else self.start
        return None if begins_at is None or self.end is None else max(0, self.end - begins_at)


@dataclass(frozen=True, slots=True)
class Places:
    """Where the members of one observation belong."""

    ordinals: Mapping[str, int]
    """By instance id, of those that are a ConsumerGroup's own."""
    by_ordinal: Mapping[int, tuple[Member, ...]]
    """The static ones among them."""
    by_address: Mapping[str, tuple[Member, ...]]
    """All of them, dynamic ones too."""


@dataclass(frozen=True, slots=True)
class Unobserved:
    """Kafka could not be asked, or said nothing of the group that is whole. Never to be mistaken for an empty group."""

    reason: Reason
    message: str
    since: float


@dataclass(frozen=True)
class GroupObservation:
    """One look. What follows from it is asked for each pod and member, and found once: therefore it has no slots."""

    group_id: str
    observed_at: float
    """When it began: what it does not show was not there by then."""
    state: GroupState
    type: GroupType
    assignor: str = ""
    epoch: int | None = None
    """Group epoch; KIP-848 only."""
    coordinator: int | None = None
    members: tuple[Member, ...] = ()
    partitions: frozenset[TopicPartition] = frozenset()
    """Every partition of the topics that the group is meant to read, as far as they are known."""
    offsets: Mapping[TopicPartition, PartitionOffsets] = field(default_factory=dict)
    blind_to: Unobserved | None = None
    """Why some of its topics or partitions could not be read; None: all were. Its members were, in any case."""
    blind_in: Mapping[str, Unobserved] = field(default_factory=dict)
    """The same by topic, while it is not known yet for whom of those who look at the group; empty afterwards."""
    settings: Mapping[str, str] | None = None
    """The group's own dynamic settings in Kafka (configs of its GROUP resource, F23), no defaults; None: not read."""
    answered_at: float | None = None
    """When all answers had come; None: at once."""

    @property
    def ended_at(self) -> float:
        """What it shows was there by then. A broker may take seconds to answer, in which members come."""
        return self.observed_at if self.answered_at is None else self.answered_at

    def places(self, group: str) -> Places:
        """Where its members belong, if the ConsumerGroup has this name."""
        if group not in self._places:
            self._places[group] = _places(self.members, group)
        return self._places[group]

    @cached_property
    def _places(self) -> dict[str, Places]:
        return {}

    @cached_property
    def held_ids(self) -> frozenset[str]:
        """Instance ids that nobody else can have: their members are there, alive or not."""
        return frozenset(m.instance_id for m in self.members if m.instance_id is not None and not m.has_left)

    @cached_property
    def commits(self) -> bool:
        """Whether anything was ever committed; a group may keep its offsets elsewhere."""
        return any(offsets.committed is not None for offsets in self.offsets.values())

    @cached_property
    def some_go_without(self) -> bool:
        """More members than partitions; the range assignor counts that topic by topic."""
        per_topic = Counter(partition.topic for partition in self.partitions)
        return len(self.members) > max(per_topic.values(), default=0)

    @cached_property
    def lag(self) -> int | None:
        """Total lag in records; None when that of any is unknown. Of a partition without a commit all is unread."""
        return self.lag_in(self.partitions)

    def lag_in(self, partitions: Iterable[TopicPartition]) -> int | None:
        """The same of these partitions."""
        total = 0
        for partition in partitions:
            offsets = self.offsets.get(partition)
            unread = offsets.unread if offsets is not None else None
            if unread is None:
                return None
            total += unread
        return total

    @property
    def state_in_words(self) -> str:
        """What people are told. A group that Kafka does not have is Dead to it."""
        if self.state is GroupState.DEAD:
            return "the group does not exist in Kafka: nobody has joined it yet"
        alone = ", nobody is in it" if self.state is GroupState.EMPTY else ""
        return f"the group is {self.state}{alone}"

    @cached_property
    def calm(self) -> bool:
        """Stable and, for KIP-848, every member where the coordinator wants it (F19, F16)."""
        if self.state is not GroupState.STABLE:
            return False
        return all(member.target is None or member.target == member.assignment for member in self.members)


def _places(members: Iterable[Member], group: str) -> Places:
    ordinals: dict[str, int] = {}
    by_ordinal: defaultdict[int, list[Member]] = defaultdict(list)
    by_address: defaultdict[str, list[Member]] = defaultdict(list)
    for member in members:
        by_address[member.address].append(member)
        ordinal = ordinal_of(member.instance_id, group)
        if member.instance_id is not None and ordinal is not None:
            ordinals[member.instance_id] = ordinal
            by_ordinal[ordinal].append(member)
    return Places(
        ordinals,
        {ordinal: tuple(found) for ordinal, found in by_ordinal.items()},
        {address: tuple(found) for address, found in by_address.items()},
    )


KafkaView = GroupObservation | Unobserved
