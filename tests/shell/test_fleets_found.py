"""What fresh eyes played of fleets on 2026-11-30, red before."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from slackwater.api.annotations import CAMPAIGN, PAUSE
from slackwater.core.world.memory import RolloutPhase
from tests.core.fleet.test_times import SALE, gates
from tests.shell.simulated_fleet import OfTheFleet, SimulatedFleet, SimulatedGroup

STOPS = {**SALE, "underWay": "Stop"}
A_SLIP = {"name": "slip", "from": "2027-02-28T00:00", "to": "2027-02-30T00:00"}


async def small(**fleet: Any) -> SimulatedFleet:
    return await SimulatedFleet(OfTheFleet("g0", {}, {"replicas": 4}, 1), **fleet).running()


async def test_time_that_people_kept_it_from_going_on_is_none_that_a_rollout_takes() -> None:
    """Else it would fit into no window any more, and never learn better."""
    fleet = await small(timeZone="UTC", windows=[{"name": "often", "schedule": "*/10 * * * *", "duration": "5m"}])
    group = fleet["g0"]
    group.outside.apply("v2")
    await fleet.until("begun", lambda: group.invariants.restarts == 1, 700)
    group.outside.pause()
    await fleet.for_seconds(480)
    group.outside.resume()
    await fleet.until("complete", lambda: group.memory.phase is RolloutPhase.COMPLETE, 900)
    assert group.memory.took is None
    group.outside.apply("v3")
    await fleet.until("the next one is, too", lambda: group.images == {"v3"}, 1300)


@pytest.mark.parametrize("override", [None, {"until": "2026-11-29T12:00", "reason": "x"}], ids=["a slip", "too long"])
def test_what_is_wrong_beside_it_lifts_no_freeze_that_stops(override: Any) -> None:
    freezes = [STOPS, A_SLIP] if override is None else [STOPS]
    said = gates("2026-11-27T12:00", freezes=freezes, override=override)
    assert said.refused is not None
    assert said.stops == {"freezes"}
    after = gates("2026-12-27T12:00", freezes=freezes, override=override)
    assert after.stops == frozenset()


@pytest.mark.parametrize("under_way", ["Finish", "Stop"])
async def test_who_has_begun_and_gave_way_finishes_in_a_freeze_unless_that_stops_all(under_way: str) -> None:
    freeze = {"name": "weekend", "from": "1970-01-12T13:49", "to": "1970-01-12T13:58", "underWay": under_way}
    fleet = await small(timeZone="UTC", freezes=[freeze])
    group = fleet["g0"]
    group.outside.apply("v2")
    await fleet.until("half of it", lambda: group.invariants.restarts == 2, 100)
    group.outside.foreign_member(there=True)
    await fleet.for_seconds(160)
    assert at(fleet) >= (13, 49)
    assert group.memory.turn is not None
    assert group.memory.turn.yielded == 1
    group.outside.foreign_member(there=False)
    await fleet.until("its end", lambda: at(fleet) == (13, 57), 600)
    assert group.images == ({"v2"} if under_way == "Finish" else {"v1", "v2"})
    await fleet.until("complete", lambda: group.images == {"v2"}, 200)


def at(fleet: SimulatedFleet) -> tuple[int, int]:
    now = datetime.fromtimestamp(fleet.now, UTC)
    return now.hour, now.minute


async def test_a_campaign_s_order_is_not_done_while_nothing_can_be_done() -> None:
    """As without its connection, which a tool that deploys takes away and brings again."""
    fleet = await small()
    group = fleet["g0"]
    kafka = group.outside.bootstrap
    group.outside.bootstrap = None  # type: ignore[assignment]
    fleet.campaign(action={"restart": {}}, waves=[])
    await fleet.for_seconds(60)
    assert (group.record, fleet.campaign_status().get("phase")) == ("", "Running")
    group.outside.bootstrap = kafka
    await fleet.until("done", lambda: fleet.campaign_status().get("phase") == "Succeeded", 300)
    assert group.invariants.restarts == 4


class AsTheQueue(SimulatedFleet):
    """Who is woken has its pass at once; campaigns are folded a second after a change."""

    async def _passes_over(self, group: SimulatedGroup) -> None:
        await super()._passes_over(group)
        woken, self.woken[:] = list(self.woken), []
        for name in woken:
            if name in self.groups and name != group.name:
                self.groups[name].again_at = 0.0
                await super()._passes_over(self.groups[name])


async def test_nobody_is_called_between_a_failure_and_its_campaign_s_halt() -> None:
    names = [f"g{number}" for number in range(4)]
    spec = {"replicas": 2, "rejoinTimeout": "20s", "onFailure": "Pause"}
    fleet = await AsTheQueue(
        *(OfTheFleet(name, {}, spec, 1) for name in names), budgets=[{"name": "all", "max": 1}]
    ).running()
    fleet.campaign(action={"changes": {}}, waves=[], maxFailures=0)
    for name in names:
        fleet[name].annotations = {CAMPAIGN: "restart"}
        fleet[name].outside.apply("never-joins")
    await fleet.until("halted", lambda: fleet.campaign_status().get("phase") == "Halted", 400)
    await fleet.for_seconds(100)
    assert sum(fleet.restarts().values()) == 1
    assert PAUSE not in fleet["g0"].annotations
