"""A ConsumerGroup that is being deleted: its pods first, then its members in Kafka, then the object itself (F10)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import structlog

from slackwater.adapters.cluster.paths import CONSUMER_GROUP, KAFKA_CONNECTION, POD, STATEFUL_SET
from slackwater.adapters.cluster.snapshot import read_workloads
from slackwater.adapters.cluster.translation import group_of, to_workload
from slackwater.adapters.kafka.errors import KafkaFailed
from slackwater.api.annotations import FINALIZER, GROUP_LABEL
from slackwater.api.consumer_group import DeletionPolicy
from slackwater.api.resources import ConsumerGroup
from slackwater.core.decision.notes import Note
from slackwater.core.decision.reasons import Reason
from slackwater.core.status.compose import degraded_status
from slackwater.core.world.identity import ordinal_of
from slackwater.core.world.memory import read_memory
from slackwater.core.world.observation import GroupObservation, MemberRef, Unobserved
from slackwater.ports import Cluster
from slackwater.shell.connections import Connections
from slackwater.shell.events import post
from slackwater.shell.store import Key

Json = Mapping[str, Any]
AGAIN_S: Final = 1.0
KAFKA_AGAIN_S: Final = 10.0
_ORPHAN: Final = "orphan"
"""The garbage collector's finalizer, while it takes the owner's name off what is to stay."""

_log = structlog.get_logger(__name__)


class Deletion:
    """Takes one step towards the end at a time; each is safe to repeat."""

    def __init__(
        self,
        api: Cluster,
        connections: Connections,
        take_in: Callable[[Json | None], None],
        now: Callable[[], float],
    ) -> None:
        self._api = api
        self._connections = connections
        self._take_in = take_in
        self._now = now

    async def go_on(self, group: ConsumerGroup, obj: Json) -> float | None:
        """Returns in how many seconds to go on; None when there is nothing left to do. Raises ClusterFailed."""
        if FINALIZER not in group.metadata.finalizers:
            return None
        workloads = await read_workloads(self._api, group.namespace, group.name)
        if _is_let_go(group, workloads):
            await self._end(group, obj)
            return None
        if not await self._pods_are_gone(group, workloads):
            return AGAIN_S
        connection = await self._api.read(KAFKA_CONNECTION, group.namespace, group.spec.connection_ref.name)
        if connection is None:
            message = "the KafkaConnection is gone: members stay in the group until their sessions end, offsets stay"
            await post(self._api, group, Note(Reason.CONNECTION_MISSING, message, warning=True), self._now())
        else:
            try:
                await self._leave_kafka(group, connection)
            except KafkaFailed as error:
                await self._say_why_it_waits(group, obj, error)
                return KAFKA_AGAIN_S
        await self._end(group, obj)
        return None

    async def _end(self, group: ConsumerGroup, obj: Json) -> None:
        """Let the object go."""
        rest = [finalizer for finalizer in group.metadata.finalizers if finalizer != FINALIZER]
        written = await self._api.set_finalizers(CONSUMER_GROUP, obj, rest)
        if rest:  # without any the object is gone, and must not come back after the watch has said so
            self._take_in(written)

    async def _pods_are_gone(self, group: ConsumerGroup, workloads: Sequence[Json]) -> bool:
        ours = [each for each in map(to_workload, workloads) if each.owner_uid == group.metadata.uid]
        for workload in ours:
            await self._api.delete(STATEFUL_SET, group.namespace, workload.name, workload.uid)
        if ours:
            return False
        pods, _ = await self._api.list_all(POD, group.namespace, f"{GROUP_LABEL}={group.name}")
        return not pods

    async def _leave_kafka(self, group: ConsumerGroup, connection: Json) -> None:
        """Take out the members that are ours, and no other. Raises KafkaFailed."""
        key = Key(group.namespace, group.name)
        await self._connections.use(key, _without_topics(group), connection, self._now())
        await self._connections.look_now(key)
        view, _ = self._connections.view(key, self._now())
        admin = self._connections.admin(key)
        if isinstance(view, Unobserved) or admin is None:
            raise _unusable(view)
        memory = read_memory(group.status)
        given = max(memory.ids_given, memory.replicas_of(group.spec.replicas))
        ours = [
            MemberRef(member.instance_id, member.member_id)
            for member in view.members
            if member.instance_id is not None
            and (ordinal := ordinal_of(member.instance_id, group.name)) is not None
            and ordinal < given
            and memory.removed.get(member.instance_id, member.member_id) == member.member_id
        ]
        removed = await admin.remove_members(group.group_id, ours)
        if group.spec.deletion_policy is DeletionPolicy.DELETE_GROUP:
            await admin.delete_group(group.group_id)
        _log.info("members_removed", group=str(key), removed=sorted(removed))

    async def _say_why_it_waits(self, group: ConsumerGroup, obj: Json, error: KafkaFailed) -> None:
        """Once for each reason: what repeats itself is in the condition, not in one Event after the other."""
        message = f"the group's members cannot be taken out: {error}. To give up, remove the finalizer {FINALIZER}"
        status = degraded_status(obj, "Deleting", error.reason, message, self._now())
        if status == obj.get("status"):
            return
        metadata = group.metadata
        self._take_in(
            await self._api.apply_status(CONSUMER_GROUP, metadata.namespace, metadata.name, metadata.uid, status)
        )
        await post(self._api, group, Note(error.reason, message, warning=True), self._now())


def _is_let_go(group: ConsumerGroup, workloads: Sequence[Json]) -> bool:
    """The pods are not ours any more, or never were: they stay, and so do their members.

    Deleted with `--cascade=orphan`, that is, whether the garbage collector has taken our name off the StatefulSet yet
    or not; or beside a StatefulSet that was never adopted, whose members may be called just as ours would be.
    """
    if _ORPHAN in group.metadata.finalizers:
        return True
    never_ours = not read_memory(group.status).target_hash
    theirs = [
        each
        for each in workloads
        if group_of(each) == group.name or (never_ours and each["metadata"]["name"] == group.name)
    ]
    return bool(theirs) and all(to_workload(each).owner_uid != group.metadata.uid for each in workloads)


def _unusable(view: GroupObservation | Unobserved) -> KafkaFailed:
    if isinstance(view, Unobserved):
        return KafkaFailed(view.message, Reason(view.reason))
    return KafkaFailed("there is no usable connection", Reason.CONNECTION_INVALID)


def _without_topics(group: ConsumerGroup) -> ConsumerGroup:
    """Who is in the group can be told without them, and they may have been deleted before."""
    return group.model_copy(update={"spec": group.spec.model_copy(update={"topics": ()})})
