"""A pass over a group that a fleet selects: it waits without a write, and its turn is written before the act."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from slackwater.adapters.cluster.errors import ClusterUnreachable
from slackwater.adapters.cluster.paths import CONSUMER_FLEET, CONSUMER_GROUP
from slackwater.core.fleet.claim import Standing
from slackwater.core.fleet.sight import Sight
from slackwater.core.pace import AT_ONCE
from slackwater.core.world.observation import GroupObservation
from slackwater.shell.fleets import Fleets
from slackwater.shell.store import Key
from slackwater.shell.turns import Turns
from tests.shell.fakes import KEY, fleet_object, group_object, nobody
from tests.shell.reconciler_stage import Stage

ONE_STARTS = [{"name": "starts", "max": 1, "reasons": ["Start"]}]
OTHER = "other"


def stage(*, is_taken: bool) -> Stage:
    """A new group, and one that has the only turn to start."""
    found = Stage()
    if is_taken:
        turn = {"reason": "Start", "askedAt": found.now() - 60.0, "givenAt": found.now() - 60.0}
        other = group_object(name=OTHER) | {"status": {"rollout": {"phase": "Progressing", "turn": turn}}}
        found.see(found.api.add(CONSUMER_GROUP, other))
    fleet = fleet_object(budgets=ONE_STARTS, halt={"disturbed": "100%"})
    found.store.put(CONSUMER_FLEET, found.api.add(CONSUMER_FLEET, fleet))
    found.woken.clear()
    return found


def others_end(found: Stage) -> None:
    known = found.api.objects["ConsumerGroup", KEY.namespace, OTHER]
    turn = {**known["status"]["rollout"]["turn"], "doneAt": found.now()}
    status = {"rollout": {"phase": "Complete", "turn": turn}}
    found.see(found.api._store(CONSUMER_GROUP, {**known, "status": status}))


def turn(found: Stage) -> dict[str, Any]:
    written: dict[str, Any] = found.api.objects["ConsumerGroup", *KEY]["status"]["rollout"]["turn"]
    return written


async def until_it_waits(found: Stage) -> None:
    for _ in range(5):
        if await found.run() != AT_ONCE:
            return
    raise AssertionError(found.api.asked)


async def test_it_waits_without_an_act_and_writes_that_once() -> None:
    found = stage(is_taken=True)
    await until_it_waits(found)
    assert found.condition("RolloutGated")["reason"] == "AwaitingTurn"
    assert "apply StatefulSet" not in found.api.asked
    assert "givenAt" not in turn(found)
    found.ask_nothing_more()
    for _ in range(3):
        await found.run()
    assert found.api.writes() == []


async def test_when_it_is_called_its_turn_is_written_before_the_act() -> None:
    found = stage(is_taken=True)
    await until_it_waits(found)
    found.ask_nothing_more()
    others_end(found)
    assert KEY in found.woken
    await until_it_waits(found)
    writes = found.api.writes()
    assert turn(found)["givenAt"]
    assert writes.index("status ConsumerGroup") < writes.index("apply StatefulSet")
    assert found.fleets.ledger.allocator.may_act(str(KEY))


async def test_a_call_that_is_gone_when_the_turn_is_to_be_written_gives_none() -> None:
    """While the world was read again, for instance."""
    found = stage(is_taken=True)
    await until_it_waits(found)
    others_end(found)
    gathering = found.reconciler._gathering
    read_again = gathering.read_again

    async def slowly(key: Key, turns: Turns) -> Any:
        world = await read_again(key, turns)
        found.later_s += 130.0
        found.fleets.tick()
        return world

    gathering.read_again = slowly  # type: ignore[method-assign]
    assert await found.run() == AT_ONCE
    assert "givenAt" not in turn(found)
    assert "apply StatefulSet" not in found.api.asked


@pytest.mark.parametrize("was_known", [False, True])
async def test_a_group_that_turns_out_to_be_at_a_full_coordinator_begins_no_more(was_known: bool) -> None:
    """It was called where it was, or before anybody knew where, as by a new leader. The pass sees it."""
    found = Stage()
    asks = {"reason": "Start", "askedAt": found.now() - 60.0}
    held = {**asks, "givenAt": found.now() - 60.0, "cluster": "k1", "coordinator": 1}
    other = group_object(name=OTHER) | {"status": {"rollout": {"phase": "Progressing", "turn": held}}}
    found.see(found.api.add(CONSUMER_GROUP, other))
    known = found.api.objects["ConsumerGroup", *KEY]
    status = {"rollout": {"phase": "Progressing", "turn": asks}}
    found.see(found.api._store(CONSUMER_GROUP, {**known, "status": status}))
    budgets = [{"name": "coordinators", "per": "Coordinator", "max": 1, "reasons": ["Start"]}]
    fleet = fleet_object(budgets=budgets, halt={"disturbed": "100%"})
    found.store.put(CONSUMER_FLEET, found.api.add(CONSUMER_FLEET, fleet))
    found.connections.cluster_ids[KEY] = "k1"
    if was_known:
        found.fleets.look(KEY, Sight("k1", 2, disturbed=False))
    assert found.fleets.ledger.allocator.is_called(str(KEY))
    looked_at = nobody()
    assert isinstance(looked_at, GroupObservation)
    found.connections.seen = replace(looked_at, coordinator=1)
    await until_it_waits(found)
    assert "givenAt" not in turn(found)
    assert "apply StatefulSet" not in found.api.asked
    others_end(found)
    await until_it_waits(found)
    assert turn(found)["coordinator"] == 1


async def test_a_turn_whose_write_got_no_answer_is_good_once_it_is_seen() -> None:
    found = stage(is_taken=True)
    await until_it_waits(found)
    others_end(found)
    found.api.lost.add("status ConsumerGroup")
    with pytest.raises(ClusterUnreachable):
        await until_it_waits(found)
    assert "apply StatefulSet" not in found.api.asked
    found.see(found.api.objects["ConsumerGroup", *KEY])
    await until_it_waits(found)
    assert "apply StatefulSet" in found.api.asked


async def test_without_a_fleet_that_selects_it_no_turn_is_asked_for() -> None:
    found = Stage()
    await found.run_to_rest()
    assert "turn" not in found.api.objects["ConsumerGroup", *KEY]["status"]["rollout"]
    assert isinstance(found.fleets, Fleets)
    assert found.woken == []


async def test_a_spec_that_cannot_be_read_gives_its_turn_back_and_asks_for_none() -> None:
    """No plan is made that would end it."""
    found = stage(is_taken=True)
    await until_it_waits(found)
    others_end(found)
    await until_it_waits(found)
    given = found.api.objects["ConsumerGroup", *KEY]
    assert given["status"]["rollout"]["turn"]["givenAt"]
    newer = {**given["metadata"], "generation": given["metadata"]["generation"] + 1}
    found.see(found.api._store(CONSUMER_GROUP, {**given, "metadata": newer, "spec": {**given["spec"], "topics": []}}))
    again_s = await found.run()
    assert again_s is not None
    assert 0 < again_s <= 3600
    assert turn(found)["givenAt"]
    found.later_s += again_s + 1
    assert await found.run() is None
    assert "givenAt" not in turn(found)
    assert found.condition("Degraded")["reason"] == "InvalidSpec"
    facts = found.fleets.ledger.facts(str(KEY))
    assert facts is not None
    assert not facts.standing.counts
    assert facts.standing is not Standing.ASKS
