"""A KIP-848 group as its records have built it up so far. Topics get their names here. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from slackwater.pipeline.audit.facts import Member, MemberCurrent, Partitions


@dataclass(slots=True)
class ConsumerGroup:
    """Members, targets and epochs; a static member that is away is still a member."""

    members: dict[str, Member] = field(default_factory=dict)
    targets: dict[str, Partitions] = field(default_factory=dict)
    epoch: int | None = None
    assigned_epoch: int | None = None
    names: dict[str, str] = field(default_factory=dict)
    catching_up: set[str] = field(default_factory=set)
    """Members that have not yet reached their target of `assigned_epoch`."""

    @property
    def awaits_assignment(self) -> bool:
        return self.epoch is not None and self.epoch != self.assigned_epoch

    def describe(self, member: Member) -> None:
        if member.member_id not in self.members and self.catching_up:
            self.catching_up.add(member.member_id)
        self.members[member.member_id] = member

    def remove(self, member_id: str) -> None:
        self.members.pop(member_id, None)
        self.catching_up.discard(member_id)

    def assign(self, epoch: int) -> None:
        """The targets are complete for this epoch."""
        self.assigned_epoch = epoch
        self.catching_up = set(self.members)

    def caught_up(self, current: MemberCurrent) -> bool:
        """Whether with this the last member has what it is to have. True once for each assignment at most."""
        reached = current.epoch == self.assigned_epoch
        if not reached or current.partitions != self.targets.get(current.member_id, frozenset()):
            return False
        was_open = bool(self.catching_up)
        self.catching_up.discard(current.member_id)
        return was_open and not self.catching_up

    def assigned_members(self) -> dict[str, Member]:
        """The members with their targets as their partitions, topics by name."""
        self._infer_name()
        return {
            who: replace(member, partitions=self._named(self.targets.get(who, frozenset())))
            for who, member in self.members.items()
        }

    def assignor(self) -> str | None:
        """What the members ask for, where all ask for the same; else the broker's choice, which stands nowhere."""
        asked = {member.assignor for member in self.members.values()}
        return asked.pop() if len(asked) == 1 else None

    def learn(self, names: Mapping[str, str]) -> None:
        self.names.update(names)

    def _named(self, partitions: Partitions) -> Partitions:
        return frozenset((self.names.get(topic, topic), number) for topic, number in partitions)

    def _infer_name(self) -> None:
        """Since Kafka 4.1 names stand in offset commits only. One subscription and one id without the other: a pair."""
        ids = {topic for target in self.targets.values() for topic, _ in target} - self.names.keys()
        subscribed = {topic for member in self.members.values() for topic in member.subscription}
        nameless = {topic for topic in subscribed if not topic.startswith("regex:")} - set(self.names.values())
        if len(ids) == len(nameless) == 1 and not any(topic.startswith("regex:") for topic in subscribed):
            self.names[ids.pop()] = nameless.pop()
