"""The summary for people, on standard output."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table as Grid

from slackwater.pipeline.recommend.found import Saving, Summary
from slackwater.terminal import Terminal

_STATUSES = {
    "Recommended": "should change",
    "KeepToday": "are best as they are",
    "NotEnoughData": "have too little history",
    "NotEnoughTime": "were watched for less than a week",
    "Infeasible": "have constraints that nothing meets",
}


def print_summary(
    summary: Summary, source: str, console: Console | None = None, all_in: str = "gold/recommendations"
) -> None:
    """A bounded table of the greatest savings, and a few lines. `source`: what was read, in words."""
    out = console or Terminal()
    if summary.savings:
        out.print(_grid(summary.savings))
    for line in _lines(summary, source, all_in):
        out.print(line, markup=False, highlight=False, soft_wrap=True)


def _grid(savings: tuple[Saving, ...]) -> Grid:
    grid = Grid(title=None, box=None, pad_edge=False)
    grid.add_column("GROUP", overflow="fold")
    for title in ("RESTARTS", "SESSION", "SAVES A MONTH", "95 %"):
        grid.add_column(title, justify="right", no_wrap=True)
    for each in savings:
        today = f"{each.today_ms / 1000:g} s" if each.today_ms is not None else "default"
        grid.add_row(
            f"{each.namespace}/{each.name}",
            f"{each.restarts:,}",
            f"{today} → {each.target_ms / 1000:g} s",
            f"{each.saving:,.0f} partition-s",
            f"{each.lower:,.0f} to {each.upper:,.0f}",
        )
    return grid


def _lines(summary: Summary, source: str, all_in: str) -> list[str]:
    if summary.as_of is None:
        return [f"{source[:1].upper()}{source[1:]} holds no events yet, so there is nothing to learn from."]
    known = [f"{summary.by_status.get(status, 0):,} {words}" for status, words in _STATUSES.items()]
    lines = [f"{summary.groups:,} groups as of {summary.as_of:%Y-%m-%d %H:%M:%S}Z: {', '.join(known)}."]
    if summary.by_status.get("Recommended", 0) > len(summary.savings):
        lines.append(f"The {len(summary.savings)} greatest savings are shown; all are in {all_in}.")
    for count, where in ((summary.sent_to_file, "the file"), (summary.sent_to_topic, "the topic")):
        if count is not None:
            lines.append(f"{count:,} recommendations written to {where}.")
    return lines
