"""Giving a group a command, by annotation, and waiting until the operator has obeyed it.

What the operator would do is asked of its own code first, so that a command that changes nothing is refused here.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, Final

from slackwater.adapters.cluster.api import KubernetesApi
from slackwater.adapters.cluster.errors import Conflict
from slackwater.adapters.cluster.paths import CONSUMER_GROUP
from slackwater.adapters.cluster.snapshot import Snapshot, to_world
from slackwater.api.annotations import APPROVE, FORCE, GROUP, PAUSE, RESTART
from slackwater.api.conditions import ConditionType
from slackwater.api.timeouts import TimeoutsMode
from slackwater.cli.errors import NothingToDo, NotObeyed, NotTakenUp
from slackwater.cli.reaching.choice import Place
from slackwater.cli.reaching.cluster import cluster, read_group
from slackwater.core.commands import foreseen
from slackwater.core.decision.reasons import Reason
from slackwater.core.decision.words import seconds
from slackwater.core.fleet.defaults import Own, with_values
from slackwater.core.timeouts.adoption import NO_RECOMMENDATION, refused_whatever_is_recommended
from slackwater.core.world.history import GroupHistory
from slackwater.core.world.memory import read_memory
from slackwater.core.world.observation import Unobserved
from slackwater.core.world.world import World

Json = Mapping[str, Any]

POLL_S: Final = 0.2
_FORCED_WITH_A_NEW_SPEC: Final = (
    "force: what was applied last goes on as a rollback does, without waiting for a calm group, if it is rolled out"
)
_NOT_LOOKED: Final = "Kafka is not asked for this"


Order = Callable[[KubernetesApi, Place, float], Awaitable[str]]
"""What is said to a group; returns what came of it, in words.

Waits up to so many seconds until the operator has taken it up; with 0 for nothing. Raises NothingToDo where it would
change nothing, NotObeyed where the operator does not take it up in time, or not before the group is valid,
ClusterFailed, NoSuchGroup and NotInstalled.
"""


async def give(context: str | None, place: Place, order: Order, timeout_s: float) -> str:
    """To one group. Raises as `Order`."""
    async with cluster(context) as api:
        return await order(api, place, timeout_s)


def command(annotation: str) -> Order:
    """One of `TOKEN_COMMANDS`."""

    async def order(api: KubernetesApi, place: Place, timeout_s: float) -> str:
        snapshot = await _read(api, place)
        token = datetime.now(UTC).isoformat()
        words = _foreseen(snapshot, annotation, token)
        await _annotate(api, snapshot, {annotation: token})
        word = annotation.removeprefix(f"{GROUP}/")
        if timeout_s <= 0:
            return f"{place.name}: {word} is given, and obeyed as soon as the operator sees it"

        def is_obeyed(group: dict[str, Any]) -> bool:
            return bool((group.get("status", {}).get("commands") or {}).get(annotation) == token)

        group = await _wait(api, snapshot, is_obeyed, word, timeout_s)
        if annotation == APPROVE:
            words = _of_recommendation(snapshot.group, group)
        return f"{place.name}: {words}"

    return order


def pause(reason: str) -> Order:
    """Hold the group's rollout. Without a reason, one that stands there stays."""

    async def order(api: KubernetesApi, place: Place, timeout_s: float) -> str:
        snapshot = await _read(api, place)
        standing = (snapshot.group["metadata"].get("annotations") or {}).get(PAUSE)
        await _annotate(api, snapshot, {PAUSE: reason or standing or ""})
        if timeout_s > 0:
            await _wait(api, snapshot, lambda group: _phase(group) == "Paused", "pause", timeout_s)
        return f"{place.name}: paused; no pod is restarted until you resume it"

    return order


async def resume(api: KubernetesApi, place: Place, timeout_s: float) -> str:
    """Let the group's rollout go on: an `Order`."""
    snapshot = await _read(api, place)
    if PAUSE not in (snapshot.group["metadata"].get("annotations") or {}):
        raise NothingToDo(f"{place.name} is not paused, so there is nothing to resume")
    await _annotate(api, snapshot, {PAUSE: None})
    if timeout_s > 0:
        await _wait(api, snapshot, lambda group: _phase(group) not in ("Paused", ""), "resume", timeout_s)
    return f"{place.name}: resumed"


async def _read(api: KubernetesApi, place: Place) -> Snapshot:
    """Raises NothingToDo where it is being deleted, and as `read_group`."""
    snapshot = await read_group(api, place.namespace, place.name)
    _refuse_deleted(snapshot.group)
    return snapshot


