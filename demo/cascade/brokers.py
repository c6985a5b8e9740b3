"""The three brokers: topics, groups and logs of a run, made, read back and removed."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from confluent_kafka import Consumer, KafkaError, KafkaException, TopicPartition
from confluent_kafka.admin import AdminClient
from kafka import KafkaAdminClient
from kafka.admin import MemberToRemove

from demo.cascade.cast import PREFIX, Cast
from demo.cascade.expiries import expiries
from demo.cascade.modes import PARTITIONS
from demo.group import Group, read_group
from sandbox.errors import SandboxError
from sandbox.workload import deliveries, generations
from sandbox.workload.deliveries import Delivery
from sandbox.workload.topics import create_topic

_OFFSETS: Final = "__consumer_offsets"
_COORDINATOR_LOST: Final = (KafkaError.NOT_COORDINATOR, KafkaError._TIMED_OUT)  # noqa: SLF001 - its public name has it
"""A client keeps to the coordinator that it found first, for a quarter of an hour: then it takes another client."""
_REQUEST_S: Final = 10.0
_REQUEST_MS: Final = 10_000
_LED_WITHIN_S: Final = 60.0
_GONE_WITHIN_S: Final = 90.0
_READ_S: Final = 60.0
_LOOK_AGAIN_S: Final = 0.5

logging.getLogger("kafka").setLevel(logging.CRITICAL)  # what fails is raised as well


@dataclass(frozen=True, slots=True)
class Described:
    """A group as the brokers describe it, and which of them coordinates it."""

    group: Group
    coordinator: int


class Brokers:
    """`logs`: what each of them writes, which says whose sessions ended. Methods raise SandboxError, and the clients'
    own errors, when the brokers refuse or do not answer."""

    def __init__(self, bootstrap_servers: str, logs: Sequence[Path]) -> None:
        self.bootstrap_servers = bootstrap_servers
        self._logs = tuple(logs)
        self._admin = _admin(bootstrap_servers)

    def leaders(self) -> dict[int, int]:
        """Partition of `__consumer_offsets` → its leader, who coordinates the groups in it."""
        deadline_s = time.monotonic() + _LED_WITHIN_S
        while True:
            self._ask_for_a_coordinator()  # without a group there is no such topic
            topic = self._admin.list_topics(timeout=_REQUEST_S).topics.get(_OFFSETS)
            found = {number: each.leader for number, each in topic.partitions.items()} if topic is not None else {}
            if found and min(found.values()) >= 0:
                return found
            if time.monotonic() > deadline_s:
                raise SandboxError(f"{_OFFSETS} has no leaders: {found}.", todo="See the brokers: sandbox logs kafka-1")
            time.sleep(_LOOK_AGAIN_S)

    def make_topics(self, cast: Cast) -> None:
        """Returns when every broker knows them and who leads them."""
        for topic in cast.topics:
            create_topic(self.bootstrap_servers, topic, PARTITIONS)
        for actor in cast.actors:
            create_topic(self.bootstrap_servers, actor.deliveries_topic, 1)

    def describe(self, cast: Cast) -> dict[str, Described]:
        """Group or bystander, by its Kubernetes name → what the brokers say; without those of whom they cannot."""
        asked = self._admin.describe_consumer_groups(
            [actor.group_id for actor in cast.actors], request_timeout=_REQUEST_S
        )
        found, lost = dict[str, Described](), False
        for actor in cast.actors:
            try:
                answer = asked[actor.group_id].result()
            except KafkaException as error:  # about to be made, or moved
                lost = lost or error.args[0].code() in _COORDINATOR_LOST
                continue
            found[actor.name] = Described(read_group(answer), answer.coordinator.id if answer.coordinator else -1)
        if lost:
            self._admin = _admin(self.bootstrap_servers)
        return found

    def marks(self) -> dict[Path, int]:
        """Where each log ends now."""
        return {log: log.stat().st_size for log in self._logs}

    def ended_sessions(self, cast: Cast, since: Mapping[Path, int]) -> dict[str, int]:
        """Group or bystander → how many of its members' sessions ended since these marks."""
        found = expiries(line for log, at in since.items() for line in _lines_after(log, at))
        return {actor.name: found[actor.group_id] for actor in cast.actors}

    def deliveries(self, cast: Cast, start_ms: int) -> dict[str, list[Delivery]]:
        """Group or bystander → what its consumers were given since."""
        connection = {"bootstrap.servers": self.bootstrap_servers}
        return {actor.name: deliveries.read(connection, actor.deliveries_topic, start_ms) for actor in cast.actors}

    def rebalances(self, cast: Cast, start_ms: int, end_ms: int) -> dict[str, int]:
        """Group or bystander → how many generations it went on between two moments."""
        connection = {"bootstrap_servers": self.bootstrap_servers}
        return {
            actor.name: generations.count_rebalances(
                generations.read(connection, actor.group_id), actor.group_id, start_ms, end_ms
            )
            for actor in cast.actors
        }

    def written(self, cast: Cast, start_ms: int) -> dict[str, list[Delivery]]:
        """Topic → what the producers wrote since, as if it had been delivered when it was written."""
        return {topic: _written(self.bootstrap_servers, topic, start_ms) for topic in cast.topics}

    def remove(self) -> None:
        """All groups and topics of this demo. Nobody may be at work in them any more."""
        admin = KafkaAdminClient(bootstrap_servers=self.bootstrap_servers, request_timeout_ms=_REQUEST_MS)
        try:
            self._remove_groups(admin)
            self._remove_topics(admin)
        finally:
            admin.close()

    def _remove_groups(self, admin: KafkaAdminClient) -> None:
        ours = [each["group_id"] for each in admin.list_groups() if each["group_id"].startswith(PREFIX)]
        for group in ours:
            found = self._admin.describe_consumer_groups([group], request_timeout=_REQUEST_S)[group].result()
            leavers = [
                MemberToRemove(group_instance_id=member.group_instance_id)
                if member.group_instance_id
                else MemberToRemove(member_id=member.member_id)
                for member in found.members
            ]
            if leavers:  # static ones outlive their pods (F10)
                admin.remove_group_members(group, leavers)
        if ours:
            admin.delete_groups(ours)

    def _remove_topics(self, admin: KafkaAdminClient) -> None:
        there = {topic for topic in admin.list_topics() if topic.startswith(PREFIX)}
        if there:
            admin.delete_topics(sorted(there))
        deadline_s = time.monotonic() + _GONE_WITHIN_S
        while left := there & set(admin.list_topics()):
            if time.monotonic() > deadline_s:
                raise SandboxError(f"The brokers have not deleted these topics: {', '.join(sorted(left))}.")
            time.sleep(_LOOK_AGAIN_S)

    def _ask_for_a_coordinator(self) -> None:
        group = f"{PREFIX}nobody"
        try:
            self._admin.describe_consumer_groups([group], request_timeout=_REQUEST_S)[group].result()
        except KafkaException:
            return  # there is no such group, or nobody can say yet


