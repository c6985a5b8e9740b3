"""`python -m benchmarks recommend`: how good recommended session timeouts are, where the truth is known.

Simulated restarts go through the pipeline's own statistics; what these recommend is priced by the true distribution,
which they never see. One core, some minutes, nothing but Python.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from time import perf_counter, process_time
from typing import Final

from benchmarks.brute_force import equal_histories
from benchmarks.calibration import coverage
from benchmarks.drift import Year, regret_after_change, year_of_advice
from benchmarks.recommended_fleet import WARM, FleetRow, fleet_rows
from benchmarks.regret import Regret, fleet_without, regrets
from benchmarks.rollouts import coverage_in_rollouts
from benchmarks.silences import EVICTION_COSTS, OTHERS, YARDSTICK
from slackwater.pipeline.statistics.recommend import Known

BUILD: Final = Path(__file__).resolve().parents[1] / "build" / "bench"
HISTORIES: Final = 100
FLEETS: Final = 1_000
GROUPS: Final = 500
RANDOM_HISTORIES: Final = 1_000
FEW: Final = 30
MANY: Final = 300


@dataclass(frozen=True, slots=True)
class RecommendFigures:
    """Regrets, coverage and what is captured are shares: 0.05 is 5 %."""

    captured: float
    """Of what the truly best timeouts would save 500 eager groups whose partitions warm up in 0 to 20 s."""
    captured_warm: float
    """The same of 300 whose partitions warm up in 20 to 120 s."""
    made_worse: float
    """Of the first fleet's groups, those that were changed and really cost over 2 % more."""
    made_worse_warm: float
    coverage: float
    """Share of the 95 % intervals of the expected saving that hold the truth, over all groups of all fleets."""
    coverage_in_rollouts: float
    """The same where restarts come in rollouts: the rhythm in which it is farthest from 95 %."""
    coverage_by_rhythm: dict[str, float]
    coverage_by_bound: dict[str, dict[str, float]]
    """Kind of bound → mixture → share."""
    regret_at_30: float
    """Mean over histories of a group in a fleet; the worst of the yardstick's mixtures and K."""
    regret_at_300: float
    regret_at_30_alone: float
    """The same of a group without a fleet."""
    regret_at_30_unlike: float
    """The same of a group whose kind no other group of the fleet has."""
    regret_after_change: dict[str, float]
    """A slow kind of restart has disappeared: mean regret so long after."""
    year: Year
    worse_than_today_share: float
    """Histories in which a proposed change really costs over 2 % more; the mean over all K, mixtures and 30 and 300
    restarts; the worst single cell is `worse_than_today_share_worst`."""
    worse_than_today_share_worst: float
    saving_vs_45s_eager: float
    """Of the fleet's partition-seconds a month."""
    histories_equal_brute_force: int
    random_histories: int
    regrets: tuple[Regret, ...]
    regrets_alone: tuple[Regret, ...]
    regrets_unlike: tuple[Regret, ...]
    fleet: tuple[FleetRow, ...]
    fleet_warm: tuple[FleetRow, ...]
    scale: float
    seconds: float
    cpu_seconds: float


