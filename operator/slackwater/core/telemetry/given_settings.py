"""The timeouts that a group's members have: from the pod template that stands in its StatefulSet, and from Kafka.

Only settings that the operator itself wrote are looked at, and of these only such as decide about members' lives:
nothing else of a template may ever get into an event.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from slackwater.api.owned_settings import OwnedSetting
from slackwater.core.world.world import World

TOLD: Final = (
    OwnedSetting.GROUP_PROTOCOL,
    OwnedSetting.PARTITION_ASSIGNMENT_STRATEGY,
    OwnedSetting.SESSION_TIMEOUT_MS,
    OwnedSetting.HEARTBEAT_INTERVAL_MS,
    OwnedSetting.MAX_POLL_INTERVAL_MS,
    OwnedSetting.MAX_POLL_RECORDS,
)


def settings_in_template(world: World) -> Mapping[str, str]:
    """By Kafka's names; empty while there is no StatefulSet."""
    if world.workload is None:
        return {}
    variables = _variables(world.workload.template, world.group.spec.consumer_container.name)
    prefix = world.group.spec.client.env_prefix
    named = {kafka_name(setting): variables.get(setting.variable(prefix)) for setting in TOLD}
    return {name: value for name, value in named.items() if value is not None}


def milliseconds(settings: Mapping[str, str], name: str) -> int | None:
    """A setting as a number; None where it is not set, or is none."""
    value = settings.get(name, "")
    return int(value) if value.isascii() and value.isdecimal() else None


def kafka_name(setting: OwnedSetting) -> str:
    """For example `session.timeout.ms`."""
    return setting.value.lower().replace("_", ".")


def _variables(template: Mapping[str, Any], container: str) -> dict[str, str]:
    containers = template.get("spec", {}).get("containers", ())
    found: Mapping[str, Any] = next((c for c in containers if c.get("name") == container), {})
    return {entry["name"]: entry["value"] for entry in found.get("env") or () if "value" in entry}