def _refuse_deleted(group: Json) -> None:
    metadata = group["metadata"]
    if "deletionTimestamp" in metadata:
        raise NothingToDo(f"ConsumerGroup {metadata['name']} is being deleted: there is nothing left to command")


def _foreseen(snapshot: Snapshot, command: str, token: str) -> str:
    """What the operator will say to it. Raises NothingToDo, InvalidSpec."""
    now = time.time()
    world = to_world(snapshot, Unobserved(Reason.OBSERVATION_INCOMPLETE, _NOT_LOOKED, now), GroupHistory(), now)
    earlier = foreseen(world).memory  # what was given before, and the operator has yet to see, comes first
    world = replace(world, memory=earlier)
    if command == APPROVE:
        world = _with_a_mode(world)
    metadata = world.group.metadata
    annotations = {**metadata.annotations, command: token}
    given = world.group.model_copy(update={"metadata": metadata.model_copy(update={"annotations": annotations})})
    obeyed = foreseen(replace(world, group=given))
    if command == RESTART and not obeyed.notes:
        return "every pod is replaced, each after its gates, as in any rollout"
    (note,) = obeyed.notes
    if command == APPROVE and not refused_whatever_is_recommended(world):  # the rest, only the operator knows
        return ""
    observed = snapshot.group.get("status", {}).get("observedGeneration")
    if command == FORCE and observed != metadata.generation:  # what comes of a new spec, the operator has to find out
        return _FORCED_WITH_A_NEW_SPEC
    refused = command == RESTART
    if refused or replace(obeyed.memory, commands=earlier.commands) == earlier:
        raise NothingToDo(f"{world.group.name} is as it was: {note.message}")
    return note.message


def _with_a_mode(world: World) -> World:
    """Where the group says no `timeouts.mode`, a fleet may, which the operator knows: one is assumed."""
    spec = with_values(Own.of(world.group.spec), {"timeouts.mode": TimeoutsMode.RECOMMEND})
    return world if isinstance(spec, str) else replace(world, group=world.group.model_copy(update={"spec": spec}))


def _of_recommendation(before: Json, after: Json) -> str:
    """Raises NothingToDo where the operator took nothing over."""
    said = (after["status"].get("recommendation") or {}).get("message") or NO_RECOMMENDATION
    old, new = (read_memory(group.get("status") or {}).tuning for group in (before, after))
    if (old.values, old.as_of) == (new.values, new.as_of):
        raise NothingToDo(f"{after['metadata']['name']} is as it was: approve: {said}")
    return f"approve: {said}"


async def _annotate(api: KubernetesApi, snapshot: Snapshot, values: dict[str, str | None]) -> None:
    if await api.annotate(CONSUMER_GROUP, snapshot.group, values) is None:
        name = snapshot.group["metadata"]["name"]
        raise Conflict(f"ConsumerGroup {name} has just been deleted: there is nothing left to command")


async def _wait(api: KubernetesApi, snapshot: Snapshot, done: Any, word: str, timeout_s: float) -> dict[str, Any]:
    metadata, deadline = snapshot.group["metadata"], time.monotonic() + timeout_s
    while True:
        group = await api.read(CONSUMER_GROUP, metadata["namespace"], metadata["name"])
        if group is None or group["metadata"]["uid"] != metadata["uid"]:
            raise Conflict(f"ConsumerGroup {metadata['name']} has just been deleted: there is nothing left to command")
        if done(group):
            return group
        _refuse_deleted(group)
        if problem := _problem(group):
            raise NotObeyed(f"{word} is given, and the operator will obey it once this is put right: {problem}")
        if time.monotonic() >= deadline:
            waited = f"{word} is given, but the operator has not taken it up within {seconds(timeout_s)}"
            raise NotTakenUp(f"{waited}: see that it runs; it will obey when it does")
        await asyncio.sleep(POLL_S)


def _problem(group: dict[str, Any]) -> str:
    """Why the operator, which has looked at this very spec, does nothing with it; empty where it does."""
    status = group.get("status") or {}
    if _phase(group) != "Invalid" or status.get("observedGeneration") != group["metadata"].get("generation"):
        return ""
    said = (each["message"] for each in status.get("conditions") or () if each["type"] == ConditionType.DEGRADED)
    return next(said, "it is not valid")


def _phase(group: dict[str, Any]) -> str:
    return str(group.get("status", {}).get("phase") or "")
