"""A real broker as something that scenarios can be played to: plain requests, one connection for each process."""

from __future__ import annotations

import asyncio
import struct
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from kafka.protocol.admin import DeleteGroupsRequest, DescribeGroupsRequest
from kafka.protocol.consumer import HeartbeatRequest, JoinGroupRequest, LeaveGroupRequest, SyncGroupRequest

from slackwater.adapters.kafka.consumer_group_describe import ConsumerGroupDescribeRequest
from slackwater.adapters.kafka.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from slackwater.adapters.kafka.coordinators import Coordinators
from slackwater.adapters.kafka.wire import KafkaWire
from slackwater.core.world.observation import GroupState, GroupType
from tests.core.coordinator.model import Error
from tests.core.coordinator.play import Described, Process, Seen

QUIET_S: Final = 1.5
"""No answer for so long, and what is open is parked. The sandbox's brokers let an empty group wait twice for 0.5 s."""
NOT_A_TOPIC: Final = "nowhere"
PATIENCE_S: Final = 60.0
CONSUMER_MEMBER: Final = 1
"""What ConsumerGroupDescribe calls a member that speaks KIP-848; a classic one is 0."""
HOLDS: Final = {"join": GroupState.PREPARING_REBALANCE.value, "sync": GroupState.COMPLETING_REBALANCE.value}
CODES: Final = {
    0: Error.NONE,
    22: Error.ILLEGAL_GENERATION,
    23: Error.INCONSISTENT_GROUP_PROTOCOL,
    25: Error.UNKNOWN_MEMBER_ID,
    27: Error.REBALANCE_IN_PROGRESS,
    79: Error.MEMBER_ID_REQUIRED,
    82: Error.FENCED_INSTANCE_ID,
    111: Error.UNRELEASED_INSTANCE_ID,
}
SUBSCRIPTION: Final = struct.pack(f">hih{len(NOT_A_TOPIC)}si", 0, 1, len(NOT_A_TOPIC), NOT_A_TOPIC.encode(), -1)
"""What a consumer of one topic says of itself, in the first version of the clients' own format."""
ASSIGNMENT: Final = struct.pack(">hii", 0, 0, -1)
"""No partition at all."""


