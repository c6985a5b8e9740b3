"""Topics and groups of the demo on the brokers.

By kafka-python, which can remove static members (F11), and which ends when told to: librdkafka's admin client has been
seen to wait for ever for a broker that was taken down before it.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from kafka import KafkaAdminClient
from kafka.admin import MemberToRemove, NewTopic
from kafka.errors import KafkaError

from sandbox.demo.modes import PARTITIONS, Mode
from sandbox.errors import SandboxError

STABLE = "Stable"
_UNKNOWN = "unknown"
_REQUEST_MS = 5000
_GONE_WITHIN_S = 30.0

logging.getLogger("kafka").setLevel(logging.CRITICAL)  # it would write into the live view; what fails is raised as well


@dataclass(frozen=True, slots=True)
class Group:
    """A consumer group as the brokers describe it."""

    state: str
    """In Kafka's words: Stable, PreparingRebalance, CompletingRebalance, Empty, Dead; or unknown."""
    members: tuple[str, ...]
    """Instance ids of static members, member ids of others."""
    owned: int
    """Assigned partitions; one that has two owners counts twice."""

    @property
    def is_whole(self) -> bool:
        """Whether it is at rest and every partition has an owner."""
        return self.state == STABLE and self.owned == PARTITIONS


class Kafka:
    """The brokers. Methods raise SandboxError when they refuse or do not answer."""

    def __init__(self, bootstrap_servers: str) -> None:
        self.bootstrap_servers = bootstrap_servers
        with _refusals("take a connection"):
            self._admin = KafkaAdminClient(bootstrap_servers=bootstrap_servers, request_timeout_ms=_REQUEST_MS)

    def close(self) -> None:
        self._admin.close()

    def make_topics(self, mode: Mode) -> None:
        topics = [NewTopic(mode.workload, PARTITIONS), NewTopic(mode.deliveries_topic, 1)]
        with _refusals(f"make the topics of {mode.name}"):
            self._admin.create_topics(topics)

    def group(self, mode: Mode) -> Group:
        """The group now. While the brokers cannot tell, it has no members and is `unknown`."""
        try:
            found = self._admin.describe_groups([mode.workload])[mode.workload]
        except KafkaError as error:
            if not error.retriable:
                raise SandboxError(f"The brokers do not describe the group {mode.workload}: {error}.") from error
            return Group(_UNKNOWN, (), 0)
        members = tuple(member["group_instance_id"] or member["member_id"] for member in found["members"])
        return Group(found["group_state"] or _UNKNOWN, members, sum(_owned(each) for each in found["members"]))

    def remove(self, modes: Iterable[Mode]) -> None:
        """Delete the groups, whose consumers are gone, and the topics, and wait until they can be made anew."""
        modes = tuple(modes)
        with _refusals("delete what the demo has made there"):
            self._remove_groups(modes)
            self._remove_topics({topic for mode in modes for topic in (mode.workload, mode.deliveries_topic)})

    def _remove_groups(self, modes: tuple[Mode, ...]) -> None:
        there = {listed["group_id"] for listed in self._admin.list_groups()}
        for mode in modes:
            if mode.workload not in there:
                continue
            if members := self.group(mode).members:  # static ones outlive their pods (F10)
                field = "group_instance_id" if mode.is_static else "member_id"
                leavers = [MemberToRemove(**{field: member}) for member in members]
                self._admin.remove_group_members(mode.workload, leavers)
            self._admin.delete_groups([mode.workload])

    def _remove_topics(self, topics: set[str]) -> None:
        there = topics & set(self._admin.list_topics())
        if there:
            self._admin.delete_topics(sorted(there))
        deadline_s = time.monotonic() + _GONE_WITHIN_S
        while left := there & set(self._admin.list_topics()):
            if time.monotonic() > deadline_s:
                raise SandboxError(f"The brokers have not deleted these topics: {', '.join(sorted(left))}.")
            time.sleep(0.2)


def _owned(member: dict[str, dict[str, list[dict[str, list[int]]]]]) -> int:
    assignment = member["member_assignment"] or {}
    return sum(len(topic["partitions"]) for topic in assignment.get("assigned_partitions", ()))


@contextmanager
def _refusals(what: str) -> Iterator[None]:
    try:
        yield
    except KafkaError as error:
        raise SandboxError(
            f"The brokers do not {what}: {error}.", todo="See the broker: sandbox logs kafka-1"
        ) from error
