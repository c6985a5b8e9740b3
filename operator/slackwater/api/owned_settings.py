"""The client settings that the operator writes into pods, and so nobody else may (F7: the set goes together).

A property reaches the consumer as an environment variable: the group's `envPrefix`, then the property in capitals.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from slackwater.api.client import Library
from slackwater.api.model import Rule

if TYPE_CHECKING:
    from slackwater.api.consumer_group import ConsumerGroupSpec


class OwnedSetting(StrEnum):
    """What the operator sets; the value is the end of the variable's name."""

    BOOTSTRAP_SERVERS = "BOOTSTRAP_SERVERS"
    GROUP_ID = "GROUP_ID"
    GROUP_INSTANCE_ID = "GROUP_INSTANCE_ID"
    GROUP_PROTOCOL = "GROUP_PROTOCOL"
    GROUP_REMOTE_ASSIGNOR = "GROUP_REMOTE_ASSIGNOR"
    HEARTBEAT_INTERVAL_MS = "HEARTBEAT_INTERVAL_MS"
    MAX_POLL_INTERVAL_MS = "MAX_POLL_INTERVAL_MS"
    MAX_POLL_RECORDS = "MAX_POLL_RECORDS"
    PARTITION_ASSIGNMENT_STRATEGY = "PARTITION_ASSIGNMENT_STRATEGY"
    SESSION_TIMEOUT_MS = "SESSION_TIMEOUT_MS"
    UPGRADE_FROM = "UPGRADE_FROM"

    def variable(self, env_prefix: str) -> str:
        """The environment variable's full name, for example `KAFKA_GROUP_ID`."""
        return f"{env_prefix}{self.value}"


_SOURCES: Final = {
    OwnedSetting.BOOTSTRAP_SERVERS: "the KafkaConnection",
    OwnedSetting.GROUP_ID: "spec.groupId",
    OwnedSetting.GROUP_INSTANCE_ID: "the ConsumerGroup's name and the pod's ordinal",
    OwnedSetting.GROUP_PROTOCOL: "spec.protocol.target",
    OwnedSetting.GROUP_REMOTE_ASSIGNOR: "spec.protocol.target",
    OwnedSetting.HEARTBEAT_INTERVAL_MS: "spec.timeouts.heartbeat",
    OwnedSetting.MAX_POLL_INTERVAL_MS: "spec.timeouts.maxPollInterval",
    OwnedSetting.MAX_POLL_RECORDS: "spec.timeouts.maxPollRecords",
    OwnedSetting.PARTITION_ASSIGNMENT_STRATEGY: "spec.protocol.target",
    OwnedSetting.SESSION_TIMEOUT_MS: "spec.timeouts.session",
    OwnedSetting.UPGRADE_FROM: "spec.protocol.upgradeFrom",
}
"""Where people say instead what the operator is to set."""


@dataclass(frozen=True, slots=True)
class _Exception:
    """When a setting is the consumers' own matter after all, in two languages."""

    cel: str
    holds: Callable[[ConsumerGroupSpec], bool]


# Without a target the operator leaves the protocol to the consumers, who may take it from their environment.
_THEIR_OWN: Final = {
    OwnedSetting.PARTITION_ASSIGNMENT_STRATEGY: _Exception(
        "!has(self.protocol.target)", lambda spec: spec.protocol.target is None
    ),
    OwnedSetting.UPGRADE_FROM: _Exception(
        "!has(self.protocol.target) || self.client.library != 'KafkaStreams'",
        lambda spec: spec.protocol.target is None or spec.client.library is not Library.KAFKA_STREAMS,
    ),
}
_CONSUMER_CONTAINER: Final = (
    "(has(self.client.container) ? self.client.container : self.template.spec.containers[0].name)"
)


def left_alone(setting: OwnedSetting) -> Rule:
    """The rule that the template does not set `setting` for the consumer container.

    One rule for each setting, since CEL cannot bound the cost of a sentence that lists those found.
    """
    is_set = (
        f"self.template.spec.containers.exists(c, c.name == {_CONSUMER_CONTAINER} && has(c.env)"
        f" && c.env.exists(e, e.name == self.client.envPrefix + '{setting}'))"
    )
    allowed = _THEIR_OWN.get(setting)
    remedy = f" from the env of the consumer container: the operator sets it from {_SOURCES[setting]}"

    def check(spec: ConsumerGroupSpec) -> bool | str:
        if allowed and allowed.holds(spec):
            return True
        variable = setting.variable(spec.client.env_prefix)
        found = any(entry.name == variable for entry in spec.consumer_container.env)
        return f"remove {variable}{remedy}" if found else True

    return Rule(
        cel=f"{allowed.cel} || !{is_set}" if allowed else f"!{is_set}",
        message=f"remove {setting}{remedy}",
        field_path="template",
        message_expression=f'"remove " + self.client.envPrefix + "{setting}{remedy}"',
        check=check,
    )
