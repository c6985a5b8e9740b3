"""What stands between the operator and the brokers, with brokers that are made up."""

from __future__ import annotations

import functools
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, Final

import pytest
from kafka.protocol.admin import DeleteGroupsResponse, IncrementalAlterConfigsResponse
from kafka.protocol.consumer import LeaveGroupResponse

from slackwater.adapters.kafka.consumer_group_heartbeat import ConsumerGroupHeartbeatResponse
from slackwater.adapters.kafka.errors import KafkaUnreachable
from slackwater.adapters.kafka.group_admin import KafkaGroupAdmin
from slackwater.core.world.observation import MemberRef
from tests.adapters.kafka.test_group_admin import ScriptedWire
from tests.e2e.sieve.faults import ANSWERED, Fault
from tests.e2e.sieve.kafka_faults import met_in, spoiled

GROUP: Final = "orders"
MEMBER: Final = MemberRef("orders-0", "orders-0-uuid")
WRITES: Final[dict[str, tuple[Callable[[KafkaGroupAdmin], Awaitable[object]], Any]]] = {
    "remove": (lambda admin: admin.remove_members(GROUP, [MEMBER]), LeaveGroupResponse(error_code=0, members=[])),
    "release": (lambda admin: admin.release_members(GROUP, [MEMBER]), ConsumerGroupHeartbeatResponse(error_code=0)),
    "delete": (
        lambda admin: admin.delete_group(GROUP),
        DeleteGroupsResponse(results=[DeleteGroupsResponse.DeletableGroupResult(group_id=GROUP, error_code=0)]),
    ),
    "alter": (
        lambda admin: admin.alter_group_settings(GROUP, {"consumer.session.timeout.ms": "45000"}),
        IncrementalAlterConfigsResponse(responses=[]),
    ),
}


def admin_that_meets(fault: Fault, folder: Path, *answers: Any) -> tuple[KafkaGroupAdmin, ScriptedWire]:
    faults = folder / "faults.json"
    faults.write_text(json.dumps({GROUP: fault}))
    wire = ScriptedWire(*answers)
    wire.send = functools.partial(spoiled(ScriptedWire.send, faults), wire)  # type: ignore[method-assign, assignment]
    return KafkaGroupAdmin(wire), wire  # type: ignore[arg-type]


async def failures(asked_for: Callable[[KafkaGroupAdmin], Awaitable[object]], admin: KafkaGroupAdmin) -> int:
    """How often it fails until it goes through: a coordinator that has moved is asked once more at once."""
    for count in range(5):
        try:
            await asked_for(admin)
        except KafkaUnreachable:
            continue
        return count
    raise AssertionError("it never goes through")


@pytest.mark.parametrize("write", WRITES)
@pytest.mark.parametrize("fault", ANSWERED)
async def test_each_write_meets_the_fault_once_and_then_goes_through(fault: Fault, write: str, tmp_path: Path) -> None:
    asked_for, answer = WRITES[write]
    admin, wire = admin_that_meets(fault, tmp_path, answer, answer)
    assert await failures(asked_for, admin) in (1, 2)
    assert len(wire.asked) == 1 + (fault is Fault.LOST)
    met = [json.loads(line) for line in met_in(tmp_path / "faults.json").read_text().splitlines()]
    assert {(each["group"], each["says"].split()[0], each["fault"]) for each in met} == {(GROUP, write, fault)}


@pytest.mark.parametrize("write", WRITES)
async def test_other_groups_meet_nothing(write: str, tmp_path: Path) -> None:
    asked_for, answer = WRITES[write]
    admin, wire = admin_that_meets(Fault.NONE, tmp_path, answer)
    await asked_for(admin)
    assert len(wire.asked) == 1
