"""What the admin asks for, and what it makes of the brokers' answers."""

from __future__ import annotations

from typing import Any

import pytest
from kafka.protocol.admin import DeleteGroupsResponse, IncrementalAlterConfigsResponse
from kafka.protocol.consumer import LeaveGroupResponse
from kafka.protocol.metadata import FindCoordinatorResponse

from slackwater.adapters.kafka.consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
)
from slackwater.adapters.kafka.errors import ApiMissing, Code, KafkaRefused, KafkaUnreachable
from slackwater.adapters.kafka.group_admin import KafkaGroupAdmin
from slackwater.core.decision.reasons import Reason
from slackwater.core.world.observation import MemberRef

FOUR, FIVE = MemberRef("g-4", "g-4-uuid"), MemberRef("g-5", "g-5-uuid")
NOT_THERE = pytest.mark.parametrize(
    "code", [Code.UNKNOWN_MEMBER_ID, Code.FENCED_INSTANCE_ID, Code.GROUP_ID_NOT_FOUND], ids=lambda code: code.name
)


class ScriptedWire:
    """Answers each kind of request with the next of its responses."""

    def __init__(self, *answers: Any) -> None:
        self.answers = list(answers)
        self.asked: list[Any] = []
        self.asked_nodes: list[int | None] = []
        self.coordinator = 0

    async def send(self, request: Any, node_id: int | None = None) -> Any:
        if type(request).__name__ == "FindCoordinatorRequest":
            self.coordinator += 1
            rows = [
                FindCoordinatorResponse.Coordinator(key=k, node_id=self.coordinator) for k in request.coordinator_keys
            ]
            return FindCoordinatorResponse(coordinators=rows)
        self.asked.append(request)
        self.asked_nodes.append(node_id)
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer


def admin_of(*answers: Any) -> tuple[KafkaGroupAdmin, ScriptedWire]:
    wire = ScriptedWire(*answers)
    return KafkaGroupAdmin(wire), wire  # type: ignore[arg-type]


def left(*members: tuple[str, int], error_code: int = 0) -> Any:
    row = LeaveGroupResponse.MemberResponse
    rows = [row(member_id="", group_instance_id=instance_id, error_code=code) for instance_id, code in members]
    return LeaveGroupResponse(error_code=error_code, members=rows)


def beaten(error_code: int = 0) -> Any:
    return ConsumerGroupHeartbeatResponse(error_code=error_code, member_epoch=-2)


def altered(error_code: int = 0, message: str = "") -> Any:
    row = IncrementalAlterConfigsResponse.AlterConfigsResourceResponse
    return IncrementalAlterConfigsResponse(responses=[row(error_code=error_code, error_message=message)])


def deleted(code: int) -> Any:
    return DeleteGroupsResponse(results=[DeleteGroupsResponse.DeletableGroupResult(group_id="g", error_code=code)])


async def test_members_are_named_by_both_ids() -> None:
    admin, wire = admin_of(left(("g-4", 0), ("g-5", 0)))

    assert await admin.remove_members("g", [FIVE, FOUR]) == ("g-4", "g-5")
    (request,) = wire.asked
    assert [(row.group_instance_id, row.member_id) for row in request.members] == [FOUR, FIVE]


@NOT_THERE
async def test_only_members_that_were_there_count_as_removed(code: Code) -> None:
    admin, _ = admin_of(left(("g-4", 0), ("g-5", code)))

    assert await admin.remove_members("g", [FOUR, FIVE]) == ("g-4",)


async def test_nobody_to_remove_is_not_asked_for() -> None:
    admin, wire = admin_of()

    assert await admin.remove_members("g", []) == ()
    assert await admin.release_members("g", []) == ()
    await admin.alter_group_settings("g", {})
    assert wire.asked == []


async def test_removing_from_a_group_that_is_not_there_is_fine() -> None:
    admin, _ = admin_of(left(error_code=Code.GROUP_ID_NOT_FOUND))

    assert await admin.remove_members("g", [FOUR]) == ()


async def test_a_moved_coordinator_is_asked_again_where_it_is() -> None:
    admin, wire = admin_of(
        left(error_code=Code.NOT_COORDINATOR), left(("g-4", 0)), beaten(Code.NOT_COORDINATOR), beaten()
    )

    assert await admin.remove_members("g", [FOUR]) == ("g-4",)
    assert await admin.release_members("g", [FOUR]) == ("g-4",)
    assert wire.asked_nodes == [1, 2, 2, 3]


