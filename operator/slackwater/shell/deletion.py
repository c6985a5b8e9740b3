"""A ConsumerGroup that is being deleted: pods first, then its members in Kafka, then the object (F10)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import structlog

from slackwater.adapters.cluster.api import KubernetesApi
from slackwater.adapters.cluster.paths import CONSUMER_GROUP, KAFKA_CONNECTION, POD, STATEFUL_SET
from slackwater.adapters.cluster.translation import to_workload
from slackwater.adapters.kafka.errors import KafkaFailed
from slackwater.api.annotations import FINALIZER, GROUP_LABEL
from slackwater.api.consumer_group import DeletionPolicy
from slackwater.api.resources import ConsumerGroup
from slackwater.core.acts import Note
from slackwater.core.observation import GroupObservation
from slackwater.core.reasons import Reason
from slackwater.core.world import ordinal_of
from slackwater.shell.connections import Connections
from slackwater.shell.events import post
from slackwater.shell.store import Key

AGAIN_S: Final = 1.0
KAFKA_AGAIN_S: Final = 10.0

_log = structlog.get_logger(__name__)


async def finish_deletion(
    api: KubernetesApi, connections: Connections, group: ConsumerGroup, obj: Mapping[str, Any], now: float
) -> float | None:
    """One step towards the end; each is safe to repeat. Returns in how many seconds to go on; None: it is done."""
    if FINALIZER not in group.metadata.finalizers:
        return None
    workload = await api.read(STATEFUL_SET, group.namespace, group.name)
    if workload is not None and to_workload(workload).owner_uid == group.metadata.uid:
        await api.delete(STATEFUL_SET, group.namespace, group.name, workload["metadata"]["uid"])
        return AGAIN_S
    pods, _ = await api.list_all(POD, group.namespace, f"{GROUP_LABEL}={group.name}")
    if pods:
        return AGAIN_S
    connection = await api.read(KAFKA_CONNECTION, group.namespace, group.spec.connection_ref.name)
    if connection is None:
        message = "the KafkaConnection is gone: members stay in the group until their sessions end, offsets stay"
        await post(api, group, Note(Reason.CONNECTION_MISSING, message, warning=True), now)
    else:
        key = Key(group.namespace, group.name)
        await connections.use(key, group, connection, now)
        try:
            await _leave_kafka(connections, key, group, now)
        except KafkaFailed as error:
            message = f"Kafka does not take the members out: {error}. To give up, remove the finalizer {FINALIZER}"
            await post(api, group, Note(error.reason, message, warning=True), now)
            return KAFKA_AGAIN_S
    await api.set_finalizers(CONSUMER_GROUP, obj, [f for f in group.metadata.finalizers if f != FINALIZER])
    await connections.forget(Key(group.namespace, group.name))
    return None


async def _leave_kafka(connections: Connections, key: Key, group: ConsumerGroup, now: float) -> None:
    """Take out the members that are ours, and no other. Raises KafkaFailed."""
    admin = connections.admin(key)
    if admin is None:
        view, _ = connections.view(key, now)
        raise _unusable(view)
    await connections.look_now(key)
    view, _ = connections.view(key, now)
    if not isinstance(view, GroupObservation):
        raise _unusable(view)
    ids = [member.instance_id for member in view.members if member.instance_id is not None]
    ours = [instance_id for instance_id in ids if ordinal_of(instance_id, group.name) is not None]
    removed = await admin.remove_members(group.group_id, ours)
    if group.spec.deletion_policy is DeletionPolicy.DELETE_GROUP:
        await admin.delete_group(group.group_id)
    _log.info("members_removed", group=str(key), removed=sorted(removed))


def _unusable(view: object) -> KafkaFailed:
    reason = Reason(getattr(view, "reason", Reason.KAFKA_UNREACHABLE))
    return KafkaFailed(str(getattr(view, "message", "there is no usable connection")), reason)
