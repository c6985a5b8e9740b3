"""The same faults for what the operator asks of Kafka: its writes are the four requests that `GroupAdmin` sends.

What the API server says by 409, a coordinator says by NOT_COORDINATOR and COORDINATOR_LOAD_IN_PROGRESS, one after the
other; by 429, by THROTTLING_QUOTA_EXCEEDED; by 500, by UNKNOWN_SERVER_ERROR.
"""

from __future__ import annotations

import functools
import json
import os
import signal
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, Final

from kafka.protocol.admin import DeleteGroupsResponse, IncrementalAlterConfigsResponse
from kafka.protocol.consumer import LeaveGroupResponse

from slackwater.adapters.kafka.consumer_group_heartbeat import ConsumerGroupHeartbeatResponse
from slackwater.adapters.kafka.errors import KafkaUnreachable
from slackwater.adapters.kafka.wire import KafkaWire
from tests.e2e.sieve.faults import Fault

_NOT_COORDINATOR, _LOADING, _THROTTLED, _UNKNOWN = 16, 14, 89, -1
_REFUSALS: Final = {
    Fault.CONFLICT: (_NOT_COORDINATOR, _LOADING),
    Fault.THROTTLED: (_THROTTLED,),
    Fault.FAILING: (_UNKNOWN,),
}
"""The error codes that the same request meets, one at each try."""

Send = Callable[..., Awaitable[Any]]


def spoil(faults: Path) -> None:
    """From now on, in this process and those that come of it."""
    KafkaWire.send = spoiled(KafkaWire.send, faults)  # type: ignore[method-assign, assignment]


def met_in(faults: Path) -> Path:
    return faults.with_suffix(".met")


def spoiled(send: Send, faults: Path) -> Send:
    @functools.wraps(send)
    async def sent(wire: KafkaWire, request: Any, node_id: int | None = None) -> Any:
        write = written(request)
        if write is None:
            return await send(wire, request, node_id)
        group_id, says = write
        fault = _fault_of(faults, group_id)
        tries = _note(faults, group_id, says, fault)
        codes = _REFUSALS.get(fault, ())
        if tries < len(codes):
            return refused(request, codes[tries])
        if codes or tries:
            return await send(wire, request, node_id)
        if fault is Fault.KILLED_BEFORE:
            os.kill(os.getpid(), signal.SIGKILL)
        answer = await send(wire, request, node_id)
        if fault is Fault.KILLED_AFTER:
            os.kill(os.getpid(), signal.SIGKILL)
        if fault is Fault.LOST:
            raise KafkaUnreachable(f"Kafka broker {node_id} does not answer")
        return answer

    return sent


def written(request: Any) -> tuple[str, str] | None:
    """The group, and what is to become of it; None where nothing is written."""
    match type(request).__name__:
        case "LeaveGroupRequest":
            return request.group_id, f"remove {sorted(each.group_instance_id for each in request.members)}"
        case "ConsumerGroupHeartbeatRequest":
            return request.group_id, f"release {request.instance_id}"
        case "DeleteGroupsRequest":
            return request.groups_names[0], "delete"
        case "IncrementalAlterConfigsRequest":
            (resource,) = request.resources
            return resource.resource_name, f"alter {sorted((each.name, each.value) for each in resource.configs)}"
    return None


def refused(request: Any, code: int) -> Any:
    """The broker's answer, nothing having been done."""
    match type(request).__name__:
        case "LeaveGroupRequest":
            return LeaveGroupResponse(error_code=code, members=[])
        case "ConsumerGroupHeartbeatRequest":
            return ConsumerGroupHeartbeatResponse(error_code=code)
        case "DeleteGroupsRequest":
            row = DeleteGroupsResponse.DeletableGroupResult(group_id=request.groups_names[0], error_code=code)
            return DeleteGroupsResponse(results=[row])
    result = IncrementalAlterConfigsResponse.AlterConfigsResourceResponse
    return IncrementalAlterConfigsResponse(responses=[result(error_code=code, error_message="refused once")])


def _fault_of(faults: Path, group_id: str) -> Fault:
    return Fault(json.loads(faults.read_text()).get(group_id, Fault.NONE))


def _note(faults: Path, group_id: str, says: str, fault: Fault) -> int:
    """Write it down; returns how often the same was tried before."""
    path = met_in(faults)
    line = json.dumps({"group": group_id, "says": says, "fault": fault})
    before = path.read_text().splitlines() if path.exists() else []
    with path.open("a") as lines:
        lines.write(f"{line}\n")
    return before.count(line)