async def test_a_loading_coordinator_is_to_be_asked_later() -> None:
    admin, _ = admin_of(left(error_code=Code.COORDINATOR_LOAD_IN_PROGRESS), beaten(Code.COORDINATOR_LOAD_IN_PROGRESS))

    with pytest.raises(KafkaUnreachable, match="still loading"):
        await admin.remove_members("g", [FOUR])
    with pytest.raises(KafkaUnreachable, match="still loading"):
        await admin.release_members("g", [FOUR])


async def test_a_missing_right_is_said() -> None:
    denied = Code.GROUP_AUTHORIZATION_FAILED
    admin, _ = admin_of(left(("g-4", denied)), beaten(denied), altered(denied))

    for refused in (admin.remove_members("g", [FOUR]), admin.release_members("g", [FOUR])):
        with pytest.raises(KafkaRefused, match="may not change group g: grant it Read on the group") as caught:
            await refused
        assert caught.value.reason == "NotAuthorized"
    with pytest.raises(
        KafkaRefused, match="may not change the settings of group g: grant it AlterConfigs on the group"
    ):
        await admin.alter_group_settings("g", {"consumer.session.timeout.ms": "50000"})


async def test_a_member_is_released_in_its_own_name() -> None:
    """F13: by the heartbeat that it would have sent at SIGTERM."""
    admin, wire = admin_of(beaten(), beaten())

    assert await admin.release_members("g", [FOUR, FIVE]) == ("g-4", "g-5")
    sent = [(type(r), r.group_id, r.instance_id, r.member_id, r.member_epoch) for r in wire.asked]
    assert sent == [(ConsumerGroupHeartbeatRequest, "g", *member, -2) for member in (FOUR, FIVE)]


@NOT_THERE
async def test_only_members_that_were_there_count_as_released(code: Code) -> None:
    admin, _ = admin_of(beaten(code), beaten())

    assert await admin.release_members("g", [FOUR, FIVE]) == ("g-5",)


@pytest.mark.parametrize(
    "answer", [beaten(Code.UNSUPPORTED_VERSION), ApiMissing("too old")], ids=["group.version-0", "before-4.0"]
)
async def test_a_cluster_without_the_new_protocol_has_nobody_to_release(answer: Any) -> None:
    admin, _ = admin_of(answer)

    assert await admin.release_members("g", [FOUR]) == ()


async def test_settings_are_set_and_given_back_in_one_request_to_any_broker() -> None:
    admin, wire = admin_of(altered())

    await admin.alter_group_settings(
        "g", {"consumer.session.timeout.ms": "50000", "consumer.heartbeat.interval.ms": None}
    )

    (request,) = wire.asked
    assert wire.asked_nodes == [None]
    (resource,) = request.resources
    assert (resource.resource_type, resource.resource_name) == (32, "g")
    assert [(c.name, c.config_operation, c.value) for c in resource.configs] == [
        ("consumer.heartbeat.interval.ms", 1, None),
        ("consumer.session.timeout.ms", 0, "50000"),
    ]


async def test_a_refused_setting_is_said_in_the_brokers_words() -> None:
    admin, _ = admin_of(altered(Code.INVALID_CONFIG, "consumer.session.timeout.ms must be greater"))

    with pytest.raises(KafkaRefused, match=r"refuses the settings of group g: consumer\.session") as caught:
        await admin.alter_group_settings("g", {"consumer.session.timeout.ms": "1"})
    assert caught.value.reason == "BrokerCannot"


@pytest.mark.parametrize("code", [Code.NONE, Code.GROUP_ID_NOT_FOUND])
async def test_a_group_is_deleted_or_was_not_there(code: int) -> None:
    admin, _ = admin_of(deleted(code))

    await admin.delete_group("g")


async def test_a_group_with_members_is_not_deleted() -> None:
    admin, _ = admin_of(deleted(Code.NON_EMPTY_GROUP))

    with pytest.raises(KafkaRefused, match="still has members") as caught:
        await admin.delete_group("g")
    assert caught.value.reason is Reason.FOREIGN_MEMBERS


class Refused(Exception):
    """What a guard says."""


@pytest.mark.parametrize(
    "write",
    [
        lambda admin: admin.remove_members("g", [FOUR]),
        lambda admin: admin.release_members("g", [FOUR]),
        lambda admin: admin.alter_group_settings("g", {"consumer.session.timeout.ms": "45000"}),
        lambda admin: admin.delete_group("g"),
    ],
    ids=["remove", "release", "alter", "delete"],
)
async def test_a_write_that_is_refused_beforehand_never_goes_out(write: Any) -> None:
    def refuse() -> None:
        raise Refused

    wire: Any = ScriptedWire()
    with pytest.raises(Refused):
        await write(KafkaGroupAdmin(wire, before_write=refuse))
    assert wire.asked == []
