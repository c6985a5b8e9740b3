"""The brokers as the tests see them: topics, groups, load; by another client than the operator's."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Self

from confluent_kafka import (
    Consumer,
    ConsumerGroupState,
    ConsumerGroupTopicPartitions,
    KafkaError,
    KafkaException,
    Producer,
    TopicPartition,
)
from confluent_kafka.admin import (
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    ConsumerGroupDescription,
    NewTopic,
    ResourceType,
)

from sandbox.workload import generations, group_records
from sandbox.workload.generations import Generation
from tests.e2e.stage.waiting import wait_for

ROOT: Final = Path(__file__).resolve().parents[3]
_COORDINATOR_LOST: Final = (KafkaError.NOT_COORDINATOR, KafkaError._TIMED_OUT)
"""The other one where the coordinator's broker was restarted: to that client it may be silent from then on."""
_NO_COORDINATOR_YET: Final = (KafkaError.COORDINATOR_LOAD_IN_PROGRESS, KafkaError.COORDINATOR_NOT_AVAILABLE)
"""After a broker was frozen, or fenced: it reads its groups again."""
_REQUEST_S: Final = 60.0
_ANSWER_S: Final = 2 * _REQUEST_S
"""A client that does not even say that its time is over has a bug, which must not take a day to show."""
_LOOK_AGAIN_S: Final = 0.1
_SESSIONS_S: Final = 90.0
"""Twice what clients and brokers take for a session where nobody says otherwise."""
_NOBODY: Final = (ConsumerGroupState.EMPTY.name, ConsumerGroupState.DEAD.name)
_OF_THE_GROUP: Final = 8
"""Kafka's number for a setting that a group has itself; the library has no name for it."""
_QUIET: Final[dict[str, Any]] = {"log_level": 0}
_NOT_LED_YET: Final = (
    KafkaError.NOT_LEADER_FOR_PARTITION,
    KafkaError.LEADER_NOT_AVAILABLE,
    KafkaError.UNKNOWN_TOPIC_OR_PART,
    KafkaError._UNKNOWN_PARTITION,
    KafkaError._UNKNOWN_TOPIC,
)


@dataclass(frozen=True, slots=True)
class Sighting:
    """A group as the brokers described it; `asked_at` and `seen_at` are seconds since the epoch."""

    asked_at: float
    seen_at: float
    state: str
    members: dict[str, str]
    """Instance id → member id; a dynamic member's client id stands for its instance id."""
    owned: int
    """Assigned partitions; one with two owners counts twice."""
    kind: str = ""
    """The protocol of its members, in Kafka's words: CLASSIC or CONSUMER."""
    assignor: str = ""
    owners: frozenset[tuple[int, str]] = frozenset()
    """Partition of the one topic and the instance id, or the member id of a dynamic member, that it is assigned to."""
    dynamic: int = 0
    """How many of its members have no instance id."""
    topics: frozenset[str] = frozenset()
    """Of which somebody owns a partition."""

    @property
    def shape(self) -> tuple[object, ...]:
        return (self.state, tuple(sorted(self.members.items())), self.owned)


