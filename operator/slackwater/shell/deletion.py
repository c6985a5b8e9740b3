"""Carries out what core decides about a ConsumerGroup that is being deleted: gathers, does, and says why it waits."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

import structlog

from slackwater.adapters.cluster.errors import ClusterRefused, Forbidden
from slackwater.adapters.cluster.paths import CONSUMER_GROUP, POD
from slackwater.adapters.cluster.snapshot import Snapshot, memory_in, read_connection, read_workloads, to_world
from slackwater.adapters.cluster.translation import (
    controller_uid,
    end_by,
    group_of,
    has_run,
    left_of,
    to_workload,
    without_controller,
)
from slackwater.adapters.kafka.errors import KafkaFailed
from slackwater.api.annotations import FINALIZER, GROUP_LABEL
from slackwater.api.kafka_connection import allows, prefixes_of
from slackwater.api.parsing import parse_consumer_group
from slackwater.api.resources import ConsumerGroup
from slackwater.core.decision.acts import Act, LetGo, RemoveMembers, kind_of
from slackwater.core.decision.decision import Decision
from slackwater.core.decision.reasons import Reason
from slackwater.core.decision.remains import Remains
from slackwater.core.deletion import cannot_leave, is_kafkas_turn, is_let_go, members_of_ours, plan_deletion
from slackwater.core.status.compose import degraded_status, status_without_refusal
from slackwater.core.world.history import GroupHistory
from slackwater.core.world.memory import RolloutMemory, write_memory
from slackwater.core.world.observation import GroupObservation, KafkaView, Unobserved
from slackwater.core.world.world import World
from slackwater.ports import Cluster
from slackwater.shell.acting import carry_out, write_status
from slackwater.shell.claims import Claims
from slackwater.shell.connections import Connections
from slackwater.shell.elapsed import earlier, elapsed_s
from slackwater.shell.events import Post
from slackwater.shell.store import Key

Json = Mapping[str, Any]

SAID_AFTER_S: Final = 10.0

_log = structlog.get_logger(__name__)


@dataclass(slots=True)
class _Course:
    """How far the deletion of one object has come, as this process has seen it."""

    uid: str
    refused_since: float | None = None
    """Since when no look at its pods was allowed."""
    act_refused_since: float | None = None
    """Since when the API server has refused what is next."""
    refusal: ClusterRefused | None = None
    """How it did so first: of a webhook that is away it says something else at each try, and people read it once."""
    kafkas_turn_since: float | None = None
    """Since when nothing of it is left in the cluster."""
    saw_pods: bool = False
    """Its pods were there at some look since it was deleted."""
    ours: Mapping[str, str] = field(default_factory=dict)
    """See `Remains.ours`."""
    let_go: bool = False
    """It is gone, or about to go: the store has it until its watch says so."""


class Deletion:
    """Goes on from where the last call ended; each step is safe to repeat."""

    def __init__(
        self,
        api: Cluster,
        connections: Connections,
        claims: Claims,
        take_in: Callable[[Json | None], None],
        now: Callable[[], float],
        acted: Callable[[Key, Act], None],
    ) -> None:
        self._api = api
        self._connections = connections
        self._claims = claims
        self._post = Post(api)
        self._take_in = take_in
        self._now = now
        self._acted = acted
        self._courses: dict[Key, _Course] = {}

    async def go_on(self, group: ConsumerGroup, obj: Json) -> float | None:
        """Returns in how many seconds to go on; None when there is nothing left to do.

        Raises ClusterFailed, and InvalidSpec when what is remembered cannot be read.
        """
        key, course = Key(group.namespace, group.name), self._course_of(group)
        if FINALIZER not in group.metadata.finalizers or course.let_go:
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
            except ClusterRefused as error:  # a policy, or rights: nothing else will say so
                course.act_refused_since = earlier(course.act_refused_since, self._now())
                if elapsed_s(course.act_refused_since, self._now()) < SAID_AFTER_S:
                    raise  # it may be a webhook that is away for a moment: it is tried again soon
                if type(course.refusal) is not type(error):
                    course.refusal = error
                return await self._wait(world, obj, cannot_leave(world, Reason.CLUSTER_REFUSED, str(course.refusal)))
            course.act_refused_since = course.refusal = None
            if isinstance(decided.act, LetGo):
                self._courses[key] = _Course(group.metadata.uid, let_go=True)
                return None
            world, remains = world.remembering(decided.memory), remains.after(decided.act)

    def forget(self, key: Key) -> None:
        """The object is gone, by whatever hand."""
        self._courses.pop(key, None)
        self._post.forget(key)

    def _course_of(self, group: ConsumerGroup) -> _Course:
        """Of this object, and none of its name before."""
        key, uid = Key(group.namespace, group.name), group.metadata.uid
        known = self._courses.get(key)
        if known is None or known.uid != uid:
            known = self._courses[key] = _Course(uid)
        return known

    async def _gather(self, group: ConsumerGroup, obj: Json) -> tuple[World, Remains]:
        """Each part from where it is true, once those before it leave something open; Kafka comes last.

        The world shows the StatefulSets that are ours, and no other: what somebody else's gave is not for us to take.
        """
        not_yet = Unobserved(Reason.OBSERVATION_INCOMPLETE, "the group has not been looked at yet", self._now())
        world, remains = World(self._now(), group, not_yet), Remains()
        if is_let_go(world, remains):
            return world, remains  # whatever it remembers, and whether that can be read or not
        world = world.remembering(memory_in(obj))
        try:
            gathered = await self._gather_remains(world, obj)
        except Forbidden as error:
            course = self._course_of(group)
            course.refused_since = since = earlier(course.refused_since, self._now())
            # No watch brings the newest version any more, and only on that the finalizer can be taken off.
            newest = await self._api.read(CONSUMER_GROUP, group.namespace, group.name)
            same = newest if newest is not None and newest["metadata"]["uid"] == group.metadata.uid else obj
            return replace(world, group=parse_consumer_group(same)), Remains(refused=str(error), refused_since=since)
        self._course_of(group).refused_since = None
        return gathered

    async def _gather_remains(self, world: World, obj: Json) -> tuple[World, Remains]:
        """Raises ClusterFailed."""
        group, course = world.group, self._course_of(world.group)
        workloads = await read_workloads(self._api, group.namespace, group.name)
        labelled = frozenset(each["metadata"]["name"] for each in workloads if group_of(each) == group.name)
        remains = Remains(tuple(map(to_workload, workloads)), labelled)
        if is_let_go(world, remains):
            return world, remains
        labelled_pods, _ = await self._api.list_all(POD, group.namespace, f"{GROUP_LABEL}={group.name}")
        pods = left_of(group.name, labelled_pods)
        alone = without_controller(pods)
        ours = [each for each in workloads if controller_uid(each) == group.metadata.uid]
        key = Key(group.namespace, group.name)
        known, history = self._connections.view(key, world.now)
        seen = Snapshot(obj, None, ours, pods, memory=world.memory)
        cluster_id = self._connections.cluster_id(key)
        world = replace(to_world(seen, known, history, world.now, group), cluster_id=cluster_id)
        ran = any(map(has_run, pods))
        remains = replace(remains, pods=len(pods) > len(alone), ran=ran, end_by=end_by(pods), alone=alone)
        course.saw_pods = course.saw_pods or remains.pods
        course.ours = members_of_ours(world, course.ours)
        remains = replace(remains, seen_to_end=course.saw_pods, ours=course.ours)
        if not is_kafkas_turn(world, remains):
            return world, remains
        course.kafkas_turn_since = since = earlier(course.kafkas_turn_since, self._now())
        return await self._look(world), replace(remains, kafkas_turn_since=since)

    async def _look(self, world: World) -> World:
        """With the connection and what Kafka says."""
        group, key = world.group, Key(world.group.namespace, world.group.name)
        used, reference = self._connections.own_namespace, group.spec.connection_ref.model_dump()
        connection = await read_connection(self._api, used, group.namespace, reference)
        if connection is None:
            return world
        prefixes = prefixes_of(connection, group.namespace)
        if not allows(prefixes, group.group_id):
            return replace(world, bootstrap_servers=connection["spec"]["bootstrapServers"], allowed_groups=prefixes)
        await self._connections.use(key, _without_topics(group), world.memory, connection, self._now())
        await self._connections.look_now(key)
        servers = connection["spec"]["bootstrapServers"]
        claims = self._claims.of_others(key, group)  # after the look, by which this cluster told its id
        kafka, history = self._view(key)
        world = replace(world, cluster_id=self._connections.cluster_id(key), claims=claims)
        return replace(world, bootstrap_servers=servers, kafka=kafka, history=history)

    def _view(self, key: Key) -> tuple[KafkaView, GroupHistory]:
        view, history = self._connections.view(key, self._now())
        if isinstance(view, GroupObservation) and self._connections.admin(key) is None:
            view = Unobserved(Reason.CONNECTION_INVALID, "there is no usable connection", self._now())
        return view, history

    async def _do(self, world: World, obj: Json, decided: Decision, act: Act) -> None:
        """The memory is written first, and people are informed: once the object is gone nobody can make up for it.

        Raises ClusterFailed and KafkaFailed.
        """
        if decided.memory != world.memory:
            await self._write_status(world.group, _with_memory(obj, decided.memory))
        for note in decided.notes:
            await self._post.send(world.group, note, self._now())
        key = Key(world.group.namespace, world.group.name)
        written = await carry_out(self._api, self._connections.admin(key), world, act)
        self._acted(key, act)
        members = sorted(ref.instance_id for ref in act.members) if isinstance(act, RemoveMembers) else None
        _log.info("acted", group=str(key), act=kind_of(act), why=getattr(act, "why", ""), members=members)
        if isinstance(act, LetGo) and written is not None and written["metadata"].get("finalizers"):
            self._take_in(written)  # without any it is gone, and must not come back after the watch has said so

    async def _wait(self, world: World, obj: Json, decided: Decision) -> float | None:
        """What somebody has to do something about is said once for each reason: in a condition, and in one Event.

        That Kafka has not been looked at yet passes by itself.
        """
        hold, key = decided.hold, Key(world.group.namespace, world.group.name)
        if hold is None:
            return None
        before = _with_memory(obj, decided.memory) if decided.memory != world.memory else obj.get("status") or {}
        says = bool(decided.notes) and not self._connections.awaits_first_look(key)
        told = {**obj, "status": before}
        status = before
        if says:
            status = degraded_status(told, "Deleting", hold.reason, hold.message, self._now())
        elif hold.reason is not Reason.CLUSTER_REFUSED:
            status = status_without_refusal(told, "Deleting", self._now())
        if status != (obj.get("status") or {}):
            await self._write_status(world.group, status)
        for note in decided.notes if status != before else ():
            await self._post.send(world.group, note, self._now())
        return hold.recheck_s

    async def _write_status(self, group: ConsumerGroup, status: Json) -> None:
        await write_status(self._api, group, status, self._take_in)


def _with_memory(obj: Json, memory: RolloutMemory) -> Json:
    return {**(obj.get("status") or {}), "rollout": write_memory(memory)}


def _without_topics(group: ConsumerGroup) -> ConsumerGroup:
    """Who is in the group can be seen without them, and they may have been deleted before."""
    return group.model_copy(update={"spec": group.spec.model_copy(update={"topics": ()})})