def _admin(bootstrap_servers: str) -> AdminClient:
    return AdminClient({"bootstrap.servers": bootstrap_servers, "log_level": 0})


def _lines_after(log: Path, at: int) -> Iterable[str]:
    with log.open("rb") as file:
        file.seek(at)
        for line in file:
            yield line.decode(errors="replace")


def _written(bootstrap_servers: str, topic: str, start_ms: int) -> list[Delivery]:
    """TimeoutError after a minute."""
    settings = {"bootstrap.servers": bootstrap_servers, "group.id": "never-joins", "enable.auto.commit": "false"}
    consumer, rows, deadline_s = Consumer(settings), list[Delivery](), time.monotonic() + _READ_S
    try:
        wanted = [TopicPartition(topic, number, start_ms) for number in range(PARTITIONS)]
        starts = [each for each in consumer.offsets_for_times(wanted, timeout=_REQUEST_S) if each.offset >= 0]
        ends = {each.partition: consumer.get_watermark_offsets(each, timeout=_REQUEST_S)[1] for each in starts}
        left = {each.partition for each in starts if each.offset < ends[each.partition]}
        consumer.assign(starts)
        while left:
            if time.monotonic() > deadline_s:
                raise TimeoutError(f"the topic {topic} was not read to its end within {_READ_S:.0f} s")
            message = consumer.poll(0.1)
            if message is None:
                continue
            if error := message.error():
                raise KafkaException(error)
            rows.append(Delivery(message.partition(), message.offset(), message.timestamp()[1], "", ""))
            if message.offset() + 1 >= ends[message.partition()]:
                left.discard(message.partition())
        return rows
    finally:
        consumer.close()
