"""A group's own settings in Kafka: the configs of its GROUP resource (F23), read for many groups at once, and altered.

Any broker answers and takes them, whoever coordinates the group, and whether anybody has ever joined it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Final

from kafka.protocol.admin import DescribeConfigsRequest, IncrementalAlterConfigsRequest

from slackwater.adapters.kafka.errors import (
    Code,
    Failure,
    KafkaRefused,
    KafkaUnreachable,
    group_failure,
    unanswered,
)
from slackwater.adapters.kafka.parts import Parts
from slackwater.adapters.kafka.translated import LONGEST_CAUSE
from slackwater.adapters.kafka.wire import KafkaWire
from slackwater.core.decision.reasons import Reason
from slackwater.core.decision.words import shown
from slackwater.core.timeouts.group_settings import HEARTBEAT, SESSION

Settings = Mapping[str, str]

READ: Final = (SESSION, HEARTBEAT)
"""What the operator manages. A group has 17 settings, and reading all of them takes ten times as long."""

_GROUP: Final = 32
_OWN: Final = 8
"""Where a value comes from: set for this very group, not a default."""
_SET, _DELETE = 0, 1
_REFUSED: Final = frozenset({Code.INVALID_CONFIG, Code.INVALID_REQUEST, Code.POLICY_VIOLATION})
_DENIED: Final = frozenset({Code.GROUP_AUTHORIZATION_FAILED, Code.CLUSTER_AUTHORIZATION_FAILED})


async def read_settings(
    wire: KafkaWire, group_ids: Collection[str], parts: Parts[str]
) -> dict[str, Settings | Failure]:
    """Return what is set for each group itself, with one request where the answer fits. Never raises."""

    async def ask(some: list[str]) -> dict[str, Settings | Failure]:
        row = DescribeConfigsRequest.DescribeConfigsResource
        keys = list(READ)
        resources = [row(resource_type=_GROUP, resource_name=group_id, configuration_keys=keys) for group_id in some]
        found = settings_in(await wire.send(DescribeConfigsRequest(resources=resources)))
        return {group_id: found.get(group_id, unanswered(f"the settings of group {group_id}")) for group_id in some}

    return await parts.ask_each(group_ids, ask)


def settings_in(response: Any) -> dict[str, Settings | Failure]:
    """Read a DescribeConfigsResponse of GROUP resources. What is kept of it is counted nowhere: whatever a broker says,
    it is no more of a group than of a partition."""
    return {result.resource_name: _settings(result) for result in response.results}


def _settings(result: Any) -> Settings | Failure:
    if result.error_code == Code.NONE:
        own = [each for each in result.configs if each.config_source == _OWN and each.value is not None]
        return {each.name: shown(each.value) for each in own if each.name in READ}
    name = result.resource_name
    if result.error_code in _DENIED:
        message = f"the connection's Kafka user may not read the settings of group {name}: grant it DescribeConfigs"
        return Failure(Reason.NOT_AUTHORIZED, f"{message} on the group")
    return group_failure(name, result.error_code)


async def alter_settings(wire: KafkaWire, group_id: str, values: Mapping[str, str | None]) -> None:
    """Set each value, or with None delete it; all or none. Raises KafkaUnreachable and KafkaRefused."""
    if not values:
        return
    row = IncrementalAlterConfigsRequest.AlterConfigsResource
    configs = [
        row.AlterableConfig(name=name, config_operation=_DELETE if value is None else _SET, value=value)
        for name, value in sorted(values.items())
    ]
    resource = row(resource_type=_GROUP, resource_name=group_id, configs=configs)
    response = await wire.send(IncrementalAlterConfigsRequest(resources=[resource], validate_only=False))
    for result in response.responses:
        _raise_unless_done(group_id, result)


def _raise_unless_done(group_id: str, result: Any) -> None:
    code = result.error_code
    if code == Code.NONE:
        return
    if code in _DENIED:
        message = f"the connection's Kafka user may not change the settings of group {group_id}: grant it AlterConfigs"
        raise KafkaRefused(f"{message} on the group", Reason.NOT_AUTHORIZED)
    if code in _REFUSED:
        why = shown(str(result.error_message), LONGEST_CAUSE)
        raise KafkaRefused(f"Kafka refuses the settings of group {group_id}: {why}", Reason.BROKER_CANNOT)
    failure = group_failure(group_id, code)
    raise KafkaUnreachable(failure.message, failure.reason)
