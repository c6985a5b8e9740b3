"""Topics and groups of the demo on the brokers."""

from __future__ import annotations

import time
from collections.abc import Iterable
from concurrent.futures import Future
from dataclasses import dataclass

from confluent_kafka import ConsumerGroupState, KafkaError, KafkaException
from confluent_kafka.admin import AdminClient, NewTopic
from kafka import KafkaAdminClient
from kafka.admin import MemberToRemove
from kafka.errors import KafkaError as KafkaPythonError

from sandbox.demo.modes import PARTITIONS, Mode
from sandbox.errors import SandboxError

QUIET: dict[str, str | int] = {"log_level": 0}
"""librdkafka would write into the live view; what fails is raised all the same."""
_REQUEST_S = 10.0
_GONE_WITHIN_S = 30.0
_LOOK_S = 4.0
_PASSING = (
    KafkaError._TIMED_OUT,  # noqa: SLF001 - its public name has the underscore, as those of the next ones
    KafkaError._TRANSPORT,  # noqa: SLF001
    KafkaError._ALL_BROKERS_DOWN,  # noqa: SLF001
    KafkaError.COORDINATOR_LOAD_IN_PROGRESS,  # the first minute of a new broker
    KafkaError.COORDINATOR_NOT_AVAILABLE,
    KafkaError.NOT_COORDINATOR,
)
_ABSENT = (KafkaError.UNKNOWN_TOPIC_OR_PART, KafkaError.GROUP_ID_NOT_FOUND)


@dataclass(frozen=True, slots=True)
class Group:
    """A consumer group as the brokers describe it."""

    state: str
    members: tuple[str, ...]
    """Instance ids of static members, client-made ids of others."""
    owned: int
    """Assigned partitions; one that has two owners counts twice."""

    @property
    def is_whole(self) -> bool:
        """Whether it is at rest and every partition has an owner."""
        return self.state == ConsumerGroupState.STABLE.name and self.owned == PARTITIONS


class Kafka:
    """The brokers. Methods raise SandboxError when they refuse or do not answer."""

    def __init__(self, bootstrap_servers: str) -> None:
        self.bootstrap_servers = bootstrap_servers
        self._admin = AdminClient({"bootstrap.servers": bootstrap_servers, **QUIET})

    def make_topics(self, mode: Mode) -> None:
        topics = [NewTopic(mode.workload, PARTITIONS), NewTopic(mode.deliveries_topic, 1)]
        _finish(
            self._admin.create_topics(topics, request_timeout=_REQUEST_S).values(), f"make the topics of {mode.name}"
        )

    def group(self, mode: Mode) -> Group:
        """The group now; of UNKNOWN state while the brokers cannot tell."""
        try:
            described = self._admin.describe_consumer_groups([mode.workload], request_timeout=_LOOK_S)
            found = described[mode.workload].result()
        except KafkaException as error:
            code = error.args[0].code()
            if code == KafkaError.GROUP_ID_NOT_FOUND:
                return Group(ConsumerGroupState.DEAD.name, (), 0)
            if code in _PASSING:
                return Group(ConsumerGroupState.UNKNOWN.name, (), 0)
            raise _refused(f"describe the group {mode.workload}", error) from error
        members = tuple(member.group_instance_id or member.member_id for member in found.members)
        owned = sum(len(member.assignment.topic_partitions) for member in found.members if member.assignment)
        return Group(found.state.name, members, owned)

    def remove(self, modes: Iterable[Mode]) -> None:
        """Delete the groups, whose consumers are gone, and the topics, and wait until they can be made anew."""
        modes = tuple(modes)
        try:
            self._remove_groups(modes)
            self._remove_topics({topic for mode in modes for topic in (mode.workload, mode.deliveries_topic)})
        except KafkaException as error:
            raise _refused("tell which groups and topics there are", error) from error

    def _remove_groups(self, modes: tuple[Mode, ...]) -> None:
        listed = self._admin.list_consumer_groups(request_timeout=_REQUEST_S).result().valid
        there = {each.group_id for each in listed} & {mode.workload for mode in modes}
        for mode in modes:
            if mode.workload in there and (members := self.group(mode).members):
                self._remove_members(mode, members)
        if there:
            _finish(
                self._admin.delete_consumer_groups(sorted(there), request_timeout=_REQUEST_S).values(),
                "delete the demo's groups",
            )

    def _remove_members(self, mode: Mode, members: tuple[str, ...]) -> None:
        """Static members outlive their pods (F10), and only kafka-python can remove them (F11)."""
        field = "group_instance_id" if mode.is_static else "member_id"
        admin = KafkaAdminClient(bootstrap_servers=self.bootstrap_servers)
        try:
            admin.remove_group_members(mode.workload, [MemberToRemove(**{field: member}) for member in members])
        except KafkaPythonError as error:
            raise SandboxError(
                f"The brokers do not remove the members of the group {mode.workload}: {error}."
            ) from error
        finally:
            admin.close()

    def _remove_topics(self, topics: set[str]) -> None:
        there = topics & set(self._admin.list_topics(timeout=_REQUEST_S).topics)
        if there:
            _finish(
                self._admin.delete_topics(sorted(there), request_timeout=_REQUEST_S).values(),
                "delete the demo's topics",
            )
        deadline_s = time.monotonic() + _GONE_WITHIN_S
        while left := there & set(self._admin.list_topics(timeout=_REQUEST_S).topics):
            if time.monotonic() > deadline_s:
                raise SandboxError(f"The brokers have not deleted these topics: {', '.join(sorted(left))}.")
            time.sleep(0.2)


def _finish(futures: Iterable[Future[None]], what: str) -> None:
    """Wait for all; what is not there need not be deleted."""
    for future in futures:
        try:
            future.result()
        except KafkaException as error:
            if error.args[0].code() not in _ABSENT:
                raise _refused(what, error) from error


def _refused(what: str, error: KafkaException) -> SandboxError:
    return SandboxError(
        f"The brokers do not {what}: {error.args[0].str()}.", todo="See the broker: sandbox logs kafka-1"
    )
