"""Four groups whose rebalances a test causes, one by one, and what Kafka itself says of them after each step.

Both protocols, with dynamic and with static members. Each step waits until every group is calm again, so that what was
caused is known: `caused` is the truth that the audit is held to.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from confluent_kafka import ConsumerGroupState, KafkaException
from confluent_kafka.admin import AdminClient, NewTopic

from tests.adapters.kafka.running_consumers import CLASSIC, CONSUMER, RunningConsumer
from tests.e2e.stage.waiting import wait_for

TOPIC = "orders"
PARTITIONS = 6
ANSWER_WITHIN_S = 10.0
CALM_WITHIN_S = 180.0
"""Kafka 4.3 waits 5 s between two assignments; the machine may be busy."""


@dataclass(frozen=True)
class Seen:
    """One member, as DescribeConsumerGroups tells it."""

    member_id: str
    instance_id: str | None
    client_id: str
    host: str
    partitions: frozenset[str]


@dataclass
class Group:
    """One group of the story, its running consumers by ordinal, and the truth of it."""

    group_id: str
    protocol: Mapping[str, str | int]
    is_static: bool
    consumers: dict[int, RunningConsumer] = field(default_factory=dict)
    caused: list[tuple[int, int]] = field(default_factory=list)
    """Members before and after each rebalance that was caused."""
    seen: frozenset[Seen] = frozenset()
    """The members after the last step."""

    @property
    def is_classic(self) -> bool:
        return self.protocol is CLASSIC


class Story:
    """Plays on a broker of its own."""

    def __init__(self, bootstrap: str) -> None:
        self.bootstrap = bootstrap
        admin = AdminClient({"bootstrap.servers": bootstrap})
        admin.create_topics([NewTopic(TOPIC, PARTITIONS, 1)])[TOPIC].result(timeout=30)
        self._admin: AdminClient | None = admin
        self.groups = [
            Group(f"{name}-{membership}", protocol, membership == "static")
            for name, protocol in (("classic", CLASSIC), ("consumer", CONSUMER))
            for membership in ("dynamic", "static")
        ]

    @property
    def static(self) -> list[Group]:
        return [group for group in self.groups if group.is_static]

    def join(self, ordinal: int) -> None:
        """A member more in every group: a rebalance in each."""
        for group in self.groups:
            self._start(group, ordinal)
        self._until_calm(self.groups, ordinal + 1, caused=True)

    def leave(self, ordinal: int) -> None:
        """That member of every dynamic group leaves: a rebalance in each."""
        dynamic = [group for group in self.groups if not group.is_static]
        for group in dynamic:
            group.consumers.pop(ordinal).stop()
        self._until_calm(dynamic, ordinal, caused=True)

    def come_back(self, ordinal: int) -> None:
        """That static member is replaced in every static group: a rebalance in none."""
        for group in self.static:
            group.consumers.pop(ordinal).stop()
            self._start(group, ordinal)
        for group in self.static:
            wait_for(f"{group.group_id} has another member id", self._replaced(group), CALM_WITHIN_S)
        self._until_calm(self.static, len(self.static[0].consumers), caused=False)

    def end(self) -> None:
        for group in self.groups:
            for consumer in group.consumers.values():
                consumer.stop()
        self._admin = None  # before the broker ends: it has been seen to wait for ever for one that is gone

    def _start(self, group: Group, ordinal: int) -> None:
        instance_id = f"{group.group_id}-{ordinal}" if group.is_static else None
        consumer = RunningConsumer(self.bootstrap, group.group_id, TOPIC, group.protocol, instance_id)
        group.consumers[ordinal] = consumer

    def _until_calm(self, groups: Iterable[Group], members: int, *, caused: bool) -> None:
        for group in groups:
            wait_for(f"{group.group_id} has {members} members and is calm", self._calm(group, members), CALM_WITHIN_S)
            before = len(group.seen)
            group.seen = frozenset(_seen(each) for each in self._describe(group).members)
            if caused:
                group.caused.append((before, members))

    def _replaced(self, group: Group) -> Callable[[], bool]:
        before = {each.member_id for each in group.seen}
        return lambda: bool({each.member_id for each in self._describe(group).members} - before)

    def _calm(self, group: Group, members: int) -> Callable[[], bool]:
        def is_calm() -> bool:
            try:
                told = self._describe(group)
            except (KafkaException, TimeoutError):  # no such group yet, or its coordinator is still to come
                return False
            owned = [each for member in told.members for each in member.assignment.topic_partitions]
            reached = all(
                member.target_assignment is None
                or set(member.target_assignment.topic_partitions) == set(member.assignment.topic_partitions)
                for member in told.members
            )
            is_stable = told.state is ConsumerGroupState.STABLE
            return is_stable and reached and len(told.members) == members and len(owned) == PARTITIONS

        return is_calm

    def _describe(self, group: Group) -> Any:
        assert self._admin is not None, "it has ended"
        asked = self._admin.describe_consumer_groups([group.group_id], request_timeout=ANSWER_WITHIN_S)
        return asked[group.group_id].result(timeout=2 * ANSWER_WITHIN_S)


@contextmanager
def played(bootstrap: str) -> Iterator[Story]:
    """The whole story; its consumers run until the end of the context."""
    story = Story(bootstrap)
    try:
        for ordinal in range(3):
            story.join(ordinal)
        story.leave(2)
        story.come_back(0)
        story.come_back(1)
        yield story
    finally:
        story.end()


def _seen(member: Any) -> Seen:
    partitions = frozenset(f"{each.topic}-{each.partition}" for each in member.assignment.topic_partitions)
    return Seen(member.member_id, member.group_instance_id, member.client_id, member.host, partitions)
