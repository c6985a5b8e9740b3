"""Topics and groups of the demo on the brokers.

By kafka-python, which can remove static members (F11), and which ends when told to (see `group`).
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager

from kafka import KafkaAdminClient
from kafka.admin import MemberToRemove, NewTopic
from kafka.errors import CoordinatorLoadInProgressError, KafkaError

from demo.group import Describer, Group
from demo.modes import PARTITIONS, Mode
from sandbox.errors import SandboxError

_REQUEST_MS = 5000
_GONE_WITHIN_S = 30.0

logging.getLogger("kafka").setLevel(logging.CRITICAL)  # it would write into the live view; what fails is raised as well


class Kafka:
    """The brokers. Methods raise SandboxError when they refuse or do not answer."""

    def __init__(self, bootstrap_servers: str) -> None:
        self.bootstrap_servers = bootstrap_servers
        with _refusals("take a connection"):
            self._admin = KafkaAdminClient(bootstrap_servers=bootstrap_servers, request_timeout_ms=_REQUEST_MS)
        self._describer = Describer(bootstrap_servers)

    def close(self) -> None:
        self._describer.close()
        self._admin.close()

    def make_topics(self, mode: Mode) -> None:
        topics = [NewTopic(mode.workload, PARTITIONS), NewTopic(mode.deliveries_topic, 1)]
        with _refusals(f"make the topics of {mode.name}"):
            self._admin.create_topics(topics)

    def group(self, mode: Mode) -> Group:
        """The group now. While the brokers cannot tell, it has no members and is `unknown`."""
        return self._describer.describe(mode.workload)

    def settings(self, mode: Mode) -> dict[str, str]:
        """What the group has of its own, by Kafka's names (F23)."""
        return self._describer.settings(mode.workload)

    def alter(self, mode: Mode, values: Mapping[str, str | None]) -> None:
        """As `kafka-configs.sh --alter --group` does; there need be no such group yet."""
        self._describer.alter(mode.workload, values)

    def remove(self, modes: Iterable[Mode], topics: Iterable[str]) -> None:
        """Delete the groups, whose consumers are gone, and all topics, and wait until they can be made again."""
        modes = tuple(modes)
        with _refusals("delete what the demo has made there"):
            self._remove_groups(modes)
            theirs = {topic for mode in modes for topic in (mode.workload, mode.deliveries_topic)}
            self._remove_topics(theirs.union(topics))
        for mode in modes:  # a group's settings outlive it
            self._describer.alter(mode.workload, dict.fromkeys(self.settings(mode)))

    def _remove_groups(self, modes: tuple[Mode, ...]) -> None:
        there = self._group_ids()
        for mode in modes:
            if mode.workload not in there:
                continue
            if members := self.group(mode).members:  # static ones outlive their pods (F10)
                field = "group_instance_id" if mode.is_static else "member_id"
                leavers = [MemberToRemove(**{field: member}) for member in members]
                self._admin.remove_group_members(mode.workload, leavers)
            self._admin.delete_groups([mode.workload])

    def _group_ids(self) -> set[str]:
        """Of all groups, as soon as the brokers, which may have started just now, have read theirs."""
        deadline_s = time.monotonic() + _GONE_WITHIN_S
        while True:
            try:
                return {listed["group_id"] for listed in self._admin.list_groups()}
            except CoordinatorLoadInProgressError:
                if time.monotonic() > deadline_s:
                    raise
            time.sleep(0.2)

    def _remove_topics(self, topics: set[str]) -> None:
        there = topics & set(self._admin.list_topics())
        if there:
            self._admin.delete_topics(sorted(there))
        deadline_s = time.monotonic() + _GONE_WITHIN_S
        while left := there & set(self._admin.list_topics()):
            if time.monotonic() > deadline_s:
                raise SandboxError(f"The brokers have not deleted these topics: {', '.join(sorted(left))}.")
            time.sleep(0.2)


@contextmanager
def _refusals(what: str) -> Iterator[None]:
    try:
        yield
    except KafkaError as error:
        raise SandboxError(
            f"The brokers do not {what}: {error}.", todo="See the broker: sandbox logs kafka-1"
        ) from error
