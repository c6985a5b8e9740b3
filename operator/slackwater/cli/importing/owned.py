"""Client settings that move from the container's environment into the ConsumerGroup's spec. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from slackwater.api.durations import format_duration
from slackwater.api.owned_settings import OwnedSetting

Json = dict[str, Any]

_TIMEOUTS: Final = {
    OwnedSetting.SESSION_TIMEOUT_MS: "session",
    OwnedSetting.HEARTBEAT_INTERVAL_MS: "heartbeat",
    OwnedSetting.MAX_POLL_INTERVAL_MS: "maxPollInterval",
    OwnedSetting.MAX_POLL_RECORDS: "maxPollRecords",
}
_CLASSIC_ONLY: Final = (OwnedSetting.SESSION_TIMEOUT_MS, OwnedSetting.HEARTBEAT_INTERVAL_MS)
_STAY: Final = (OwnedSetting.PARTITION_ASSIGNMENT_STRATEGY, OwnedSetting.UPGRADE_FROM)
"""The consumers' own matter while there is no protocol.target."""
_SPECS_OWN: Final = (OwnedSetting.BOOTSTRAP_SERVERS, OwnedSetting.GROUP_ID)


@dataclass(slots=True)
class Moved:
    """What became of the environment: the part of the spec it turned into, and a remark for each thing lost."""

    env: Sequence[Mapping[str, Any]]
    timeouts: Json = field(default_factory=dict)
    protocol: Json = field(default_factory=dict)
    remarks: list[str] = field(default_factory=list)


def move_owned(env: Sequence[Mapping[str, Any]], prefix: str) -> Moved:
    """Take out of `env` what the operator sets by itself."""
    owned = {setting.variable(prefix): setting for setting in OwnedSetting}
    given = {owned[each["name"]]: each for each in env if each["name"] in owned}
    modern = str(given.get(OwnedSetting.GROUP_PROTOCOL, {}).get("value") or "").lower() == "consumer"
    leaving = {each["name"] for setting, each in given.items() if modern or setting not in _STAY}
    moved = Moved(
        [each for each in env if each["name"] not in leaving], protocol={"target": "Consumer"} if modern else {}
    )
    for setting, variable in given.items():
        if variable["name"] in leaving:
            _move(moved, setting, variable, modern)
    for each in moved.env:
        used = [name for name in leaving if f"$({name})" in str(each.get("value") or "")]
        if used:
            moved.remarks.append(
                f"{each['name']} uses {used[0]}, which now comes after it and so is not put in: give its value in full"
            )
    return moved


def _move(moved: Moved, setting: OwnedSetting, variable: Mapping[str, Any], modern: bool) -> None:
    name, value = variable["name"], str(variable.get("value") or "")
    if setting in _SPECS_OWN:
        return
    if setting is OwnedSetting.GROUP_PROTOCOL:
        if "valueFrom" in variable:
            moved.remarks.append(f"{name} is not a plain value and is left out: set protocol.target if it is consumer")
    elif setting is OwnedSetting.GROUP_INSTANCE_ID:
        moved.remarks.append(f"{name} is left out: instance ids are <name>-<ordinal>, which may not be those of now")
    elif setting not in _TIMEOUTS:
        moved.remarks.append(f"{name} is left out: with group.protocol consumer the operator does not set it")
    elif modern and setting in _CLASSIC_ONLY:
        moved.remarks.append(
            f"{name} is left out: with group.protocol consumer the broker keeps it (timeouts.consumer)"
        )
    elif not value.isdecimal() or not int(value):
        moved.remarks.append(f"{name} is no plain number and is left out: set timeouts.{_TIMEOUTS[setting]}")
    else:
        number = int(value)
        is_count = setting is OwnedSetting.MAX_POLL_RECORDS
        moved.timeouts[_TIMEOUTS[setting]] = number if is_count else format_duration(number)
