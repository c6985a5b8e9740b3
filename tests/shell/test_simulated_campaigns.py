"""Campaigns of each kind go through groups whose pods really change, wave by wave, to their end."""

from __future__ import annotations

from typing import Any, Final

import pytest

from tests.shell.simulated_fleet import Kill, OfTheFleet, SimulatedFleet

BUDGETS: Final = [{"name": "all", "max": 2}]
CANARY: Final = {"tier": "canary"}
WAVES: Final[list[dict[str, Any]]] = [
    {"name": "canary", "selector": {"matchLabels": CANARY}, "max": 1, "soak": "3m"},
    {"name": "some", "size": 2, "soak": "1m"},
    {"name": "rest"},
]
SIX: Final = tuple(f"g{number}" for number in range(6))


def six(**options: Any) -> tuple[OfTheFleet, ...]:
    """One of them is the canary."""
    options = {"replicas": 2, **options}
    return tuple(OfTheFleet(name, CANARY if name == "g0" else {}, options, n % 3 + 1) for n, name in enumerate(SIX))


def by_wave(fleet: SimulatedFleet, *waves: str) -> list[tuple[str, ...]]:
    """Who was in which, by what groups remember."""
    return [tuple(each.name for each in fleet if each.record.partition(" done ")[0] == wave) for wave in waves]


async def test_it_restarts_every_pod_once_wave_by_wave_with_a_soak_between() -> None:
    fleet = await SimulatedFleet(*six(), budgets=BUDGETS).running()
    fleet.campaign(waves=WAVES)
    await fleet.until_phase("Succeeded")
    assert fleet.restarts() == dict.fromkeys(SIX, 2)
    waves = by_wave(fleet, "canary", "some", "rest")
    assert [len(each) for each in waves] == [1, 2, 3]
    fleet.one_after_the_other(*waves[:2], soak_s=180)
    fleet.one_after_the_other(*waves[1:], soak_s=60)
    await fleet.for_seconds(200)
    assert fleet.restarts() == dict.fromkeys(SIX, 2)