class Kafka:
    """The brokers, by their plain listener."""

    def __init__(self, bootstrap_servers: str) -> None:
        self.bootstrap_servers = bootstrap_servers
        self._admin = self._new_admin()
        self._replaced: list[AdminClient] = []

    def make_topic(self, name: str, partitions: int) -> None:
        """Returns when the partitions can be used: their leaders learn of them a moment after the topic is created."""
        self._admin.create_topics([NewTopic(name, partitions)])[name].result(_REQUEST_S)
        wait_for(f"leaders of {name}", lambda: self._has_leaders(name, partitions), 30.0)

    def _has_leaders(self, topic: str, partitions: int) -> bool:
        try:
            self._ends(topic, partitions)
        except KafkaException as error:
            if error.args[0].code() not in _NOT_LED_YET:
                raise
            return False
        return True

    def remove_topics(self, *names: str) -> None:
        for removed in self._admin.delete_topics(list(names)).values() if names else ():
            removed.result(_REQUEST_S)

    def remove_topics_of(self, prefix: str) -> None:
        """Topics whose names begin so."""
        found = self._admin.list_topics(timeout=_REQUEST_S).topics
        self.remove_topics(*(name for name in found if name.startswith(prefix)))

    def remove_groups(self, prefix: str) -> None:
        """Groups whose ids begin so, their pods being gone, and their static members with them.

        A dynamic member that was killed, as one is that is ended before it can close its consumer, stays in its group
        until its session ends: nobody can take it out.
        """
        ours = [group for group in self._listed() if group.startswith(prefix)]
        wait_for("dynamic members' sessions to end", lambda: not self._with_dynamic_members(ours), _SESSIONS_S)
        left = {group: seen.members for group in ours if (seen := self.look(group)).members}
        assert not left, f"static members that nobody took out: {left}"
        # The rebalance that the last one's removal began has an end of its own.
        wait_for("groups to be empty", lambda: all(self.look(group).state in _NOBODY for group in ours), _SESSIONS_S)
        for removed in self._admin.delete_consumer_groups(ours).values() if ours else ():
            removed.result(_REQUEST_S)

    def _with_dynamic_members(self, groups: list[str]) -> list[str]:
        return [group for group in groups if self.look(group).dynamic]

    def look(self, group: str) -> Sighting:
        """A group that nobody knows is Dead and empty.

        The client asks for a group of the one protocol, and then for one of the other: a group that goes from one to
        the other in between looks like one that nobody knows, but it is listed.
        """
        while (sighting := self._describe(group)).state == ConsumerGroupState.DEAD.name and group in self._listed():
            pass
        return sighting

    def _listed(self) -> set[str]:
        listed = self._admin.list_consumer_groups(request_timeout=_REQUEST_S).result(_ANSWER_S)
        return {each.group_id for each in listed.valid if each.state is not ConsumerGroupState.DEAD}

    def _new_admin(self) -> AdminClient:
        return AdminClient({"bootstrap.servers": self.bootstrap_servers, **_QUIET})

    def _describe(self, group: str) -> Sighting:
        return wait_for(f"the coordinator of {group}", lambda: self._unless_lost(group), _ANSWER_S)

    def _unless_lost(self, group: str) -> Sighting | None:
        """None while no broker is the coordinator: one that lost its place is asked for again."""
        try:
            return self._asked(group)
        except KafkaException as error:
            code = error.args[0].code()
            if code in _NO_COORDINATOR_YET:
                return None
            if code not in _COORDINATOR_LOST:
                raise
        self._replaced.append(self._admin)  # another thread may wait for its answer: who is thrown away gives none
        self._admin = self._new_admin()  # the one before keeps to the coordinator that it found first for 15 minutes
        return None

    def _asked(self, group: str) -> Sighting:
        asked_at = time.time()
        try:
            found = self._admin.describe_consumer_groups([group], request_timeout=_REQUEST_S)[group].result(_ANSWER_S)
        except KafkaException as error:
            if error.args[0].code() != KafkaError.GROUP_ID_NOT_FOUND:
                raise
            return Sighting(asked_at, time.time(), ConsumerGroupState.DEAD.name, {}, 0)
        members = {member.group_instance_id or member.client_id: member.member_id for member in found.members}
        owned = sum(len(member.assignment.topic_partitions) for member in found.members if member.assignment)
        return Sighting(
            asked_at,
            time.time(),
            found.state.name,
            members,
            owned,
            found.type.name,
            found.partition_assignor,
            _owners(found),
            sum(not member.group_instance_id for member in found.members),
            frozenset(
                p.topic for member in found.members if member.assignment for p in member.assignment.topic_partitions
            ),
        )

    def committed(self, group: str) -> dict[int, int]:
        """Partition → offset, of one topic; empty when nothing was committed."""
        asked = self._admin.list_consumer_group_offsets([ConsumerGroupTopicPartitions(group)])
        found: ConsumerGroupTopicPartitions = asked[group].result(_REQUEST_S)
        return {each.partition: each.offset for each in found.topic_partitions or ()}

    def commits(self, group: str) -> list[group_records.Commit]:
        """Every offset that it has committed, in order, as far back as the brokers remember."""
        return group_records.commits({"bootstrap_servers": self.bootstrap_servers}, group)

    def lag(self, group: str, topic: str, partitions: int) -> int:
        """Records behind, a partition without a commit counting as unread."""
        committed = self.committed(group)
        ends = self._ends(topic, partitions)
        return sum(max(0, end - committed.get(partition, 0)) for partition, end in ends.items())

    def rebalances(self, group: str, since: float, until: float) -> int:
        """How often the group went on to another generation between two moments (seconds since the epoch)."""
        return generations.count_rebalances(self.generations(group), group, int(since * 1000), int(until * 1000))

    def generations(self, group: str) -> list[Generation]:
        """As far back as the brokers remember."""
        return generations.read({"bootstrap_servers": self.bootstrap_servers}, group)

    def group_settings(self, group: str) -> dict[str, str]:
        """What the group has of its own (F23), by Kafka's names; without what it has from the brokers."""
        resource = ConfigResource(ResourceType.GROUP, group)
        found = self._admin.describe_configs([resource])[resource].result(_REQUEST_S)
        own = (each for each in found.values() if each.source == _OF_THE_GROUP)
        return {each.name: each.value for each in own}

    def alter_group_settings(self, group: str, values: dict[str, str]) -> None:
        changes = [ConfigEntry(n, v, incremental_operation=AlterConfigOpType.SET) for n, v in values.items()]
        resource = ConfigResource(ResourceType.GROUP, group, incremental_configs=changes)
        self._admin.incremental_alter_configs([resource])[resource].result(_REQUEST_S)

    @contextmanager
    def foreign_member(self, group: str, topic: str, client_id: str) -> Iterator[None]:
        """A consumer that nobody told the operator about; it leaves the group at the end."""
        consumer = Consumer(
            {"bootstrap.servers": self.bootstrap_servers, "group.id": group, "client.id": client_id, **_QUIET}
        )
        stop = threading.Event()

        def poll() -> None:
            while not stop.is_set():
                consumer.poll(0.05)

        consumer.subscribe([topic])
        polling = threading.Thread(target=poll, daemon=True)
        polling.start()
        try:
            yield
        finally:
            stop.set()
            polling.join()
            consumer.close()

    @contextmanager
    def load(self, topic: str, rate: float) -> Iterator[None]:
        """So many messages a second into each partition, from a process of its own."""
        command = [sys.executable, "-m", "sandbox.workload.producer", "--topic", topic, "--rate", str(rate)]
        before = self._end(topic)
        with subprocess.Popen([*command, "--bootstrap-servers", self.bootstrap_servers], cwd=ROOT) as producer:
            try:
                wait_for(f"load on {topic}", lambda: self._end(topic) > before, 30.0)
                yield
            finally:
                producer.terminate()

    @contextmanager
    def backlog(self, topic: str, group: str, messages: int) -> Iterator[None]:
        """Never much less than `messages` that the group has not read, however quick its consumers are."""
        producer, stop = Producer({"bootstrap.servers": self.bootstrap_servers, **_QUIET}), threading.Event()
        broken: list[KafkaException] = []
        partitions = len(self._admin.list_topics(topic, timeout=_REQUEST_S).topics[topic].partitions)

        def keep() -> None:
            try:
                while not stop.wait(_LOOK_AGAIN_S):
                    for number in range(max(0, messages - self.lag(group, topic, partitions))):
                        producer.produce(topic, value=str(number), partition=number % partitions)
                    producer.flush(_REQUEST_S)
            except KafkaException as error:
                broken.append(error)

        keeping = threading.Thread(target=keep, daemon=True)
        keeping.start()
        try:
            yield
        finally:
            stop.set()
            keeping.join(_REQUEST_S)
        assert not broken, broken

    def _end(self, topic: str) -> int:
        return self._ends(topic, 1)[0]

    def _ends(self, topic: str, partitions: int) -> dict[int, int]:
        reader = Consumer({"bootstrap.servers": self.bootstrap_servers, "group.id": "never-joins", **_QUIET})
        try:
            wanted = [TopicPartition(topic, number) for number in range(partitions)]
            return {each.partition: reader.get_watermark_offsets(each, timeout=_REQUEST_S)[1] for each in wanted}
        finally:
            reader.close()


def _owners(found: ConsumerGroupDescription) -> frozenset[tuple[int, str]]:
    return frozenset(
        (each.partition, member.group_instance_id or member.member_id)
        for member in found.members
        if member.assignment
        for each in member.assignment.topic_partitions
    )


class Lookout:
    """Looks at one group ten times a second while its block runs, and keeps what it saw."""

    def __init__(self, kafka: Kafka, group: str) -> None:
        self._kafka = kafka
        self._group = group
        self._seen: list[Sighting] = []
        self._stop = threading.Event()
        self._broken: list[KafkaException] = []
        self._thread = threading.Thread(target=self._look, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        wait_for(f"a first look at {self._group}", lambda: bool(self._seen), 10.0)
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()
        assert not self._broken, f"the broker did not answer: {self._broken}"

    def sightings(self, since: float = 0.0) -> list[Sighting]:
        return [each for each in list(self._seen) if each.seen_at >= since]

    def _look(self) -> None:
        try:
            while not self._stop.wait(_LOOK_AGAIN_S):
                self._seen.append(self._kafka.look(self._group))
        except KafkaException as error:
            self._broken.append(error)