def measure(scale: float = 1.0) -> RecommendFigures:
    """Everything; says on standard error what it is at. `scale`: of the numbers of histories, fleets and groups."""
    began, began_cpu = perf_counter(), process_time()

    def note(text: str) -> None:
        sys.stderr.write(f"{perf_counter() - began:6.0f} s  {text}\n")

    def some(number: int) -> int:
        return max(8, round(scale * number))

    note("the minimiser against brute force")
    equal = equal_histories(some(RANDOM_HISTORIES))
    note(f"regret at {FEW} and {MANY} restarts, {some(HISTORIES)} histories of {len(YARDSTICK + OTHERS)} mixtures")
    everyone = fleet_without(None)
    cells = tuple(
        cell
        for count in (FEW, MANY)
        for mixture in YARDSTICK + OTHERS
        for cell in regrets(mixture, count, some(HISTORIES), everyone)
    )
    alone = tuple(cell for mixture in YARDSTICK for cell in regrets(mixture, FEW, some(HISTORIES)))
    unlike = tuple(
        cell for mixture in YARDSTICK for cell in regrets(mixture, FEW, some(HISTORIES), fleet_without(mixture))
    )
    note(f"how often 95 % bounds hold, {some(FLEETS)} fleets")
    held = coverage(some(FLEETS))
    rhythms = coverage_in_rollouts(some(FLEETS))
    note(f"fleets of {some(GROUPS)} groups")
    fleet, warm = fleet_rows(some(GROUPS)), fleet_rows(some(3 * GROUPS // 5), WARM)
    note("groups that change, and a year of advice")
    changed, year = regret_after_change(some(HISTORIES), Known(everyone)), year_of_advice(some(HISTORIES))
    return RecommendFigures(
        captured=fleet[-1].captured,
        captured_warm=warm[-1].captured,
        made_worse=fleet[-1].worse / fleet[-1].groups,
        made_worse_warm=warm[-1].worse / warm[-1].groups,
        coverage=held["saving"]["all"],
        coverage_in_rollouts=max(rhythms.values(), key=lambda share: abs(share - 0.95)),
        coverage_by_rhythm=rhythms,
        coverage_by_bound=held,
        regret_at_30=worst_regret(cells, FEW),
        regret_at_300=worst_regret(cells, MANY),
        regret_at_30_alone=worst_regret(alone, FEW),
        regret_at_30_unlike=worst_regret(unlike, FEW),
        regret_after_change=changed,
        year=year,
        worse_than_today_share=sum(cell.bad for cell in cells) / len(cells),
        worse_than_today_share_worst=max(cell.bad for cell in cells),
        saving_vs_45s_eager=fleet[-1].saving,
        histories_equal_brute_force=equal,
        random_histories=some(RANDOM_HISTORIES),
        regrets=cells,
        regrets_alone=alone,
        regrets_unlike=unlike,
        fleet=fleet,
        fleet_warm=warm,
        scale=scale,
        seconds=round(perf_counter() - began, 1),
        cpu_seconds=round(process_time() - began_cpu, 1),
    )


def worst_regret(cells: tuple[Regret, ...], restarts: int) -> float:
    """Of the yardstick's mixtures, over all K."""
    names = {mixture.name for mixture in YARDSTICK}
    return max(cell.recommended for cell in cells if cell.restarts == restarts and cell.mixture in names)


def write(figures: RecommendFigures, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    fleets = {
        name: [{**asdict(row), "saving": row.saving, "captured": row.captured} for row in rows]
        for name, rows in (("fleet", figures.fleet), ("fleet_warm", figures.fleet_warm))
    }
    path.write_text(json.dumps({**asdict(figures), **fleets}, indent=2) + "\n")


def tables(figures: RecommendFigures) -> str:
    """For people."""
    parts = (
        _regret_table("Regret in a fleet", figures.regrets),
        _regret_table("Regret without a fleet", figures.regrets_alone),
        _regret_table("Regret in a fleet of other kinds", figures.regrets_unlike),
        _coverage_table(figures.coverage_by_bound),
        _fleet_table(figures.fleet),
        _fleet_table(figures.fleet_warm),
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
    lines.append(
        f"{'':<15}{'groups':>7}{'changed':>9}{'45 s':>11}{'then':>11}{'saved':>8}{'captured':>10}{'worse':>7}"
        f"{'needless':>10}{'then':>8}"
    )
    lines += [
        f"{row.name:<15}{row.groups:>7}{row.changed:>9}{row.cost_today:>11.0f}{row.cost_recommended:>11.0f}"
        f"{row.saving:>8.1%}{row.captured:>10.1%}{row.worse:>7}{row.needless_today:>10.0f}{row.needless_recommended:>8.0f}"
        for row in rows
    ]
    return "\n".join(lines)


def _summary(figures: RecommendFigures) -> str:
    after = ", ".join(f"{share:.1%} after {days}" for days, share in figures.regret_after_change.items())
    rhythms = ", ".join(f"{share:.1%} ({rhythm})" for rhythm, share in figures.coverage_by_rhythm.items())
    year = figures.year
    return (
        f"captured of the attainable saving: {figures.captured:.1%}; {figures.captured_warm:.1%} where partitions warm "
        f"up in 20 to 120 s; made worse: {figures.made_worse:.1%} and {figures.made_worse_warm:.1%} of the groups\n"
        f"worst mean regret of the yardstick: {figures.regret_at_30:.1%} at {FEW} restarts "
        f"({figures.regret_at_30_alone:.1%} alone, {figures.regret_at_30_unlike:.1%} unlike all others), "
        f"{figures.regret_at_300:.1%} at {MANY}\n"
        f"the saving's interval holds in {figures.coverage:.1%}; by rollouts' size and spread: {rhythms}\n"
        f"a slow kind disappears: regret {after}\n"
        f"a year of weekly advice: {year.changes} changes, {year.changed_for_the_worse} for the worse, regret "
        f"{year.regret:.1%} at the end\n"
        f"proposed changes worse than today by over 2 %: {figures.worse_than_today_share:.2%} of histories, "
        f"{figures.worse_than_today_share_worst:.1%} in the worst cell\n"
        f"minimiser equal to brute force in {figures.histories_equal_brute_force} of {figures.random_histories} "
        f"histories\n"
        f"{figures.seconds:.0f} s, {figures.cpu_seconds:.0f} s of CPU"
    )


def main(arguments: list[str]) -> int:
    """`python -m benchmarks.recommend --scale 0.1`: a tenth of all numbers, for a look."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.recommend")
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--out", type=Path, default=BUILD / "recommend.json")
    chosen = parser.parse_args(arguments)
    found = measure(chosen.scale)
    write(found, chosen.out)
    sys.stdout.write(f"{tables(found)}\nThe figures are in {chosen.out}.\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
