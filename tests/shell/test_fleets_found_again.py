"""What fresh eyes played of turns on 2026-11-30, the second time: who has begun, and how long that took. Red before."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from slackwater.core.decision.acts import Purpose, WriteWorkload
from slackwater.core.world.memory import RolloutPhase
from tests.shell.simulated_fleet import OfTheFleet, SimulatedFleet, SimulatedGroup

FREEZE = {"name": "weekend", "from": "1970-01-12T13:53", "to": "1970-01-12T15:20"}
WINDOW = {"name": "often", "schedule": "50 13 * * *", "duration": "4m"}


async def small(**fleet: Any) -> SimulatedFleet:
    return await SimulatedFleet(OfTheFleet("g0", {}, {"replicas": 4}, 1), timeZone="UTC", **fleet).running()


def at(fleet: SimulatedFleet) -> tuple[int, int]:
    now = datetime.fromtimestamp(fleet.now, UTC)
    return now.hour, now.minute


def gave_back(group: SimulatedGroup) -> bool:
    return group.memory.turn is not None and group.memory.turn.yielded >= 1


def refuse(group: SimulatedGroup) -> None:
    """A policy refuses each write of its StatefulSet but the template's; the queue comes again every 15 s."""
    acts, one_pass, refused = group._acts, group.one_pass, [False]

    def no(world: Any, decided: Any) -> None:
        refused[0] = isinstance(decided.act, WriteWorkload) and decided.act.purpose is not Purpose.TAKE_TEMPLATE
        if not refused[0]:
            acts(world, decided)

    async def backs_off() -> None:
        refused[0] = False
        await one_pass()
        if refused[0]:
            group.moves, group.again_at = False, group.outside.now + 15.0

    group._acts, group.one_pass = no, backs_off  # type: ignore[method-assign]


def let_through(group: SimulatedGroup) -> None:
    del group._acts, group.one_pass
    group.again_at = 0.0


@pytest.mark.parametrize("fleet", [{"freezes": [FREEZE]}, {"windows": [WINDOW]}], ids=["freeze", "window"])
async def test_who_was_refused_all_the_time_of_its_turn_has_not_begun(fleet: dict[str, Any]) -> None:
    """No pod moved: a freeze, and a window that is closed, hold it as anybody."""
    it = await small(**fleet)
    group = it["g0"]
    refuse(group)
    group.outside.apply("v2")
    await it.until("gave back", lambda: gave_back(group), 600)
    assert group.invariants.restarts == 0
    await it.until("nobody may begin", lambda: at(it) >= (13, 56), 900)
    let_through(group)
    await it.for_seconds(900)
    assert group.images == {"v1"}


async def half_of_it_and_no_further(**fleet: Any) -> SimulatedFleet:
    it = await small(**fleet)
    group = it["g0"]
    group.outside.apply("v2")
    await it.until("half of it", lambda: group.invariants.restarts == 2, 100)
    group.outside.foreign_member(there=True)
    await it.until("gave back", lambda: gave_back(group), 400)
    return it


async def test_another_version_of_who_gave_way_begins_in_no_freeze() -> None:
    it = await half_of_it_and_no_further(freezes=[FREEZE])
    group = it["g0"]
    await it.until("frozen", lambda: at(it) >= (13, 56), 900)
    group.outside.apply("v3")
    await it.for_seconds(5)
    group.outside.foreign_member(there=False)
    await it.for_seconds(600)
    assert "v3" not in group.images


async def test_what_another_version_of_who_gave_way_waited_is_none_that_it_took() -> None:
    it = await half_of_it_and_no_further()
    group = it["g0"]
    it.edit_fleet(pause="x")
    await it.for_seconds(5)
    group.outside.foreign_member(there=False)
    await it.for_seconds(60)
    group.outside.apply("v3")
    await it.for_seconds(1800)
    del it._spec["pause"]
    it.edit_fleet()
    await it.until("complete", lambda: group.memory.phase is RolloutPhase.COMPLETE, 900)
    assert group.images == {"v3"}
    assert group.memory.took is not None
    assert group.memory.took.p90 < 600


async def test_who_only_finishes_was_not_let_through(capsys: pytest.CaptureFixture[str]) -> None:
    freeze = {"name": "weekend", "from": "1970-01-12T13:49", "to": "1970-01-12T13:58"}
    it = await small(freezes=[freeze])
    group = it["g0"]
    group.outside.apply("v2")
    await it.until("half of it", lambda: group.invariants.restarts == 2, 100)
    group.outside.foreign_member(there=True)
    await it.for_seconds(160)
    group.outside.foreign_member(there=False)
    await it.until("complete", lambda: group.images == {"v2"}, 600)
    await it.for_seconds(20)
    assert "LetThrough" not in capsys.readouterr().out


async def test_what_it_waited_for_a_budget_after_its_canary_is_none_that_it_took() -> None:
    """Else it fits into no window any more."""
    canary = [{"replicas": 1, "hold": "180s"}]
    groups = [OfTheFleet("g0", {}, {"replicas": 4, "canary": canary}, 1), OfTheFleet("g1", {}, {"replicas": 45}, 1)]
    windows = [{"name": "often", "schedule": "*/10 * * * *", "duration": "5m"}]
    it = await SimulatedFleet(*groups, timeZone="UTC", budgets=[{"name": "all", "max": 1}], windows=windows).running()
    g0, g1 = it["g0"], it["g1"]
    g0.outside.apply("v2")
    await it.until("begun", lambda: g0.invariants.restarts == 1, 700)
    g1.outside.apply("v2")
    await it.until("complete", lambda: g0.memory.phase is RolloutPhase.COMPLETE and g0.images == {"v2"}, 1700)
    g0.outside.apply("v3")
    await it.until("the next one begins", lambda: "v3" in g0.images, 2500)
