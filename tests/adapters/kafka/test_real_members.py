"""Static members that die: how they are taken out, how their ids are given free, and who is not touched by either."""

from __future__ import annotations

import time
from collections.abc import Mapping

import pytest

from slackwater.adapters.kafka.group_admin import KafkaGroupAdmin
from slackwater.core.world.observation import GroupObservation, GroupState, MemberRef
from tests.adapters.kafka.conftest import PARTITIONS
from tests.adapters.kafka.running_consumers import settled
from tests.adapters.kafka.static_group import CLASSIC, CONSUMER, SESSION_S, StaticGroup, refs, told

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(150)]

BOTH = pytest.mark.parametrize("protocol", [CLASSIC, CONSUMER], ids=["classic", "consumer"])
REFUSED = "instance ID is still used by another member"


@BOTH
async def test_a_dead_member_is_removed_and_the_others_own_its_partitions(
    protocol: Mapping[str, str | int], scene: StaticGroup, admin: KafkaGroupAdmin
) -> None:
    """F10, F11: long before its session ends; ids that are not in the group are not removed, nor anybody else's."""
    seen = await scene.started(3, protocol)
    dead = seen[scene.instance_id(2)]
    scene.members[2].kill()
    foreign = [MemberRef("payments-99", "payments-99-uuid"), MemberRef(scene.instance_id(0), dead.member_id)]

    assert await admin.remove_members(scene.group_id, foreign) == ()
    assert await admin.remove_members(scene.group_id, [dead, *foreign]) == (dead.instance_id,)
    view = await scene.until(settled(2, PARTITIONS), within_s=SESSION_S / 2)
    assert refs(view) == {name: ref for name, ref in seen.items() if ref != dead}
    assert await admin.remove_members(scene.group_id, [dead]) == ()


@BOTH
async def test_a_successor_is_touched_by_nothing_that_was_meant_for_its_predecessor(
    protocol: Mapping[str, str | int], scene: StaticGroup, admin: KafkaGroupAdmin
) -> None:
    seen = await scene.started(2, protocol)
    dead = seen[scene.instance_id(1)]
    scene.members[1].kill()
    await admin.release_members(scene.group_id, [dead])
    successor = scene.start(1, protocol)
    await told(lambda: bool(successor.owned))
    at = time.time()

    assert await admin.remove_members(scene.group_id, [dead]) == ()
    assert await admin.release_members(scene.group_id, [dead]) == ()
    view = await scene.until(settled(2, PARTITIONS))
    assert refs(view).keys() == seen.keys()
    assert scene.untouched_since(at)
    assert successor.errors() == []


async def test_the_successor_of_a_released_member_has_its_partitions_at_once_and_nothing_moves(
    scene: StaticGroup, admin: KafkaGroupAdmin
) -> None:
    """F13: the whole session of the dead member is still to come."""
    seen = await scene.started(3, CONSUMER)
    dead, owned = seen[scene.instance_id(2)], scene.members[2].owned
    epoch = (await scene.until(settled(3, PARTITIONS))).epoch
    killed_at = scene.members[2].kill()

    assert await admin.release_members(scene.group_id, [dead]) == (dead.instance_id,)
    assert await admin.release_members(scene.group_id, [dead]) == (dead.instance_id,)
    released = await scene.until(lambda view: isinstance(view, GroupObservation))
    assert (released.state, len(released.members)) == (GroupState.RECONCILING, 3)
    assert {m.instance_id for m in released.members if m.epoch == -2} == {dead.instance_id}

    successor = scene.start(2, CONSUMER)
    await told(lambda: successor.owned == owned)
    assert scene.untouched_since(killed_at, successor)
    assert (await scene.until(settled(3, PARTITIONS))).epoch == epoch


async def test_without_a_release_the_successor_gets_a_fatal_error_and_lives_on(
    scene: StaticGroup, admin: KafkaGroupAdmin
) -> None:
    """F13: a release that comes after it does not help that process any more, only the next one."""
    seen = await scene.started(2, CONSUMER)
    dead = seen[scene.instance_id(1)]
    scene.members[1].kill()
    refused = scene.start(1, CONSUMER)
    await told(lambda: any(REFUSED in error for error in refused.errors()))
    await admin.release_members(scene.group_id, [dead])
    assert (refused.runs, refused.owned) == (True, set())

    successor = scene.start(1, CONSUMER)
    await told(lambda: bool(successor.owned))
    assert (refused.runs, refused.owned) == (True, set())


async def test_a_member_of_the_new_protocol_that_is_stopped_releases_itself(scene: StaticGroup) -> None:
    """F12: with epoch -2; the same id comes back without movement."""
    await scene.started(2, CONSUMER)
    at, owned = time.time(), scene.members[1].owned
    scene.members[1].stop()
    view = await scene.until(lambda view: isinstance(view, GroupObservation))
    assert view.state is GroupState.RECONCILING
    assert {m.instance_id: m.epoch == -2 for m in view.members} == {
        scene.instance_id(0): False,
        scene.instance_id(1): True,
    }
    back = scene.start(1, CONSUMER)
    await told(lambda: back.owned == owned)
    assert scene.untouched_since(at, back)


async def test_a_member_that_is_released_while_it_lives_comes_back_by_itself(
    scene: StaticGroup, admin: KafkaGroupAdmin
) -> None:
    """Should the operator ever be wrong: the member is fenced at its next heartbeat and joins again as itself."""
    seen = await scene.started(2, CONSUMER)
    alive, owned = seen[scene.instance_id(1)], scene.members[1].owned
    at = time.time()

    assert await admin.release_members(scene.group_id, [alive]) == (alive.instance_id,)
    await told(lambda: any(t.what == "assigned" for t in scene.members[1].moves_since(at)))
    assert scene.members[1].owned == owned
    view = await scene.until(settled(2, PARTITIONS))
    assert refs(view) == seen
    assert scene.untouched_since(at, scene.members[1])


async def test_in_a_classic_group_the_newcomer_wins_and_nothing_is_released(
    scene: StaticGroup, admin: KafkaGroupAdmin
) -> None:
    """F13: the opposite of the new protocol; the old process, if it lives, is fenced."""
    seen = await scene.started(2, CLASSIC)
    old = scene.members[1]
    assert await admin.release_members(scene.group_id, list(seen.values())) == ()

    newcomer = scene.start(1, CLASSIC)
    await told(lambda: newcomer.owned == old.owned)
    await told(lambda: any("fenced" in error.lower() for error in old.errors()))
    assert newcomer.errors() == []
