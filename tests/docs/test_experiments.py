"""The page of experiments has the figures that were measured, each below the mark of its experiment."""

from __future__ import annotations

from tests.e2e.experiments.page import PAGE, made

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


def test_the_page_has_a_table_for_each_experiment() -> None:
    page = PAGE.read_text(encoding="utf-8")
    marks = page.count("<!-- figures: ")
    assert marks
    assert page.count(" -->\n| Event |") == marks
