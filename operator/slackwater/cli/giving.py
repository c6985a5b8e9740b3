"""Giving a group a command, by annotation, and waiting until the operator has obeyed it.

What the operator would do is asked of its own code first, so that a command that changes nothing is refused here.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, Final

from slackwater.adapters.cluster.api import KubernetesApi
from slackwater.adapters.cluster.errors import Conflict
from slackwater.adapters.cluster.paths import CONSUMER_GROUP
from slackwater.adapters.cluster.snapshot import Snapshot, to_world
from slackwater.api.annotations import APPROVE, FORCE, GROUP, PAUSE, RESTART
from slackwater.api.conditions import ConditionType
from slackwater.cli.errors import NothingToDo, NotObeyed
from slackwater.cli.reaching.cluster import cluster, read_group
from slackwater.core.commands import foreseen
from slackwater.core.decision.reasons import Reason
from slackwater.core.decision.words import seconds
from slackwater.core.timeouts.adoption import NO_RECOMMENDATION, refused_whatever_is_recommended
from slackwater.core.world.history import GroupHistory
from slackwater.core.world.memory import read_memory
from slackwater.core.world.observation import Unobserved

Json = Mapping[str, Any]

POLL_S: Final = 0.2
_FORCED_WITH_A_NEW_SPEC: Final = (
    "force: what was applied last goes on as a rollback does, without waiting for a calm group, if it is rolled out"
)
_NOT_LOOKED: Final = "Kafka is not asked for this"


async def give(context: str | None, namespace: str, name: str, command: str, timeout_s: float) -> str:
    """Give one of `TOKEN_COMMANDS`; returns what came of it, in words.

    With a `timeout_s` of 0 nothing is waited for. Raises NothingToDo where it would change nothing, NotObeyed where the
    operator does not take it up in time, or not before the group is valid, ClusterFailed, NoSuchGroup and NotInstalled.
    """
    async with cluster(context) as api:
        snapshot = await _read(api, namespace, name)
        token = datetime.now(UTC).isoformat()
        words = _foreseen(snapshot, command, token)
        await _annotate(api, snapshot, {command: token})
        word = command.removeprefix(f"{GROUP}/")
        if timeout_s <= 0:
            return f"{name}: {word} is given, and obeyed as soon as the operator sees it"

        def is_obeyed(group: dict[str, Any]) -> bool:
            return bool((group.get("status", {}).get("commands") or {}).get(command) == token)

        group = await _wait(api, snapshot, is_obeyed, word, timeout_s)
        if command == APPROVE:
            words = _of_recommendation(snapshot.group, group)
        return f"{name}: {words}"


async def pause(context: str | None, namespace: str, name: str, reason: str, timeout_s: float) -> str:
    """Hold the group's rollout; returns what came of it. Without a reason, one that stands there stays. Raises as
    `give`."""
    async with cluster(context) as api:
        snapshot = await _read(api, namespace, name)
        reason = reason or (snapshot.group["metadata"].get("annotations") or {}).get(PAUSE) or ""
        await _annotate(api, snapshot, {PAUSE: reason})
        if timeout_s > 0:
            await _wait(api, snapshot, lambda group: _phase(group) == "Paused", "pause", timeout_s)
        return f"{name}: paused; no pod is restarted until you resume it"


async def resume(context: str | None, namespace: str, name: str, timeout_s: float) -> str:
    """Let the group's rollout go on; returns what came of it. Raises as `give`."""
    async with cluster(context) as api:
        snapshot = await _read(api, namespace, name)
        if PAUSE not in (snapshot.group["metadata"].get("annotations") or {}):
            raise NothingToDo(f"{name} is not paused, so there is nothing to resume")
        await _annotate(api, snapshot, {PAUSE: None})
        if timeout_s > 0:
            await _wait(api, snapshot, lambda group: _phase(group) not in ("Paused", ""), "resume", timeout_s)
        return f"{name}: resumed"


async def _read(api: KubernetesApi, namespace: str, name: str) -> Snapshot:
    """Raises NothingToDo where it is being deleted, and as `read_group`."""
    snapshot = await read_group(api, namespace, name)
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
            raise NotObeyed(f"{waited}: see that it runs; it will obey when it does")
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
