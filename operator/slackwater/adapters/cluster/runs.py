"""The runs of a pod's containers, and what was noted of them as they were told."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

Json = Mapping[str, Any]
_STARTING: Final = "#starting"
STARTED: Final = "#started"
"""What is noted of a container's startup probe, behind its id."""


def running_containers(pod: Json) -> list[str]:
    """Ids of those that run; each start of a container has another one."""
    statuses = pod.get("status", {}).get("containerStatuses", ())
    return [each["containerID"] for each in statuses if "running" in each.get("state", {}) and "containerID" in each]


def told_of(pod: Json, known: Mapping[str, float], now: float) -> dict[str, float]:
    """When its containers that run were first known to run, by their ids; and when their startup probes were seen to
    end. `known`: the same, from before."""
    told = {each: known.get(each, now) for each in running_containers(pod)}
    for each in pod.get("status", {}).get("containerStatuses", ()):
        container, started = each.get("containerID", ""), each.get("started")
        if container in told and started is False:
            told[container + _STARTING] = now
        elif container in told and (container + _STARTING in known or container + STARTED in known):
            told[container + STARTED] = known.get(container + STARTED, now)
    return told


def told_about(pod: Json, told: Mapping[str, float]) -> list[float | None]:
    return [told.get(each + mark) for each in running_containers(pod) for mark in ("", STARTED)]
