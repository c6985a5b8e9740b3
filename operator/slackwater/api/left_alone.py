"""The rules by which a pod template leaves the settings alone that the operator writes into it.

They judge a ConsumerGroup's spec and know only what they ask of it, so that `consumer_group` can be made of them.
"""

from __future__ import annotations

import typing
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from slackwater.api.client import Client, Library
from slackwater.api.model import Rule, cel_given
from slackwater.api.owned_settings import OwnedSetting
from slackwater.api.pod_template import Container
from slackwater.api.protocol import Protocol


class HasConsumers(typing.Protocol):
    """What the rules look at in a ConsumerGroup's spec."""

    @property
    def client(self) -> Client: ...
    @property
    def protocol(self) -> Protocol: ...
    @property
    def consumer_container(self) -> Container: ...


@dataclass(frozen=True, slots=True)
class _Exception:
    """When a setting is the consumers' own matter after all, in two languages."""

    cel: str
    holds: Callable[[HasConsumers], bool]


# Without a target the operator leaves the protocol to the consumers, who may take it from their environment.
_THEIR_OWN: Final = {
    OwnedSetting.PARTITION_ASSIGNMENT_STRATEGY: _Exception(
        f"!({cel_given('protocol.target')})", lambda spec: spec.protocol.target is None
    ),
    OwnedSetting.UPGRADE_FROM: _Exception(
        f"!({cel_given('protocol.target')}) || self.client.library != 'KafkaStreams'",
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
    remedy = f" from the env of the consumer container: {setting.whose}"

    def check(spec: HasConsumers) -> bool | str:
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
