"""A consumer group as the brokers describe it, of either protocol.

By librdkafka's admin client, for kafka-python's cannot describe KIP-848 groups (F18). It has been seen to wait for ever
for brokers that were taken down before it: `close` has to come first.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from confluent_kafka import ConsumerGroupState, ConsumerGroupType, KafkaError, KafkaException
from confluent_kafka.admin import (
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    ConsumerGroupDescription,
    ResourceType,
)

from demo.modes import PARTITIONS
from sandbox.errors import SandboxError

STABLE = "Stable"
_UNKNOWN = "unknown"
_REQUEST_S = 5.0
_ABOUT_TO_COORDINATE = (
    KafkaError.NOT_COORDINATOR,
    KafkaError.COORDINATOR_NOT_AVAILABLE,
    KafkaError.COORDINATOR_LOAD_IN_PROGRESS,
)
"""What brokers say that have just started; the admin client does not call all of it worth another try."""
_OF_THE_GROUP = 8
"""The source of a setting that the group has itself; librdkafka has no name for it."""
_STATES = {
    ConsumerGroupState.STABLE: STABLE,
    ConsumerGroupState.PREPARING_REBALANCING: "PreparingRebalance",
    ConsumerGroupState.COMPLETING_REBALANCING: "CompletingRebalance",
    ConsumerGroupState.EMPTY: "Empty",
    ConsumerGroupState.DEAD: "Dead",
}
_TYPES = {ConsumerGroupType.CLASSIC: "classic", ConsumerGroupType.CONSUMER: "KIP-848"}


@dataclass(frozen=True, slots=True)
class Group:
    state: str
    """In Kafka's words: Stable, PreparingRebalance, CompletingRebalance, Reconciling, Empty, Dead; or unknown."""
    members: tuple[str, ...]
    """Instance ids of static members, member ids of others."""
    owned: int
    """Assigned partitions; one that has two owners counts twice."""
    protocol: str = ""
    """classic or KIP-848."""
    assignor: str = ""

    @property
    def is_whole(self) -> bool:
        """Whether it is at rest and every partition has an owner."""
        return self.state == STABLE and self.owned == PARTITIONS


class Describer:
    """Asks the brokers. Each call raises SandboxError when they refuse."""

    def __init__(self, bootstrap_servers: str) -> None:
        self._admin: AdminClient | None = AdminClient({"bootstrap.servers": bootstrap_servers, "log_level": 0})

    def close(self) -> None:
        self._admin = None  # the client has no other way to be closed

    def describe(self, name: str) -> Group:
        """The group now. While the brokers cannot tell, it has no members and is `unknown`."""
        assert self._admin is not None, "it is closed"
        try:
            answer = self._admin.describe_consumer_groups([name], request_timeout=_REQUEST_S)
            return read_group(answer[name].result())
        except KafkaException as error:
            if not error.args[0].retriable() and error.args[0].code() not in _ABOUT_TO_COORDINATE:
                raise SandboxError(f"The brokers do not describe the group {name}: {error}.") from error
            return Group(_UNKNOWN, (), 0)

    def settings(self, name: str) -> dict[str, str]:
        """What the group has of its own; without what it has from the brokers."""
        assert self._admin is not None, "it is closed"
        resource = ConfigResource(ResourceType.GROUP, name)
        try:
            found = self._admin.describe_configs([resource], request_timeout=_REQUEST_S)[resource].result()
        except KafkaException as error:
            raise SandboxError(f"The brokers do not tell the settings of the group {name}: {error}.") from error
        return {each.name: each.value for each in found.values() if each.source == _OF_THE_GROUP}

    def alter(self, name: str, values: Mapping[str, str | None]) -> None:
        """Set what the group has of its own; None: leave it to the brokers."""
        assert self._admin is not None, "it is closed"
        if not values:
            return
        changes = [_entry(*each) for each in values.items()]
        resource = ConfigResource(ResourceType.GROUP, name, incremental_configs=changes)
        try:
            self._admin.incremental_alter_configs([resource], request_timeout=_REQUEST_S)[resource].result()
        except KafkaException as error:
            raise SandboxError(f"The brokers do not change the settings of the group {name}: {error}.") from error


def _entry(name: str, value: str | None) -> ConfigEntry:
    how = AlterConfigOpType.SET if value is not None else AlterConfigOpType.DELETE
    return ConfigEntry(name, value or "", incremental_operation=how)


def read_group(found: ConsumerGroupDescription) -> Group:
    """A KIP-848 group that is Assigning or Reconciling has a state that the client has no name for (F16)."""
    is_moving = found.state is ConsumerGroupState.UNKNOWN and found.type is ConsumerGroupType.CONSUMER
    return Group(
        state="Reconciling" if is_moving else _STATES.get(found.state, _UNKNOWN),
        members=tuple(member.group_instance_id or member.member_id for member in found.members),
        owned=sum(len(member.assignment.topic_partitions) for member in found.members if member.assignment),
        protocol=_TYPES.get(found.type, ""),
        assignor=found.partition_assignor or "",
    )
