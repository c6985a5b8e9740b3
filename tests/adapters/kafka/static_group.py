"""A group of static members that can be killed: who they are in Kafka, and what they tell of themselves."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping

from slackwater.adapters.kafka.group_reader import KafkaGroupReader
from slackwater.core.world.observation import GroupObservation, KafkaView, MemberRef
from tests.adapters.kafka.consumer_process import ConsumerProcess
from tests.adapters.kafka.running_consumers import settled, view_until

SESSION_S = 45.0
CLASSIC: Mapping[str, str | int] = {"group.protocol": "classic", "session.timeout.ms": int(SESSION_S * 1000)}
CONSUMER: Mapping[str, str | int] = {"group.protocol": "consumer"}
"""45 s as well, by the brokers' default."""


class StaticGroup:
    """A group of static members, each a process, and what is known of it."""

    def __init__(
        self, bootstrap: str, topic: str, group_id: str, reader: KafkaGroupReader, partitions: int = 6
    ) -> None:
        self.partitions = partitions
        self.topic = topic
        self.group_id = group_id
        self._bootstrap = bootstrap
        self._reader = reader
        self.members: list[ConsumerProcess] = []

    def start(self, ordinal: int, protocol: Mapping[str, str | int]) -> ConsumerProcess:
        member = ConsumerProcess(self._bootstrap, self.group_id, self.topic, protocol, self.instance_id(ordinal))
        self.members.append(member)
        return member

    def instance_id(self, ordinal: int) -> str:
        return f"{self.group_id}-{ordinal}"

    async def until(self, is_right: Callable[[KafkaView], bool], within_s: float = 60.0) -> GroupObservation:
        view = await view_until(self._reader, self.group_id, self.topic, is_right, within_s)
        assert isinstance(view, GroupObservation)
        return view

    async def started(self, count: int, protocol: Mapping[str, str | int]) -> dict[str, MemberRef]:
        """Start so many members and wait until they own everything; who they are, by instance id."""
        for ordinal in range(count):
            self.start(ordinal, protocol)
        view = await self.until(settled(count, self.partitions))
        await told(lambda: set().union(*(m.owned for m in self.members)) == set(range(self.partitions)))
        return refs(view)

    async def started_at_once(self, count: int, protocol: Mapping[str, str | int]) -> None:
        """The same, with all of them in the group's first generation. Whoever of librdkafka is in a second one with
        `cooperative-sticky` has data of its assignor in its assignment, and no such group is taken to KIP-848."""
        await self.started(count, protocol)
        view = await self.until(settled(count, self.partitions))
        while any(member.assignor_data for member in view.members):
            self.end()
            self.members.clear()
            self.group_id += "-again"
            await self.started(count, protocol)
            view = await self.until(settled(count, self.partitions))

    def end(self) -> None:
        """End every process."""
        for member in self.members:
            member.kill()

    def untouched_since(self, at: float, *but: ConsumerProcess) -> bool:
        """Whether no partition came to, or went from, any living member but those."""
        others = [member for member in self.members if member not in but and member.runs]
        return not any(member.moves_since(at) for member in others)


def refs(view: GroupObservation) -> dict[str, MemberRef]:
    return {m.instance_id: MemberRef(m.instance_id, m.member_id) for m in view.members if m.instance_id is not None}


async def told(is_so: Callable[[], bool], within_s: float = 30.0) -> None:
    """Wait for what the members tell."""
    deadline = time.monotonic() + within_s
    while not is_so():
        assert time.monotonic() < deadline, f"not within {within_s:g} s"
        await asyncio.sleep(0.05)