@dataclass
class RealCoordinator:
    bootstrap_servers: str
    group_id: str
    _wires: dict[Process | None, KafkaWire] = field(default_factory=dict)
    _open: dict[asyncio.Task[None], str] = field(default_factory=dict)
    """Requests without an answer, and what they are."""
    _seen: list[Seen] = field(default_factory=list)
    _members: tuple[str, ...] = ()

    async def close(self) -> None:
        """End all requests and connections, and delete the group."""
        for task in self._open:
            task.cancel()
        await asyncio.gather(*self._open, return_exceptions=True)
        for member_id, instance_id in (await self.describe()).members:
            await self._ask(None, self._leave_request(instance_id, "" if instance_id else member_id))
        await self._ask(None, DeleteGroupsRequest(groups_names=[self.group_id]))
        for wire in self._wires.values():
            await wire.close()

    async def connect(self, process: Process) -> None:
        """Before it joins: an empty group waits for half a second for all that start together, and on a busy machine
        three log-ins and three searches for the coordinator take longer."""
        await self._ask(process, DescribeGroupsRequest(groups=[self.group_id]))

    async def join(self, process: Process) -> None:
        offered = JoinGroupRequest.JoinGroupRequestProtocol
        request = JoinGroupRequest(
            group_id=self.group_id,
            session_timeout_ms=process.session_ms,
            rebalance_timeout_ms=process.rebalance_ms,
            member_id=process.member_id,
            group_instance_id=process.instance_id,
            protocol_type="consumer",
            protocols=[offered(name=name, metadata=SUBSCRIPTION) for name in process.protocols],
        )
        await self._send(process, "join", request)

    async def sync(self, process: Process) -> None:
        assigned = [
            SyncGroupRequest.SyncGroupRequestAssignment(member_id=m, assignment=ASSIGNMENT)
            for m in (self._members if process.leads else ())
        ]
        request = SyncGroupRequest(
            group_id=self.group_id,
            generation_id=process.generation,
            member_id=process.member_id,
            group_instance_id=process.instance_id,
            protocol_type="consumer",
            protocol_name=process.protocol,
            assignments=assigned,
        )
        await self._send(process, "sync", request)

    async def heartbeat(self, process: Process) -> None:
        request = HeartbeatRequest(
            group_id=self.group_id,
            generation_id=process.generation,
            member_id=process.member_id,
            group_instance_id=process.instance_id,
        )
        await self._send(process, "heartbeat", request)

    async def leave(self, process: Process, instance_id: str | None, member_id: str) -> None:
        await self._send(process, "leave", self._leave_request(instance_id, member_id))

    async def consumer_heartbeat(self, process: Process, epoch: int) -> None:
        process.member_id = process.member_id or f"{process.who}-chosen-by-itself"
        request = ConsumerGroupHeartbeatRequest(
            group_id=self.group_id,
            member_id=process.member_id,
            member_epoch=epoch,
            instance_id=process.instance_id,
            rebalance_timeout_ms=process.rebalance_ms if epoch == 0 else -1,
            subscribed_topic_names=[NOT_A_TOPIC] if epoch == 0 else None,
            topic_partitions=[] if epoch == 0 else None,
        )
        await self._send(process, "consumer-heartbeat", request)

    async def answers(self) -> list[Seen]:
        while self._open:
            done, _ = await asyncio.wait(self._open, timeout=QUIET_S, return_when=asyncio.FIRST_COMPLETED)
            if not done and await self._all_parked():
                break
            for task in done:
                task.result()
                del self._open[task]
        await self._assigned()
        seen, self._seen = self._seen, []
        return seen

    async def _all_parked(self) -> bool:
        """A coordinator holds joins while it prepares a rebalance, and syncs while it completes one."""
        state = (await self.describe()).state
        return all(state == HOLDS.get(kind) for kind in self._open.values())

    async def describe(self) -> Described:
        response = await self._ask(None, DescribeGroupsRequest(groups=[self.group_id]))
        [group] = response.groups
        if group.group_state != "Dead":
            members = [(m.member_id, m.group_instance_id) for m in group.members]
            return Described(GroupType.CLASSIC, group.group_state, group.protocol_data, members)
        modern = await self._described_as_modern()
        members = [(m.member_id, m.instance_id) for m in modern.members]
        return Described(GroupType.CONSUMER if members else GroupType.CLASSIC, modern.group_state or "", "", members)

    async def session_ends(self, process: Process, others: Sequence[Process]) -> None:
        """Wait until the broker has taken the member out, while the others stay alive."""
        await self._until(lambda group: process.member_id not in [member_id for member_id, _ in group.members])

    async def rebalance_timeout(self) -> None:
        """Wait until the rebalance under way has come to an end, or the one for late syncs has begun."""
        before = (await self.describe()).state
        await self._until(lambda group: group.state != before)

    async def _assigned(self) -> None:
        """Wait until the coordinator of a consumer group has computed what its epoch asks for: it does so later."""
        async with asyncio.timeout(PATIENCE_S):
            while (group := await self._described_as_modern()).assignment_epoch < group.group_epoch:
                for member in group.members:
                    if member.member_type == CONSUMER_MEMBER:
                        beat = ConsumerGroupHeartbeatRequest(
                            group_id=self.group_id,
                            member_id=member.member_id,
                            member_epoch=member.member_epoch,
                            instance_id=member.instance_id,
                        )
                        await self._ask(None, beat)

    async def _described_as_modern(self) -> Any:
        response = await self._ask(None, ConsumerGroupDescribeRequest(group_ids=[self.group_id]))
        return response.groups[0]

    async def _until(self, holds: Any) -> None:
        async with asyncio.timeout(PATIENCE_S):
            while not holds(await self.describe()):  # noqa: ASYNC110 - a broker's state: nobody tells us of a change
                await asyncio.sleep(0.1)

    def _leave_request(self, instance_id: str | None, member_id: str) -> Any:
        member = LeaveGroupRequest.MemberIdentity(member_id=member_id, group_instance_id=instance_id)
        return LeaveGroupRequest(group_id=self.group_id, members=[member], min_version=3)

    async def _send(self, process: Process, kind: str, request: Any) -> None:
        """Begin an exchange; the first JoinGroup of a group has arrived before another one is sent."""
        task = asyncio.create_task(self._exchange(process, kind, request))
        self._open[task] = kind
        if kind == "join":
            await self._until(lambda group: task.done() or group.state == GroupState.PREPARING_REBALANCE.value)

    async def _exchange(self, process: Process, kind: str, request: Any) -> None:
        response = await self._ask(process, request)
        code = response.error_code
        if kind == "leave" and code == 0:
            code = response.members[0].error_code
        if kind != "join":
            member_id = process.member_id if kind == "consumer-heartbeat" else ""
            self._seen.append(Seen(process, kind, CODES[code], member_id=member_id))
            return
        leads = code == 0 and response.leader == response.member_id
        if response.members:
            self._members = tuple(m.member_id for m in response.members)
        protocol = response.protocol_name if code == 0 else None
        given = response.member_id if code in (0, 79) else ""
        self._seen.append(Seen(process, kind, CODES[code], response.generation_id, protocol, given, leads))

    async def _ask(self, process: Process | None, request: Any) -> Any:
        """Each process has its own connection: a parked request stops all that comes after it on the same one."""
        wire = self._wires.get(process)
        if wire is None:
            wire = KafkaWire({"bootstrap_servers": self.bootstrap_servers}, timeout_s=PATIENCE_S)
            self._wires[process] = wire
        node = (await Coordinators(wire).find((self.group_id,)))[self.group_id]
        assert isinstance(node, int), node
        return await wire.send(request, node)
