"""What people tell a fleet: to pause, to resume, to let groups pass for a while. Written into its spec, or annotated
where it is halted; and waited for until the operator has taken it up.
"""

from __future__ import annotations

import math
import time
from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC, datetime
from typing import Any, Final
from zoneinfo import ZoneInfo

from slackwater.adapters.cluster.api import KubernetesApi
from slackwater.adapters.cluster.paths import CONSUMER_FLEET
from slackwater.api.annotations import RESUME
from slackwater.api.errors import InvalidSpec
from slackwater.cli.errors import NothingToDo, NotObeyed
from slackwater.cli.giving.written import not_accepted, write
from slackwater.cli.reaching.choice import Place
from slackwater.cli.reaching.cluster import cluster
from slackwater.cli.reaching.fleets import read_fleet
from slackwater.core.fleet.times import LONGEST_OVERRIDE_S

Json = Mapping[str, Any]
Told = Callable[[KubernetesApi, Json, float], Awaitable[str]]
"""Says it to the fleet that was read, waits up to so many seconds, and returns what came of it, in words."""

_UTC: Final = "UTC"
_MINUTE_S: Final = 60
_CLOCKS_DIFFER_S: Final = 30.0
"""The operator's clock may be behind this one."""


async def tell(context: str | None, place: Place, told: Told, timeout_s: float) -> str:
    """With a `timeout_s` of 0 nothing is waited for. Raises NothingToDo where it would change nothing, NotTakenUp where
    the operator does not take it up in time, NoSuchFleet, KindMissing and ClusterFailed."""
    async with cluster(context) as api:
        fleet = await read_fleet(api, place)
        if "deletionTimestamp" in fleet["metadata"]:
            raise NothingToDo(f"ConsumerFleet {place.name} is being deleted: it holds nobody from then on")
        return await told(api, fleet, timeout_s)


def pause(reason: str) -> Told:
    async def told(api: KubernetesApi, fleet: Json, timeout_s: float) -> str:
        name, was = fleet["metadata"]["name"], fleet["spec"].get("pause") or ""
        if was == reason:
            raise NothingToDo(f"{name} is paused already, for the same reason")
        await write(api, CONSUMER_FLEET, fleet, {"spec": {"pause": reason}}, "pause", timeout_s)
        instead = f", instead of for {was!r}" if was else ""
        return f"{name}: paused{instead}; nothing begins, and what moves stops between two pods, until you resume it"

    return told


async def resume(api: KubernetesApi, fleet: Json, timeout_s: float) -> str:
    """A `Told`: out of a pause, and out of a halt."""
    metadata, status = fleet["metadata"], fleet.get("status") or {}
    name, is_paused, halted = metadata["name"], bool(fleet["spec"].get("pause")), status.get("halted")
    if not is_paused and not halted:
        raise NothingToDo(f"{name} is neither paused nor halted, so there is nothing to resume{_what_holds(status)}")
    change: dict[str, Any] = {}
    if is_paused:
        change["spec"] = {"pause": None}
    if halted:
        change["metadata"] = {"annotations": {RESUME: datetime.now(UTC).isoformat()}}
    await write(api, CONSUMER_FLEET, fleet, change, "resume", timeout_s)
    ended = [what for what, there in (("its pause", is_paused), ("its halt", bool(halted))) if there]
    return f"{name}: resumed; {' and '.join(ended)} {'is' if len(ended) == 1 else 'are'} over"


def let_through(duration_s: float, reason: str) -> Told:
    """For so long, all its groups pass windows, freezes and halts; budgets hold."""

    async def told(api: KubernetesApi, fleet: Json, timeout_s: float) -> str:
        name, spec = fleet["metadata"]["name"], fleet["spec"]
        zone, is_new = spec.get("timeZone") or _UTC, not spec.get("timeZone")
        until = local_until(time.time(), duration_s, zone)
        override = {"until": until, "reason": reason, "passes": None, "selector": None}
        change = {"spec": {"override": override, **({"timeZone": zone} if is_new else {})}}
        opened = await write(api, CONSUMER_FLEET, fleet, change, "open", timeout_s)
        if refused := not_accepted(opened):
            raise NotObeyed(f"open is written, but nothing begins in {name}, which is not accepted: {refused}")
        paused = f"; its pause holds all the same: {spec['pause']}" if spec.get("pause") else ""
        return f"{name}: open until {until} ({zone}), whatever windows, freezes and halts say; budgets hold{paused}"

    return told


def local_until(now: float, duration_s: float, zone: str) -> str:
    """The next full minute, so that it lasts no shorter than it was said to: but no later than the operator accepts. A
    fleet whose override is too long lets nothing begin at all. Of a local time that comes twice it takes the later."""
    there, minute = _zone(zone), math.ceil((now + duration_s) / _MINUTE_S) * _MINUTE_S
    while True:
        local = datetime.fromtimestamp(minute, there).replace(tzinfo=None)
        ends = max(local.replace(tzinfo=there, fold=fold).timestamp() for fold in (0, 1))
        if ends - now <= LONGEST_OVERRIDE_S - _CLOCKS_DIFFER_S:
            return local.strftime("%Y-%m-%dT%H:%M")
        minute -= _MINUTE_S


def _zone(name: str) -> ZoneInfo:
    """Raises InvalidSpec."""
    try:
        return ZoneInfo(name)
    except (LookupError, OSError, ValueError) as error:
        raise InvalidSpec("The ConsumerFleet", (f"spec.timeZone: no time zone is called {name}",)) from error


def _what_holds(status: Json) -> str:
    """Why nothing begins all the same."""
    opened: Json = next((each for each in status.get("conditions") or () if each.get("type") == "Open"), {})
    if opened.get("status") != "False":
        return ""
    return f"; it is not open, {opened.get('reason')}: {opened.get('message')}"
