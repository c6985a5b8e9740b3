"""`python -m benchmarks plan`: how long one decision takes for a big group, and how that grows with the group.

Each pass of a group plans twice, and a group in motion has one every second, in the one event loop of all groups.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from time import process_time
from typing import Final

from benchmarks.big_groups import Size, world_of
from slackwater.core.plan import plan

PODS, FEWER_PODS, MEMBERS = 300, 30, 8
ROUNDS: Final = 15
TO_STAY_BELOW_MS: Final = 50.0
SCENES: Final = {
    "rolling, classic": {"rolling": True},
    "rolling, KIP-848": {"rolling": True, "modern": True},
    "at rest, classic": {},
    "at rest, KIP-848": {"modern": True},
    "crashed, KIP-848": {"rolling": True, "modern": True, "crashed": True},
}


@dataclass(frozen=True, slots=True)
class PlanFigures:
    """Milliseconds of one core, medians."""

    scene: str
    plan_ms: float
    """For 300 pods of 8 members."""
    plan_ms_at_tenth: float
    """For 30 pods of 8 members."""

    @property
    def growth(self) -> float:
        """How many times as long ten times as many pods take: 10 is linear."""
        return self.plan_ms / self.plan_ms_at_tenth


def measure() -> tuple[PlanFigures, ...]:
    """In a rollout and at rest, under the classic protocol and under KIP-848; and with every pod crashed."""
    return tuple(
        PlanFigures(name, _median_ms(Size(PODS, MEMBERS, **scene)), _median_ms(Size(FEWER_PODS, MEMBERS, **scene)))
        for name, scene in SCENES.items()
    )


def _median_ms(size: Size) -> float:
    """Each round has a world of its own: what was found out about an earlier one does not count."""
    return round(median(_seconds(size) for _ in range(ROUNDS)) * 1000, 2)


def _seconds(size: Size) -> float:
    world = world_of(size)
    began = process_time()
    plan(world)
    return process_time() - began


def write(figures: tuple[PlanFigures, ...], path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(
        json.dumps([{**asdict(each), "growth": round(each.growth, 2)} for each in figures], indent=2) + "\n"
    )


def table(figures: tuple[PlanFigures, ...]) -> str:
    """For people, with the figure to stay below."""
    worst = max(each.plan_ms for each in figures)
    lines = [f"{'':<20}{f'{PODS} x {MEMBERS}':>12}{f'{FEWER_PODS} x {MEMBERS}':>12}   growth (10 is linear)"]
    lines += [
        f"{each.scene:<20}{each.plan_ms:>9.1f} ms{each.plan_ms_at_tenth:>9.1f} ms   {each.growth:.1f}"
        for each in figures
    ]
    lines.append(f"the slowest is {worst:.1f} ms; to stay below: {TO_STAY_BELOW_MS:g} ms")
    return "\n".join(lines)
