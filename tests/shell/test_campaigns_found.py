"""What fresh eyes played of campaigns, red before."""

from __future__ import annotations

from typing import Any, Final

import pytest

from slackwater.api.annotations import CAMPAIGN
from slackwater.shell.campaign_keeping import STATUS_AGAIN_S
from tests.core.simulation.test_volumes import MORE, claim
from tests.shell.simulated_fleet import OfTheFleet, SimulatedFleet

ONE_AT_A_TIME: Final = [{"name": "all", "max": 1}]
LACKS: Final = "its pods lack volume cache, so nothing of it is rolled out: its own status says what to do"


async def whose_volumes_wait() -> SimulatedFleet:
    """Of two groups the first one asks for a volume more than its pods have."""
    spec = {"replicas": 2, "spec": {"volumeClaimTemplates": [claim()]}}
    groups = [OfTheFleet(name, {}, spec, 1) for name in ("g0", "g1")]
    fleet = await SimulatedFleet(*groups, budgets=ONE_AT_A_TIME).running()
    fleet["g0"].outside.change_spec(volumeClaimTemplates=MORE)
    await fleet.for_seconds(60)
    return fleet


@pytest.mark.parametrize("action", ["restart", "applyDefaults", "changes"])
async def test_it_ends_beside_a_group_whose_volumes_wait_and_names_it(action: str) -> None:
    fleet = await whose_volumes_wait()
    fleet.says_defaults(protocol={"allowDowntime": True})
    await fleet.for_seconds(5)
    fleet.campaign(action={action: {}}, waves=[])
    if action == "changes":
        for group in fleet:
            group.annotations = {CAMPAIGN: "restart"}
            group.outside.apply("v2")
    await fleet.until_phase("Succeeded", 600)
    status = fleet.campaign_status()
    assert status["skippedGroups"] == [{"group": "default/g0", "reason": "VolumeClaimsFixed", "message": LACKS}]
    assert (fleet["g0"].record, fleet.restarts()["g0"]) == ("", 0)
    assert "done" in fleet["g1"].record


async def test_who_has_its_volumes_comes_with_its_wave_all_the_same() -> None:
    fleet = await whose_volumes_wait()
    fleet.campaign(action={"restart": {}}, waves=[])
    await fleet.until("skipped", lambda: fleet.campaign_status().get("skipped") == {"VolumeClaimsFixed": 1}, 60)
    fleet["g0"].outside.change_spec(volumeClaimTemplates=[claim()])
    await fleet.until_phase("Succeeded", 600)
    assert fleet.restarts() == {"g0": 2, "g1": 2}


@pytest.mark.parametrize("back_s", [3600.0, STATUS_AGAIN_S / 2])
async def test_its_counts_go_on_where_the_clock_was_set_back(back_s: float) -> None:
    groups = [OfTheFleet(f"g{number}", {}, {"replicas": 2}, 1) for number in range(4)]
    fleet = await SimulatedFleet(*groups, budgets=ONE_AT_A_TIME).running()
    fleet["g3"].outside.foreign_member(there=True)
    fleet.campaign(action={"restart": {}}, waves=[])
    await fleet.until("begun", lambda: sum(fleet.restarts().values()) >= 1, 300)
    set_back(fleet, back_s)
    await fleet.until("counted", lambda: counts(fleet).get("done") == 3, 1000)
    assert fleet.campaign_status()["phase"] == "Running"


def set_back(fleet: SimulatedFleet, by_s: float) -> None:
    """Only for what is written of campaigns."""
    keeping = fleet.campaign_keeping
    before = keeping._now
    keeping._now = lambda: before() - by_s


def counts(fleet: SimulatedFleet) -> dict[str, Any]:
    found: dict[str, Any] = fleet.campaign_status()["waves"][0]
    return found
