"""What the admin makes of a coordinator's answers."""

from __future__ import annotations

from typing import Any

import pytest
from kafka.protocol.admin import DeleteGroupsResponse
from kafka.protocol.consumer import LeaveGroupResponse
from kafka.protocol.metadata import FindCoordinatorResponse

from slackwater.adapters.kafka.errors import Code, KafkaRefused, KafkaUnreachable
from slackwater.adapters.kafka.group_admin import KafkaGroupAdmin


class ScriptedWire:
    """Answers each kind of request with the next of its responses."""

    def __init__(self, *answers: Any) -> None:
        self.answers = list(answers)
        self.asked_nodes: list[int | None] = []
        self.coordinator = 0

    async def send(self, request: Any, node_id: int | None = None) -> Any:
        if type(request).__name__ == "FindCoordinatorRequest":
            self.coordinator += 1
            rows = [
                FindCoordinatorResponse.Coordinator(key=k, node_id=self.coordinator) for k in request.coordinator_keys
            ]
            return FindCoordinatorResponse(coordinators=rows)
        self.asked_nodes.append(node_id)
        return self.answers.pop(0)


def admin_of(*answers: Any) -> tuple[KafkaGroupAdmin, ScriptedWire]:
    wire = ScriptedWire(*answers)
    return KafkaGroupAdmin(wire), wire  # type: ignore[arg-type]


def left(*members: tuple[str, int], error_code: int = 0) -> Any:
    row = LeaveGroupResponse.MemberResponse
    rows = [row(member_id="", group_instance_id=instance_id, error_code=code) for instance_id, code in members]
    return LeaveGroupResponse(error_code=error_code, members=rows)


def deleted(code: int) -> Any:
    return DeleteGroupsResponse(results=[DeleteGroupsResponse.DeletableGroupResult(group_id="g", error_code=code)])


async def test_only_members_that_were_there_count_as_removed() -> None:
    admin, _ = admin_of(left(("g-4", 0), ("g-5", Code.UNKNOWN_MEMBER_ID)))

    assert await admin.remove_members("g", ["g-4", "g-5"]) == ("g-4",)


async def test_removing_from_a_group_that_is_not_there_is_fine() -> None:
    admin, _ = admin_of(left(error_code=Code.GROUP_ID_NOT_FOUND))

    assert await admin.remove_members("g", ["g-4"]) == ()


async def test_a_moved_coordinator_is_asked_again_where_it_is() -> None:
    admin, wire = admin_of(left(error_code=Code.NOT_COORDINATOR), left(("g-4", 0)))

    assert await admin.remove_members("g", ["g-4"]) == ("g-4",)
    assert wire.asked_nodes == [1, 2]


async def test_a_loading_coordinator_is_to_be_asked_later() -> None:
    admin, _ = admin_of(left(error_code=Code.COORDINATOR_LOAD_IN_PROGRESS))

    with pytest.raises(KafkaUnreachable, match="still loading"):
        await admin.remove_members("g", ["g-4"])


async def test_a_missing_right_is_said() -> None:
    admin, _ = admin_of(left(("g-4", Code.GROUP_AUTHORIZATION_FAILED)))

    with pytest.raises(KafkaRefused, match="may not change group g") as caught:
        await admin.remove_members("g", ["g-4"])
    assert caught.value.reason == "NotAuthorized"


@pytest.mark.parametrize("code", [Code.NONE, Code.GROUP_ID_NOT_FOUND])
async def test_a_group_is_deleted_or_was_not_there(code: int) -> None:
    admin, _ = admin_of(deleted(code))

    await admin.delete_group("g")


async def test_a_group_with_members_is_not_deleted() -> None:
    admin, _ = admin_of(deleted(Code.NON_EMPTY_GROUP))

    with pytest.raises(KafkaRefused, match="still has members"):
        await admin.delete_group("g")
