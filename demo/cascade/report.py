"""The table on the terminal, and `build/demo-fleet.json`. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from types import MappingProxyType
from typing import Any, Final

from rich.box import SIMPLE
from rich.table import Table

from demo.cascade import modes
from demo.cascade.figures import OF_RUNS, Run, of_runs
from demo.cascade.modes import Mode

COLUMNS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "groups_with_bad_pods": "Groups with\nbad pods",
        "peak_groups_in_motion": "Groups\nmoving",
        "peak_idle_partitions": "Partitions\nidle",
        "idle_partition_seconds": "Idle,\npart.-s",
        "bystander_rebalances": "Bystanders'\nrebalances",
        "bystander_expiries": "Bystanders'\nexpiries",
        "seconds": "Duration,\ns",
    }
)
Json = dict[str, Any]
_ABOUT: Final = (
    f"{modes.GROUPS} groups of {modes.MEMBERS} Java consumers on {modes.TOPICS} topics get new templates at once,"
    f" beside {modes.BYSTANDERS} groups of {modes.BYSTANDER_MEMBERS} that nobody touches, on {modes.BROKERS} brokers."
    " `of_runs` says for each figure whether it is the worst or the median of the mode's runs; every single run stands"
    " in `runs`. Measured from brokers, records and pods: docs/demo-fleet.md says how, and what `ok` asserts."
)


@dataclass(frozen=True, slots=True)
class Played:
    """What there is of a mode: its runs, and sentences about those that have no figures."""

    mode: Mode
    wanted: int
    """How many runs were asked for."""
    runs: Sequence[Run] = ()
    failed: Sequence[str] = ()

    @property
    def ok(self) -> bool:
        return len(self.runs) == self.wanted and not self.failed and all(run.ok for run in self.runs)

    @property
    def problems(self) -> list[str]:
        return [*(run.problem for run in self.runs if run.problem), *self.failed]


def as_json(played: Iterable[Played], before: Mapping[str, Any] | None = None) -> Json:
    """The file's content. A mode without any run that came to figures has null for them.

    `before`: what the file had; modes that were not played now keep what they had.
    """
    kept = dict((before or {}).get("modes", {}))
    now = kept | {each.mode.name: _mode(each) for each in played}
    order = [mode.name for mode in modes.MODES if mode.name in now]
    of_each = {name: how for name, (how, _) in OF_RUNS.items()}
    return {"about": _ABOUT, "of_runs": of_each, "modes": {name: now[name] for name in order}}


def table(played: Iterable[Played]) -> Table:
    """One row a mode: the same figures."""
    drawn = Table(
        title="Twelve applications deployed at once, and what it cost",
        title_justify="left",
        box=SIMPLE,
        show_edge=False,
        padding=(0, 1, 0, 0),
    )
    drawn.add_column("How", no_wrap=True)
    for name, header in COLUMNS.items():
        drawn.add_column(f"{header}\n[dim]{OF_RUNS[name][0]}[/dim]", justify="right", no_wrap=True)
    drawn.add_column("Runs", justify="right")
    drawn.add_column("OK")
    for each in played:
        values = of_runs(each.runs) if each.runs else {}
        cells = (f"{values[name]:g}" if name in values else "-" for name in COLUMNS)
        ok = "[green]yes[/green]" if each.ok else "[red]no[/red]"
        drawn.add_row(each.mode.title, *cells, f"{len(each.runs)}/{each.wanted}", ok)
    return drawn


def _mode(each: Played) -> Json:
    figures: Json = dict(of_runs(each.runs)) if each.runs else dict.fromkeys(OF_RUNS)
    runs = [{**asdict(run), "ok": run.ok} for run in each.runs]
    return {**figures, "ok": each.ok, "wanted": each.wanted, "runs": runs, "problems": each.problems}
