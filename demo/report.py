"""The table, the notes below it, and `build/demo.json`. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import Any

from rich.box import SIMPLE
from rich.table import Table

from demo import modes
from demo.figures import Figures, Result

COLUMNS = {
    "rebalances": "Rebalances",
    "partition_moves": "Partitions moved",
    "idle_partition_seconds": "Idle, partition-s",
    "worst_gap_seconds": "Worst gap, s",
    "duplicates": "Duplicates",
    "seconds": "Duration, s",
}

_HEADERS = ("Rebal-\nances", "Moves", "Idle,\npart.-s", "Worst\ngap, s", "Dupli-\ncates", "Dura-\ntion, s")
"""The columns' names, narrow enough for a terminal of 80."""

_WHY = {
    (modes.DEPLOYMENT, "idle_partition_seconds"): (
        "a new pod is started before an old one ends, so partitions only rest while the group rebalances; a static"
        " member's partitions wait for its return. Where rebalances are this quick and consumers this slow to start,"
        " that is the cheaper way"
    ),
    (modes.DEPLOYMENT, "worst_gap_seconds"): (
        "no partition waits for a consumer to start, only for rebalances, which are quick here: few members, and no"
        " state to restore"
    ),
    (modes.DEPLOYMENT, "seconds"): "it replaces several pods at a time and waits for no group",
    (modes.STATEFUL_SET, "seconds"): "it waits for nothing between two pods but their readiness",
    (modes.STATEFUL_SET, "idle_partition_seconds"): (
        "it restarts the same pods for about as long; the gates lie between restarts and idle nothing, so this is"
        " chance more than merit"
    ),
    (modes.STATEFUL_SET, "worst_gap_seconds"): "it restarts the same pods for about as long, so this is mostly chance",
}


def as_json(results: Iterable[Result]) -> dict[str, Any]:
    """The content of `build/demo.json`. A mode that was not played to its end has null for its figures."""
    empty = dict.fromkeys(COLUMNS)
    return {
        "modes": {
            result.mode.name: {**(_values(result.figures) if result.figures else empty), "ok": result.ok}
            for result in results
        }
    }


def table(results: Iterable[Result]) -> Table:
    """One row a mode."""
    drawn = Table(
        title="A new version or another protocol under steady load, and what it cost",
        title_justify="left",
        box=SIMPLE,
        show_edge=False,
        padding=(0, 1, 0, 0),
    )
    drawn.add_column("How", no_wrap=True)
    for header in _HEADERS:
        drawn.add_column(header, justify="right", no_wrap=True)
    drawn.add_column("OK")
    for result in results:
        values = _values(result.figures) if result.figures else {}
        drawn.add_row(
            result.mode.title,
            *(str(values.get(column, "-")) for column in COLUMNS),
            "[green]yes[/green]" if result.ok else "[red]no[/red]",
            end_section=result.mode in (modes.PREDICTIVE, modes.BAD_SLACKWATER),
        )
    return drawn


def notes(results: Iterable[Result]) -> list[str]:
    """What one should know to read the table; where another way was cheaper in a column than Slackwater, and why."""
    found = {result.mode: result.figures for result in results if result.figures}
    sentences = [sentence for column in COLUMNS for sentence in _cheaper(found, column)]
    sentences += [_on_the_handover(mode, figures) for mode, figures in found.items() if mode.warm is not None]
    bad = found.get(modes.BAD_STATEFUL_SET)
    if bad is not None:
        sentences.append(_on_the_bad_version(bad, found.get(modes.BAD_SLACKWATER)))
    return sentences + [_on_the_upgrade(mode, figures) for mode, figures in found.items() if mode.upgrade is not None]


def _cheaper(found: Mapping[modes.Mode, Figures], column: str) -> list[str]:
    """At most one sentence: the cheapest of the other ways, if it is cheaper than Slackwater."""
    ours = found.get(modes.SLACKWATER)
    others = [mode for mode in (modes.DEPLOYMENT, modes.STATEFUL_SET) if mode in found]
    if ours is None or not others:
        return []
    best = min(others, key=lambda mode: _value(found[mode], column))
    theirs, own = _value(found[best], column), _value(ours, column)
    if theirs >= own:
        return []
    why = _WHY.get((best, column))
    sentence = f"{COLUMNS[column]}: the {best.title} was cheaper here, {theirs:g} against Slackwater's {own:g}"
    return [f"{sentence}: {why}." if why else f"{sentence}."]


def _on_the_bad_version(plain: Figures, ours: Figures | None) -> str:
    sentence = (
        "Bad version, StatefulSet: OK only says that it ended as such a rollout does. Kubernetes called it complete,"
        " for its pods are Ready, and nothing was served from then on. It does not end by itself: the figures stop"
        f" {modes.AFTERMATH_S} s after the last pod, and grow with every second until somebody notices."
    )
    if ours is not None and plain.rebalances < ours.rebalances:
        sentence += f" Its {plain.rebalances} rebalances are no merit: nobody was left to rebalance with."
    return sentence


def _on_the_handover(mode: modes.Mode, figures: Figures) -> str:
    of_each_s = figures.duplicates / (modes.PARTITIONS * modes.MESSAGES_PER_PARTITION_S)
    how = "each replacement joins while the old consumer works, under its instance id"
    if mode is modes.PREDICTIVE:
        how = (
            "the first replacement joins while the old consumer works; before the others join, the old ones are let go"
        )
    return (
        f"{mode.title}: {how}. What was not committed is delivered again: {figures.duplicates} records,"
        f" {of_each_s:.2f} s of each member's traffic."
    )


def _on_the_upgrade(mode: modes.Mode, figures: Figures) -> str:
    upgrade = mode.upgrade
    assert upgrade is not None
    by_step = ", ".join(
        f"{count or 'no'} rebalance{'' if count == 1 else 's'} in step {number}"
        for number, count in enumerate(figures.rebalances_by_step, start=1)
    )
    restarts = mode.replicas * len(upgrade.rebalances)
    return (
        f"{mode.title}: {mode.replicas} {mode.client} consumers from {upgrade.origin} to {upgrade.target} by"
        f" {upgrade.strategy}, {restarts} restarts: {by_step or 'no step was seen'}; {figures.partition_moves} of"
        f" {modes.PARTITIONS} partitions went to another member. Idle is what a restart of each pod costs."
    )


def _values(figures: Figures) -> dict[str, Any]:
    """`rebalances_by_step` stands only where there are steps."""
    values = asdict(figures)
    return {name: values[name] for name in (*COLUMNS, *(("rebalances_by_step",) if figures.rebalances_by_step else ()))}


def _value(figures: Figures, column: str) -> float:
    value: float = getattr(figures, column)
    return value
