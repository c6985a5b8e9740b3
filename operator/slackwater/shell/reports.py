"""What is written into a status where no pass can be made that would write it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from typing import Any

from slackwater.adapters.cluster.errors import ClusterRefused, Conflict, WebhookFailed
from slackwater.adapters.cluster.paths import CONSUMER_GROUP
from slackwater.adapters.cluster.snapshot import memory_in
from slackwater.api.annotations import FINALIZER
from slackwater.api.errors import InvalidSpec
from slackwater.core.decision.reasons import Reason
from slackwater.core.fleet.standstill import without_a_plan
from slackwater.core.status.compose import degraded_status
from slackwater.core.world.memory import write_memory
from slackwater.ports import Cluster

Json = Mapping[str, Any]


class Reports:
    """Each is written once for as long as it stands. All raise ClusterFailed, and Conflict where the object changed."""

    def __init__(self, api: Cluster, take_in: Callable[[Json | None], None], now: Callable[[], float]) -> None:
        self._api = api
        self._take_in = take_in
        self._now = now

    async def invalid(self, obj: Json, error: InvalidSpec) -> float | None:
        """A spec that an older CRD let through, or a memory that a newer operator left: its pods are left alone.

        Returns in how many seconds its turn is to be given to others; None: nobody waits for that.
        """
        problem = str(error)
        if obj["metadata"].get("deletionTimestamp"):
            problem += f" To delete it as it is, with its members left in the group, remove the finalizer {FINALIZER}."
        status, again_s = degraded_status(obj, "Invalid", Reason.INVALID_SPEC, problem, self._now()), None
        with suppress(InvalidSpec):
            memory = memory_in(obj)
            turn, again_s = without_a_plan(memory, self._now())
            if turn != memory.turn:
                said = write_memory(replace(memory, turn=turn))["turn"]
                status = {**status, "rollout": {**status["rollout"], "turn": said}}
        await self._write(obj, status)
        return again_s

    async def refused(self, obj: Json, error: ClusterRefused) -> None:
        """What has to come before anything can be decided. What is refused later, the next pass says."""
        before = obj.get("status") or {}
        said: Json = next((each for each in before.get("conditions") or () if each["type"] == "Degraded"), {})
        if isinstance(error, WebhookFailed) and (said.get("status"), said.get("reason")) == ("True", "ClusterRefused"):
            return  # each try fails in words of its own: the first will do
        phase = before.get("phase", "Unknown")
        await self._write(obj, degraded_status(obj, phase, Reason.CLUSTER_REFUSED, str(error), self._now()))

    @asynccontextmanager
    async def saying_what_is_refused(self, obj: Json) -> AsyncIterator[None]:
        try:
            yield
        except ClusterRefused as error:
            await self.refused(obj, error)
            raise

    async def _write(self, obj: Json, status: Json) -> None:
        if status == (obj.get("status") or {}):
            return
        at = obj["metadata"]
        try:
            written = await self._api.apply_status(
                CONSUMER_GROUP, at["namespace"], at["name"], at["uid"], status, at["resourceVersion"]
            )
        except Conflict:
            self._take_in(await self._api.read(CONSUMER_GROUP, at["namespace"], at["name"]))
            raise
        self._take_in(written)
