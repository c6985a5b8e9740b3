"""Carries out what core decides about a ConsumerGroup that is being deleted: gathers, does, and says why it waits."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import structlog

from slackwater.adapters.cluster.paths import CONSUMER_GROUP, KAFKA_CONNECTION, POD
from slackwater.adapters.cluster.snapshot import Snapshot, read_workloads, to_world
from slackwater.adapters.cluster.translation import group_of, to_workload
from slackwater.adapters.kafka.errors import KafkaFailed
from slackwater.api.annotations import FINALIZER, GROUP_LABEL
from slackwater.api.resources import ConsumerGroup
from slackwater.core.decision.acts import Act, LetGo, kind_of
from slackwater.core.decision.decision import Decision
from slackwater.core.decision.reasons import Reason
from slackwater.core.deletion import Remains, cannot_leave, is_kafkas_turn, plan_deletion
from slackwater.core.status.compose import degraded_status
from slackwater.core.world.history import GroupHistory
from slackwater.core.world.memory import RolloutMemory, write_memory
from slackwater.core.world.observation import KafkaView, Unobserved
from slackwater.core.world.world import World
from slackwater.ports import Cluster
from slackwater.shell.acting import carry_out
from slackwater.shell.connections import Connections
from slackwater.shell.events import post
from slackwater.shell.store import Key

Json = Mapping[str, Any]

_log = structlog.get_logger(__name__)


class Deletion:
    """Goes on from where the last call ended; each step is safe to repeat."""

    def __init__(
        self,
        api: Cluster,
        connections: Connections,
        take_in: Callable[[Json | None], None],
        now: Callable[[], float],
        acted: Callable[[Key, Act], None],
    ) -> None:
        self._api = api
        self._connections = connections
        self._take_in = take_in
        self._now = now
        self._acted = acted

    async def go_on(self, group: ConsumerGroup, obj: Json) -> float | None:
        """Returns in how many seconds to go on; None when there is nothing left to do. Raises ClusterFailed."""
        if FINALIZER not in group.metadata.finalizers:
            return None
        world, remains = await self._gather(group, obj)
        while True:
            decided = plan_deletion(world, remains)
            if decided.act is None:
                return await self._wait(world, obj, decided)
            try:
                await self._do(world, obj, decided, decided.act)
            except KafkaFailed as error:
                return await self._wait(world, obj, cannot_leave(world, error.reason, str(error)))
            if isinstance(decided.act, LetGo):
                return None
            remains = remains.after(decided.act)

    async def _gather(self, group: ConsumerGroup, obj: Json) -> tuple[World, Remains]:
        """From where it is true; Kafka is asked once all else is done."""
        namespace, name = group.namespace, group.name
        workloads, (pods, _), connection = await asyncio.gather(
            read_workloads(self._api, namespace, name),
            self._api.list_all(POD, namespace, f"{GROUP_LABEL}={name}"),
            self._api.read(KAFKA_CONNECTION, namespace, group.spec.connection_ref.name),
        )
        not_yet = Unobserved(Reason.OBSERVATION_INCOMPLETE, "the group has not been looked at yet", self._now())
        world = to_world(Snapshot(obj, connection, workloads, pods), not_yet, GroupHistory(), self._now(), group)
        labelled = frozenset(each["metadata"]["name"] for each in workloads if group_of(each) == name)
        remains = Remains(tuple(map(to_workload, workloads)), labelled, bool(pods))
        if connection is None or not is_kafkas_turn(world, remains):
            return world, remains
        return replace(world, kafka=await self._look(group, connection)), remains

    async def _look(self, group: ConsumerGroup, connection: Json) -> KafkaView:
        key = Key(group.namespace, group.name)
        await self._connections.use(key, _without_topics(group), connection, self._now())
        await self._connections.look_now(key)
        return self._connections.view(key, self._now())[0]

    async def _do(self, world: World, obj: Json, decided: Decision, act: Act) -> None:
        """The memory is written first. Raises ClusterFailed and KafkaFailed."""
        if decided.memory != world.memory:
            await self._write_status(world.group, _with_memory(obj, decided.memory))
        key = Key(world.group.namespace, world.group.name)
        written = await carry_out(self._api, self._connections.admin(key), world, act)
        self._acted(key, act)
        _log.info("acted", group=str(key), act=kind_of(act), why=getattr(act, "why", ""))
        if isinstance(act, LetGo) and written is not None and written["metadata"].get("finalizers"):
            self._take_in(written)  # without any it is gone, and must not come back after the watch has said so
        for note in decided.notes:
            await post(self._api, world.group, note, self._now())

    async def _wait(self, world: World, obj: Json, decided: Decision) -> float | None:
        """What somebody has to do something about is said once for each reason: in a condition, and in one Event."""
        hold = decided.hold
        if hold is None:
            return None
        if decided.notes:
            status = degraded_status(obj, "Deleting", hold.reason, hold.message, self._now())
            if status != obj.get("status"):
                await self._write_status(world.group, status)
                for note in decided.notes:
                    await post(self._api, world.group, note, self._now())
        return hold.recheck_s

    async def _write_status(self, group: ConsumerGroup, status: Json) -> None:
        at = group.metadata
        self._take_in(await self._api.apply_status(CONSUMER_GROUP, at.namespace, at.name, at.uid, status))


def _with_memory(obj: Json, memory: RolloutMemory) -> Json:
    return {**(obj.get("status") or {}), "rollout": write_memory(memory)}


def _without_topics(group: ConsumerGroup) -> ConsumerGroup:
    """Who is in the group can be seen without them, and they may have been deleted before."""
    return group.model_copy(update={"spec": group.spec.model_copy(update={"topics": ()})})
