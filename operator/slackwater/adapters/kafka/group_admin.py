"""Changes groups: removes static members, deletes empty groups (F11). Every call is safe to repeat."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

from kafka.protocol.admin import DeleteGroupsRequest
from kafka.protocol.consumer import LeaveGroupRequest

from slackwater.adapters.kafka.coordinators import Coordinators
from slackwater.adapters.kafka.errors import Code, Failure, KafkaRefused, KafkaUnreachable, group_failure
from slackwater.adapters.kafka.wire import KafkaWire
from slackwater.core.reasons import Reason

_MOVED = frozenset({Code.NOT_COORDINATOR, Code.COORDINATOR_NOT_AVAILABLE})
_REASON = "removed by slackwater: the member's pod is gone"


class KafkaGroupAdmin:
    """A `GroupAdmin` of one cluster."""

    def __init__(self, wire: KafkaWire, coordinators: Coordinators | None = None) -> None:
        self._wire = wire
        self._coordinators = coordinators or Coordinators(wire)

    async def remove_members(self, group_id: str, instance_ids: Collection[str]) -> Collection[str]:
        """Remove static members by instance id; returns the ids that were there.

        Ids that nobody holds, and groups that do not exist, are fine. Raises KafkaUnreachable and KafkaRefused.
        """
        if not instance_ids:
            return ()
        members = [
            LeaveGroupRequest.MemberIdentity(member_id="", group_instance_id=instance_id, reason=_REASON)
            for instance_id in sorted(instance_ids)
        ]
        request = LeaveGroupRequest(group_id=group_id, members=members, min_version=3)  # v3 takes instance ids
        response = await self._ask_coordinator(group_id, request, lambda response: int(response.error_code))
        if response.error_code in (Code.GROUP_ID_NOT_FOUND, Code.UNKNOWN_MEMBER_ID):
            return ()
        _raise_unless_done(group_id, response.error_code)
        removed = []
        for member in response.members:
            if member.error_code not in (Code.UNKNOWN_MEMBER_ID, Code.GROUP_ID_NOT_FOUND):
                _raise_unless_done(group_id, member.error_code)
                removed.append(member.group_instance_id)
        return tuple(removed)

    async def delete_group(self, group_id: str) -> None:
        """Delete an empty group with its offsets; a group that is not there is fine.

        Raises KafkaRefused while the group has members, and KafkaUnreachable.
        """
        request = DeleteGroupsRequest(groups_names=[group_id])
        response = await self._ask_coordinator(group_id, request, lambda response: int(response.results[0].error_code))
        code = response.results[0].error_code
        if code == Code.NON_EMPTY_GROUP:
            raise KafkaRefused(f"group {group_id} still has members: it can be deleted when they have left")
        if code != Code.GROUP_ID_NOT_FOUND:
            _raise_unless_done(group_id, code)

    async def _ask_coordinator(self, group_id: str, request: Any, code_of: Callable[[Any], int]) -> Any:
        """Ask once more when the coordinator that we remember no longer is it."""
        response = await self._wire.send(request, await self._coordinator(group_id))
        if code_of(response) in _MOVED:
            self._coordinators.forget((group_id,))
            response = await self._wire.send(request, await self._coordinator(group_id))
        return response

    async def _coordinator(self, group_id: str) -> int:
        node = (await self._coordinators.find((group_id,)))[group_id]
        if isinstance(node, Failure):
            raise KafkaUnreachable(node.message, node.reason)
        return node


def _raise_unless_done(group_id: str, code: int) -> None:
    if code == Code.NONE:
        return
    if code == Code.GROUP_AUTHORIZATION_FAILED:
        message = f"the connection's Kafka user may not change group {group_id}: grant it Read and Delete on the group"
        raise KafkaRefused(message, Reason.NOT_AUTHORIZED)
    failure = group_failure(group_id, code)
    raise KafkaUnreachable(failure.message, failure.reason)
