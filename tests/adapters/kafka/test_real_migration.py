"""Static members taken from classic to KIP-848 and back, one by one: at no step does a partition move (F6)."""

from __future__ import annotations

import time
from collections.abc import Mapping

import pytest

from slackwater.adapters.kafka.group_admin import KafkaGroupAdmin
from slackwater.core.world.observation import GroupObservation, GroupType, KafkaView, MemberRef
from tests.adapters.kafka.conftest import PARTITIONS
from tests.adapters.kafka.running_consumers import settled
from tests.adapters.kafka.static_group import CLASSIC, CONSUMER, StaticGroup, refs, told

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(150)]

MEMBERS = 3
RANGE = {**CLASSIC, "partition.assignment.strategy": "range"}
COOPERATIVE = {**CLASSIC, "partition.assignment.strategy": "cooperative-sticky"}
Protocol = Mapping[str, str | int]


async def replace_one(scene: StaticGroup, ordinal: int, protocol: Protocol, *, kill: bool) -> GroupObservation:
    """End the member of that ordinal and start one of that protocol in its place; the group, when it is whole again."""
    old = next(m for m in scene.members if m.instance_id == scene.instance_id(ordinal) and m.runs)
    before, owned = refs(await scene.until(settled(MEMBERS, PARTITIONS))), old.owned
    at = time.time()
    if kill:
        old.kill()
    else:
        old.stop()
    new = scene.start(ordinal, protocol)
    await told(lambda: new.owned == owned)
    whole = settled(MEMBERS, PARTITIONS)

    def is_replaced(view: KafkaView) -> bool:
        name = scene.instance_id(ordinal)
        return isinstance(view, GroupObservation) and whole(view) and refs(view)[name] != before[name]

    view = await scene.until(is_replaced)
    assert scene.untouched_since(at, new)
    assert new.errors() == []
    return view


@pytest.mark.parametrize("kill", [False, True], ids=["stopped", "killed"])
@pytest.mark.parametrize("classic", [RANGE, COOPERATIVE], ids=["range", "cooperative-sticky"])
async def test_there_and_back_without_a_movement(classic: Protocol, kill: bool, scene: StaticGroup) -> None:
    """F6. Killed members need no release here: only a KIP-848 member refuses a KIP-848 successor (F13)."""
    assignor = str(classic["partition.assignment.strategy"])
    await scene.started_at_once(MEMBERS, classic)
    for ordinal in reversed(range(MEMBERS)):
        view = await replace_one(scene, ordinal, CONSUMER, kill=kill)
        assert (view.type, view.assignor) == (GroupType.CONSUMER, "uniform")
    for ordinal in reversed(range(MEMBERS)):
        view = await replace_one(scene, ordinal, classic, kill=kill)
        expected = (GroupType.CONSUMER, "uniform") if ordinal else (GroupType.CLASSIC, assignor)
        assert (view.type, view.assignor) == expected


async def test_a_dead_classic_member_of_a_mixed_group_is_released_like_any_other(
    scene: StaticGroup, admin: KafkaGroupAdmin
) -> None:
    """The operator need not know of which kind a member of such a group was."""
    await scene.started(MEMBERS, RANGE)
    view = await replace_one(scene, 2, CONSUMER, kill=False)
    dead, owned = refs(view)[scene.instance_id(0)], scene.members[0].owned
    killed_at = scene.members[0].kill()

    assert await admin.release_members(scene.group_id, [dead]) == (dead.instance_id,)
    successor = scene.start(0, RANGE)
    await told(lambda: successor.owned == owned)
    await scene.until(settled(MEMBERS, PARTITIONS))
    assert scene.untouched_since(killed_at, successor)


async def test_removing_the_last_new_member_takes_the_group_back_to_classic(
    scene: StaticGroup, admin: KafkaGroupAdmin
) -> None:
    """F6: and that, unlike a replacement, is a rebalance."""
    await scene.started(MEMBERS, RANGE)
    view = await replace_one(scene, 2, CONSUMER, kill=False)
    scene.members[-1].kill()

    await admin.remove_members(scene.group_id, [refs(view)[scene.instance_id(2)]])
    view = await scene.until(settled(MEMBERS - 1, PARTITIONS))
    assert (view.type, view.assignor) == (GroupType.CLASSIC, "range")


@pytest.mark.parametrize("leaves", [True, False], ids=["nobody owns", "one has nothing"])
async def test_what_a_group_that_is_converted_in_a_rebalance_did_not_assign_it_does_when_one_is_taken_out(
    leaves: bool, scene: StaticGroup, admin: KafkaGroupAdmin
) -> None:
    """Static members that return raise no epoch, so what the classic generation had given is all that there is: to one
    that came in its rebalance nothing, whether another one had left or not."""
    first = await scene.started(2, RANGE)
    frozen, other = scene.members
    kept = frozen.owned if leaves else frozen.owned | other.owned
    frozen.freeze()
    if leaves:
        other.kill()
        await admin.remove_members(scene.group_id, [first[scene.instance_id(1)]])
    comes, count = (1, 2) if leaves else (2, 3)
    waits = scene.start(comes, RANGE)  # for the one that does not hear of the rebalance
    await scene.until(lambda view: isinstance(view, GroupObservation) and len(view.members) == count)
    frozen.kill()
    scene.start(0, CONSUMER)
    for each in (waits,) if leaves else (waits, other):
        each.stop()
        scene.start(int((each.instance_id or "").rpartition("-")[2]), CONSUMER)

    def stands(view: KafkaView) -> bool:
        return (
            isinstance(view, GroupObservation)
            and view.calm
            and len(view.members) == count
            and not any(m.member_id.startswith(scene.group_id) for m in view.members)
            and {p.partition for m in view.members for p in m.assignment} == kept
        )

    view = await scene.until(stands)
    (idle,) = (member for member in view.members if not member.assignment)
    assert idle.instance_id is not None
    await admin.remove_members(scene.group_id, [MemberRef(idle.instance_id, idle.member_id)])
    whole = await scene.until(settled(count, PARTITIONS))
    assert all(member.assignment for member in whole.members)
    assert (whole.epoch or 0) > (view.epoch or 0)
    assert idle.member_id in {each.member_id for each in whole.members}, "who joins again keeps the member id"
    assert all(not member.errors() for member in scene.members if member.runs)
