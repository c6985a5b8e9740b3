"""`python -m benchmarks recommend`: how good recommended session timeouts are, where the truth is known.

Simulated restarts go through the pipeline's own statistics; what these recommend is priced by the true distribution,
which they never see. One core, some minutes, nothing but Python.
"""

from __future__ import annotations

import json
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from time import perf_counter
from typing import Final

from benchmarks.brute_force import equal_histories
from benchmarks.calibration import coverage
from benchmarks.recommended_fleet import FleetRow, fleet_rows
from benchmarks.regret import Regret, regrets
from benchmarks.silences import EVICTION_COSTS, OTHERS, YARDSTICK

HISTORIES: Final = 100
FLEETS: Final = 1_000
GROUPS: Final = 500
RANDOM_HISTORIES: Final = 1_000
FEW: Final = 30
MANY: Final = 300


@dataclass(frozen=True, slots=True)
class RecommendFigures:
    """Regrets and coverage are shares: 0.05 is 5 %."""

    coverage: float
    """Share of the 95 % intervals of the expected saving that hold the truth, over all groups of all fleets."""
    coverage_by_bound: dict[str, dict[str, float]]
    """Kind of bound → mixture → share."""
    regret_at_30: float
    """Mean over histories; the worst of the yardstick's mixtures and K."""
    regret_at_300: float
    worse_than_today_share: float
    """Histories in which a proposed change really costs over 2 % more; the mean over all K, mixtures and 30 and 300
    restarts; the worst single cell is `worse_than_today_share_worst`."""
    worse_than_today_share_worst: float
    saving_vs_45s_eager: float
    """Of the fleet's partition-seconds a month."""
    histories_equal_brute_force: int
    regrets: tuple[Regret, ...]
    regrets_pooled: tuple[Regret, ...]
    fleet: tuple[FleetRow, ...]
    seconds: float


def measure(say: bool = True) -> RecommendFigures:
    """Everything; says on standard error what it is at."""
    began = perf_counter()

    def note(text: str) -> None:
        if say:
            sys.stderr.write(f"{perf_counter() - began:6.0f} s  {text}\n")

    note(f"the minimiser against brute force, {RANDOM_HISTORIES} histories")
    equal = equal_histories(RANDOM_HISTORIES)
    note(f"regret at {FEW} and {MANY} restarts, {HISTORIES} histories of each of {len(YARDSTICK + OTHERS)} mixtures")
    cells = tuple(
        cell for count in (FEW, MANY) for mixture in YARDSTICK + OTHERS for cell in regrets(mixture, count, HISTORIES)
    )
    pooled = tuple(cell for mixture in YARDSTICK for cell in regrets(mixture, FEW, HISTORIES // 2, pooled=True))
    note(f"how often 95 % bounds hold, {FLEETS} fleets")
    held = coverage(FLEETS)
    note(f"a fleet of {GROUPS} groups")
    fleet = fleet_rows(GROUPS)
    return RecommendFigures(
        coverage=held["saving"]["all"],
        coverage_by_bound=held,
        regret_at_30=worst_regret(cells, FEW),
        regret_at_300=worst_regret(cells, MANY),
        worse_than_today_share=sum(cell.bad for cell in cells) / len(cells),
        worse_than_today_share_worst=max(cell.bad for cell in cells),
        saving_vs_45s_eager=fleet[-1].saving,
        histories_equal_brute_force=equal,
        regrets=cells,
        regrets_pooled=pooled,
        fleet=fleet,
        seconds=round(perf_counter() - began, 1),
    )


def worst_regret(cells: tuple[Regret, ...], restarts: int) -> float:
    """Of the yardstick's mixtures, over all K."""
    names = {mixture.name for mixture in YARDSTICK}
    return max(cell.recommended for cell in cells if cell.restarts == restarts and cell.mixture in names)


def write(figures: RecommendFigures, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    fleet = [{**asdict(row), "saving": row.saving} for row in figures.fleet]
    path.write_text(json.dumps({**asdict(figures), "fleet": fleet}, indent=2) + "\n")


def tables(figures: RecommendFigures) -> str:
    """For people."""
    parts = (
        _regret_table("Regret", figures.regrets),
        _regret_table("Regret with a pool", figures.regrets_pooled),
        _coverage_table(figures.coverage_by_bound),
        _fleet_table(figures.fleet),
        _summary(figures),
    )
    return "\n\n".join(parts)


def _regret_table(title: str, cells: tuple[Regret, ...]) -> str:
    lines = [f"{title}: true cost above the best timeout's, % (what 45 s costs in brackets)"]
    lines.append(f"{'':<20} n  " + "".join(f"{f'K {cost:g}':>13}" for cost in EVICTION_COSTS) + "   worse than today")
    rows: dict[tuple[str, int], list[Regret]] = {(cell.mixture, cell.restarts): [] for cell in cells}
    for cell in cells:
        rows[cell.mixture, cell.restarts].append(cell)
    for (mixture, restarts), row in rows.items():
        values = "".join(f"{100 * cell.recommended:6.1f} ({100 * cell.default:3.0f})" + " " for cell in row)
        lines.append(f"{mixture:<18} {restarts:>4} {values} {100 * max(cell.bad for cell in row):5.1f} %")
    return "\n".join(lines)


def _coverage_table(held: dict[str, dict[str, float]]) -> str:
    names = list(next(iter(held.values())))
    lines = ["95 % bounds that hold the truth, %", f"{'':<22}" + "".join(f"{name:>15}" for name in names)]
    lines += [f"{kind:<22}" + "".join(f"{100 * share[name]:>15.1f}" for name in names) for kind, share in held.items()]
    return "\n".join(lines)


def _fleet_table(rows: tuple[FleetRow, ...]) -> str:
    lines = ["Eager groups with 45 s, and with what is recommended: partition-seconds and needless rebalances a month"]
    lines.append(f"{'':<15}{'groups':>7}{'changed':>9}{'45 s':>11}{'then':>11}{'saved':>8}{'needless':>10}{'then':>8}")
    lines += [
        f"{row.name:<15}{row.groups:>7}{row.changed:>9}{row.cost_today:>11.0f}{row.cost_recommended:>11.0f}"
        f"{row.saving:>8.1%}{row.needless_today:>10.0f}{row.needless_recommended:>8.0f}"
        for row in rows
    ]
    return "\n".join(lines)


def _summary(figures: RecommendFigures) -> str:
    return (
        f"worst mean regret of the yardstick: {figures.regret_at_30:.1%} at {FEW} restarts, "
        f"{figures.regret_at_300:.1%} at {MANY}\n"
        f"proposed changes worse than today by over 2 %: {figures.worse_than_today_share:.2%} of histories, "
        f"{figures.worse_than_today_share_worst:.1%} in the worst cell\n"
        f"minimiser equal to brute force in {figures.histories_equal_brute_force} of {RANDOM_HISTORIES} histories\n"
        f"{figures.seconds:.0f} s"
    )
