"""Writing into the spec or the annotations of a fleet or a campaign, and waiting until the operator has taken it up."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from typing import Any, Final

from slackwater.adapters.cluster.api import KubernetesApi
from slackwater.adapters.cluster.errors import Conflict
from slackwater.cli.errors import NotTakenUp
from slackwater.cli.giving.one import POLL_S
from slackwater.core.decision.words import seconds
from slackwater.ports import Kind

Json = Mapping[str, Any]

_LOOK_AGAIN: Final = 10
"""How often an object may change under our eyes."""


async def write(api: KubernetesApi, kind: Kind, obj: Json, change: Json, word: str, timeout_s: float) -> Json:
    """By JSON merge patch; annotations in `change` are tokens of commands. With a `timeout_s` of 0 nothing is waited
    for. Returns the object as the operator has taken it up. Raises NotTakenUp where the operator does not take it up
    in time, and as `merge_unedited`."""
    written = await merge_unedited(api, kind, obj, change)
    return await taken_up(api, kind, written, word, timeout_s, (change.get("metadata") or {}).get("annotations") or {})


async def merge_unedited(api: KubernetesApi, kind: Kind, obj: Json, change: Json) -> Json:
    """Where nobody has edited the spec since it was read; the operator writes a status again and again. Returns the
    object. Raises Conflict where somebody has edited or deleted it, and ClusterFailed."""
    metadata, now = obj["metadata"], obj
    for _ in range(_LOOK_AGAIN):
        try:
            written = await api.merge(kind, now, change, exact=True)
        except Conflict as error:
            found = await api.read(kind, metadata["namespace"], metadata["name"])
            if found is None:
                raise Conflict(_gone(kind, obj)) from error
            if _edition(found) != _edition(obj):
                raise Conflict(_edited(kind, obj)) from error
            now = found
            continue
        if written is None:
            raise Conflict(_gone(kind, obj))
        return written
    raise Conflict(f"{kind.name} {metadata['name']} changes all the time: try again once it is calm")


async def taken_up(
    api: KubernetesApi, kind: Kind, written: Json, word: str, timeout_s: float, tokens: Json | None = None
) -> Json:
    """Wait for it. Returns and raises as `write`."""
    metadata, deadline = written["metadata"], time.monotonic() + timeout_s
    while timeout_s > 0:
        now = await api.read(kind, metadata["namespace"], metadata["name"])
        if now is None or now["metadata"]["uid"] != metadata["uid"]:
            raise Conflict(_gone(kind, written))
        if _is_taken_up(now, int(metadata.get("generation") or 0), tokens or {}):
            return now
        if time.monotonic() >= deadline:
            waited = f"{word} is written, but the operator has not taken it up within {seconds(timeout_s)}"
            raise NotTakenUp(f"{waited}: see that it runs; it will obey when it does")
        await asyncio.sleep(POLL_S)
    return written


def not_accepted(obj: Json) -> str:
    """Why the operator does nothing with it, which has looked at this very spec; empty where it does, or has yet to
    look."""
    return _said(obj, "Accepted", "False")


def halted(obj: Json) -> str:
    """After which failures nobody else begins, as `not_accepted`."""
    return _said(obj, "Halted", "True")


def _said(obj: Json, kind: str, stands: str) -> str:
    status, generation = obj.get("status") or {}, int(obj["metadata"].get("generation") or 0)
    if int(status.get("observedGeneration") or 0) < generation:
        return ""
    conditions = status.get("conditions") or ()
    found = (each for each in conditions if (each.get("type"), each.get("status")) == (kind, stands))
    return next((str(each.get("message") or each.get("reason")) for each in found), "")


def _is_taken_up(obj: Json, generation: int, tokens: Json) -> bool:
    status = obj.get("status") or {}
    obeyed = status.get("commands") or {}
    is_seen = int(status.get("observedGeneration") or 0) >= generation
    return is_seen and all(obeyed.get(command) == token for command, token in tokens.items())


def _edition(obj: Json) -> tuple[str, int]:
    return obj["metadata"]["uid"], obj["metadata"]["generation"]


def _edited(kind: Kind, obj: Json) -> str:
    return f"somebody has just changed {kind.name} {obj['metadata']['name']}: see what it says now, and try again"


def _gone(kind: Kind, obj: Json) -> str:
    return f"{kind.name} {obj['metadata']['name']} has just been deleted"
