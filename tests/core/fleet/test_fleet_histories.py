"""Whatever has happened to a fleet, its groups come to what is wanted by then, nobody keeps a turn, and all rest."""

from __future__ import annotations

from typing import Any, Final

import pytest

from slackwater.core.fleet.claim import Standing
from slackwater.core.world.memory import RolloutPhase
from tests.core.fleet.fleet_histories import Play, all_is_well_again, something_happens
from tests.core.fleet.test_groups_of_a_fleet import BUDGETS, twenty

WAYS: Final[list[dict[str, Any]]] = [
    {},
    {"strategy": "WarmHandover"},
    {"static": False},
    {"kip848": True},
    {"canary": [{"replicas": 1, "hold": "30s"}]},
    {"onFailure": "Rollback"},
]
SEEDS: Final = [seed if seed < 3 else pytest.param(seed, marks=pytest.mark.slow) for seed in range(60)]


@pytest.mark.parametrize("seed", SEEDS)
def test_whatever_has_happened_every_group_comes_to_its_end(seed: int) -> None:
    play = Play(twenty(5, **WAYS[seed % len(WAYS)]), {"budgets": BUDGETS}, seed)
    play.for_seconds(40)
    for _ in range(25):
        something_happens(play)
        play.for_seconds(play.draw.choice([0, 1, 2, 5, 5, 20, 60]))
    all_is_well_again(play)
    play.until_all(RolloutPhase.COMPLETE, image="v3", within_s=3000)
    play.for_seconds(120)  # a KIP-848 member that has stayed for longer than a session is noted, once
    writes = [each.writes for each in play]
    play.for_seconds(60)
    assert writes == [each.writes for each in play], play.told
    assert {play.facts(each).standing for each in play} == {Standing.RESTS}
    assert not any(play.ledger.allocator.is_called(f"slackwater/{each.name}") for each in play)
    kept = [kept.fleet.key for kept in play.ledger.fleets()]
    assert not any(play.ledger.allocator.use(cell)[1] for key in kept for cell in play.ledger.cells_of(key))
