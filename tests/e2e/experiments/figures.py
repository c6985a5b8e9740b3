"""What an experiment cost in one world, measured as the demo does, and kept for the page."""

from __future__ import annotations

import json
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from sandbox.workload import deliveries, generations
from tests.e2e.experiments.worlds import World
from tests.e2e.stage.waiting import wait_for

FOLDER: Final = Path(__file__).resolve().parents[3] / "build" / "experiments"
RECORDED_AFTER_S: Final = 1.0
"""A delivery or a generation stands in its topic by then."""


@dataclass(frozen=True, slots=True)
class Figures:
    """One row. `seconds`: from the event until all was served again, or until the look ended."""

    rebalances: int
    idle_partition_seconds: float
    worst_gap_seconds: float
    duplicates: int
    missing: int
    seconds: float


def measure(world: World, since: float, until: float) -> Figures:
    """Between two moments (seconds since the epoch), once all that was delivered by then stands in its topic."""
    wait_for("later deliveries", lambda: time.time() > until + RECORDED_AFTER_S, 10.0)
    begin_ms, end_ms = int(since * 1000), int(until * 1000)
    found = deliveries.measure(world.rows(since), world.partitions, begin_ms, end_ms)
    history = world.stage.kafka.generations(world.group_id)
    return Figures(
        rebalances=generations.count_rebalances(history, world.group_id, begin_ms, end_ms),
        idle_partition_seconds=round(found.idle_partition_seconds, 1),
        worst_gap_seconds=round(found.worst_gap_seconds, 1),
        duplicates=found.duplicates,
        missing=found.missing,
        seconds=round(until - since, 1),
    )


def keep(experiment: str, event: str, world: str, figures: Figures, **more: object) -> None:
    """Write a row where `page` finds it; one of the same event and world is replaced."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    file = FOLDER / f"{experiment}.json"
    rows = json.loads(file.read_text()) if file.exists() else []
    row = {"event": event, "world": world, **asdict(figures), **more}
    kept = [each for each in rows if (each["event"], each["world"]) != (event, world)]
    file.write_text(json.dumps([*kept, row], indent=1) + "\n")
