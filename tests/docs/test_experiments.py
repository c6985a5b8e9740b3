"""The page of experiments has the figures that were measured, each below the mark of its experiment."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from tests.e2e.experiments import page as pages
from tests.e2e.experiments.page import PAGE, made

EXPERIMENTS = Path(pages.__file__).parent
MARK = re.compile(r"<!-- figures: ([a-z-]+) -->\n")
FIGURES = {"rebalances": 1, "idle_partition_seconds": 9.04, "worst_gap_seconds": 2.0, "duplicates": 3, "missing": 0}


def row(event: str, world: str) -> dict[str, object]:
    return {"event": event, "world": world, "seconds": 61.4, **FIGURES}


def test_rows_stand_below_their_mark_by_event_as_it_came_and_by_world() -> None:
    page = "before\n<!-- figures: a -->\n| old |\n| older |\n\nbetween\n<!-- figures: b -->\n| kept |\n"
    rows = [row("Restart", "Slackwater, static"), row("Drain", "Plain, static"), row("Restart", "Plain, static")]
    assert made(page, {"a": rows}).splitlines() == [
        "before",
        "<!-- figures: a -->",
        "| Event | World | Rebalances | Idle, partition-seconds | Worst gap | Duplicates | Missing | Took |",
        "|---|---|---|---|---|---|---|---|",
        "| Restart | Plain, static | 1 | 9.0 | 2.0 s | 3 | 0 | 61 s |",
        "|  | **Slackwater, static** | 1 | 9.0 | 2.0 s | 3 | 0 | 61 s |",
        "| Drain | Plain, static | 1 | 9.0 | 2.0 s | 3 | 0 | 61 s |",
        "",
        "between",
        "<!-- figures: b -->",
        "| kept |",
    ]


def kept(module: str) -> Iterator[str]:
    """The experiments that a module's source keeps figures of, by the names that it calls `keep` with."""
    for node in ast.walk(ast.parse(module)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "keep":
            assert isinstance(node.args[0], ast.Constant), "the page knows an experiment by a name in its source"
            yield str(node.args[0].value)


def test_the_page_has_a_mark_for_each_experiment_that_keeps_figures_and_for_no_other() -> None:
    played = {name for module in EXPERIMENTS.glob("test_*.py") for name in kept(module.read_text(encoding="utf-8"))}
    marks = MARK.findall(PAGE.read_text(encoding="utf-8"))
    assert sorted(marks) == sorted(played)


def test_each_mark_has_its_table() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert [name for name in MARK.findall(page) if f"<!-- figures: {name} -->\n| Event |" not in page] == []
