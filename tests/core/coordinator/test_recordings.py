"""The model against the real coordinator: both answer the same to the same requests.

`python -m tests.core.coordinator.record` writes the recordings again; read the difference before you commit it.
"""

from __future__ import annotations

import pytest

from tests.core.coordinator.modelled import ModelledCoordinator
from tests.core.coordinator.play import Player
from tests.core.coordinator.record import RECORDED, play_for_real, recorded
from tests.core.coordinator.scenarios import SCENARIOS


@pytest.mark.parametrize("name", SCENARIOS)
async def test_model_answers_as_the_broker_did(name: str) -> None:
    player = Player(ModelledCoordinator())
    await SCENARIOS[name](player)
    assert player.record == recorded(name)


@pytest.mark.e2e
@pytest.mark.timeout(180)
@pytest.mark.parametrize("name", SCENARIOS)
async def test_broker_answers_as_it_did(name: str, bootstrap_servers: str) -> None:
    assert await play_for_real(bootstrap_servers, name) == recorded(name)


def test_every_recording_is_of_a_scenario() -> None:
    assert sorted(path.stem for path in RECORDED.glob("*.json")) == sorted(SCENARIOS)
