"""Writes down again what a real broker answers: `python -m tests.core.coordinator.record BOOTSTRAP [SCENARIO...]`."""

from __future__ import annotations

import asyncio
import json
import sys
import uuid
from pathlib import Path
from typing import Any, Final

from tests.core.coordinator.play import Player
from tests.core.coordinator.real import RealCoordinator
from tests.core.coordinator.scenarios import SCENARIOS

RECORDED: Final = Path(__file__).parent / "recorded"


async def play_for_real(bootstrap_servers: str, name: str) -> list[dict[str, Any]]:
    """Play one scenario to the broker, in a group of its own; what was seen, step by step."""
    coordinator = RealCoordinator(bootstrap_servers, f"recorded-{uuid.uuid4().hex[:8]}")
    player = Player(coordinator)
    try:
        await SCENARIOS[name](player)
    finally:
        await coordinator.close()
    return player.record


def recorded(name: str) -> list[dict[str, Any]]:
    record: list[dict[str, Any]] = json.loads((RECORDED / f"{name}.json").read_text())
    return record


async def main(bootstrap_servers: str, *names: str) -> None:
    for name in names or SCENARIOS:
        record = await play_for_real(bootstrap_servers, name)
        (RECORDED / f"{name}.json").write_text(json.dumps(record, indent=1) + "\n")
        print(f"{name}: {len(record)} steps", file=sys.stderr)  # noqa: T201 - a command that people run


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
