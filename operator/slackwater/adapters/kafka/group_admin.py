"""Changes groups: takes static members out, gives their ids free, sets the group's own settings, deletes empty groups.

A member is always named by both its ids as it was seen, and the broker compares both: whoever has taken the instance
id over meanwhile has another member id and is not touched. Every call is safe to repeat.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Mapping
from typing import Any, Final

from kafka.protocol.admin import DeleteGroupsRequest
from kafka.protocol.consumer import LeaveGroupRequest

from slackwater.adapters.kafka.consumer_group_heartbeat import STATIC_MEMBER_LEFT, ConsumerGroupHeartbeatRequest
from slackwater.adapters.kafka.coordinators import Coordinators
from slackwater.adapters.kafka.errors import ApiMissing, Code, Failure, KafkaRefused, KafkaUnreachable, group_failure
from slackwater.adapters.kafka.group_settings import alter_settings
from slackwater.adapters.kafka.wire import KafkaWire
from slackwater.core.decision.reasons import Reason
from slackwater.core.world.observation import MemberRef

_MOVED: Final = frozenset({Code.NOT_COORDINATOR, Code.COORDINATOR_NOT_AVAILABLE})
_NOT_THERE: Final = frozenset({Code.UNKNOWN_MEMBER_ID, Code.FENCED_INSTANCE_ID, Code.GROUP_ID_NOT_FOUND})
"""No such member, another one under its instance id, no such group (or one of another type)."""
_REASON: Final = "removed by slackwater: the member's pod is gone"


class KafkaGroupAdmin:
    """A `GroupAdmin` of one cluster."""

    def __init__(
        self,
        wire: KafkaWire,
        coordinators: Coordinators | None = None,
        *,
        before_write: Callable[[], object] = lambda: None,
    ) -> None:
        """`before_write` is called right before each request that changes something, and may refuse it by raising."""
        self._wire = wire
        self._coordinators = coordinators or Coordinators(wire)
        self._before_write = before_write

    async def remove_members(self, group_id: str, members: Collection[MemberRef]) -> Collection[str]:
        """Remove static members, of classic and KIP-848 groups alike (F11); returns the instance ids removed.

        Members that are not there (any more), and groups that do not exist, are fine. Raises KafkaUnreachable and
        KafkaRefused.
        """
        if not members:
            return ()
        rows = [
            LeaveGroupRequest.MemberIdentity(
                member_id=member.member_id, group_instance_id=member.instance_id, reason=_REASON
            )
            for member in sorted(members)
        ]
        request = LeaveGroupRequest(group_id=group_id, members=rows, min_version=3)  # v3 takes instance ids
        response = await self._ask_coordinator(group_id, request, _code_of)
        if response.error_code in _NOT_THERE:
            return ()
        _raise_unless_done(group_id, response.error_code, "Read")
        removed = []
        for row in response.members:
            if row.error_code not in _NOT_THERE:
                _raise_unless_done(group_id, row.error_code, "Read")
                removed.append(row.group_instance_id)
        return tuple(removed)

    async def release_members(self, group_id: str, members: Collection[MemberRef]) -> Collection[str]:
        """Let successors of dead static members join a KIP-848 group at once; returns the instance ids released.

        Without it the broker refuses them until the old session ends (F13). Says for each member, by a heartbeat, what
        it would have said at SIGTERM: that it goes and that its id comes back. Its partitions stay reserved for the
        rest of its session, nothing moves. As in `remove_members` it is fine when there is nobody to release; in a
        classic group there never is. A member that is alive after all is fenced, and joins again as itself at its next
        heartbeat. Raises KafkaUnreachable and KafkaRefused.
        """
        done = await asyncio.gather(*(self._release(group_id, member) for member in members))
        return tuple(member.instance_id for member, released in zip(members, done, strict=True) if released)

    async def alter_group_settings(self, group_id: str, values: Mapping[str, str | None]) -> None:
        """Set the group's own settings (F23), all or none; None gives a setting back to the brokers.

        Members get them with their next heartbeat. Raises KafkaUnreachable, and KafkaRefused for values that the broker
        does not take and for a missing right.
        """
        self._before_write()
        await alter_settings(self._wire, group_id, values)

    async def delete_group(self, group_id: str) -> None:
        """Delete an empty group with its offsets; a group that is not there is fine.

        Raises KafkaRefused while the group has members, and KafkaUnreachable.
        """
        request = DeleteGroupsRequest(groups_names=[group_id])
        response = await self._ask_coordinator(group_id, request, lambda response: int(response.results[0].error_code))
        code = response.results[0].error_code
        if code == Code.NON_EMPTY_GROUP:
            message = f"group {group_id} still has members: it can be deleted when they have left"
            raise KafkaRefused(message, Reason.FOREIGN_MEMBERS)
        if code != Code.GROUP_ID_NOT_FOUND:
            _raise_unless_done(group_id, code, "Delete")

    async def _release(self, group_id: str, member: MemberRef) -> bool:
        request = ConsumerGroupHeartbeatRequest(
            group_id=group_id,
            member_id=member.member_id,
            instance_id=member.instance_id,
            member_epoch=STATIC_MEMBER_LEFT,
        )
        try:
            response = await self._ask_coordinator(group_id, request, _code_of)
        except ApiMissing:  # a broker from before KIP-848 has no such groups
            return False
        # Nor has one whose group.version is 0, though it knows the request (F6).
        if response.error_code in _NOT_THERE or response.error_code == Code.UNSUPPORTED_VERSION:
            return False
        _raise_unless_done(group_id, response.error_code, "Read")
        return True

    async def _ask_coordinator(self, group_id: str, request: Any, code_of: Callable[[Any], int]) -> Any:
        """Ask once more when the coordinator that we remember no longer is it."""
        response = await self._write(request, await self._coordinator(group_id))
        if code_of(response) in _MOVED:
            self._coordinators.forget((group_id,))
            response = await self._write(request, await self._coordinator(group_id))
        return response

    async def _write(self, request: Any, coordinator: int) -> Any:
        self._before_write()
        return await self._wire.send(request, coordinator)

    async def _coordinator(self, group_id: str) -> int:
        node = (await self._coordinators.find((group_id,)))[group_id]
        if isinstance(node, Failure):
            raise KafkaUnreachable(node.message, node.reason)
        return node


def _code_of(response: Any) -> int:
    return int(response.error_code)


def _raise_unless_done(group_id: str, code: int, right: str) -> None:
    if code == Code.NONE:
        return
    if code == Code.GROUP_AUTHORIZATION_FAILED:
        message = f"the connection's Kafka user may not change group {group_id}: grant it {right} on the group"
        raise KafkaRefused(message, Reason.NOT_AUTHORIZED)
    failure = group_failure(group_id, code)
    raise KafkaUnreachable(failure.message, failure.reason)
