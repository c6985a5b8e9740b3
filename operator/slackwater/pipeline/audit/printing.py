"""The audit's summary for people, on standard output."""

from __future__ import annotations

from datetime import datetime

from rich.console import Console
from rich.table import Table as Grid

from slackwater.pipeline.audit.layouts import GROUP_RECORDS, KeyType
from slackwater.pipeline.audit.summary import SHOWN_GROUPS, Summary
from slackwater.pipeline.tables import Table
from slackwater.terminal import Terminal

_COMMITS = (KeyType.LEGACY_OFFSET_COMMIT, KeyType.OFFSET_COMMIT)


def print_summary(summary: Summary, lake: str, console: Console | None = None) -> None:
    """A table of at most SHOWN_GROUPS groups, and a few lines of what there is and what is missing."""
    out = console or Terminal()
    if summary.groups:
        out.print(_grid(summary))
    for line in _lines(summary, lake):
        out.print(line, markup=False, highlight=False, soft_wrap=True)


def _grid(summary: Summary) -> Grid:
    grid = Grid(title=None, box=None, pad_edge=False)
    grid.add_column("GROUP", overflow="fold")
    grid.add_column("TYPE", no_wrap=True, min_width=len("Consumer"))
    grid.add_column("ASSIGNOR", overflow="fold", min_width=len("ASSIGNOR"))
    for title in ("MEMBERS", "GENERATION", "REBALANCES"):
        grid.add_column(title, justify="right", no_wrap=True, min_width=len(title))
    grid.add_column("SINCE", overflow="fold")
    for group in summary.shown:
        grid.add_row(
            group.group_id,
            group.group_type,
            group.assignor or "-",
            str(group.members),
            str(group.generation),
            str(group.rebalances),
            _moment(group.oldest) + ("" if group.whole else " (in part)"),
        )
    return grid


def _lines(summary: Summary, lake: str) -> list[str]:
    lines = []
    if summary.groups > len(summary.shown):
        lines.append(f"… and {summary.groups - SHOWN_GROUPS} groups more, in the tables.")
    lines.append(
        f"{summary.groups} groups, {summary.generations} generations, {summary.rebalances} rebalances;"
        f" {summary.quarantined} records in quarantine."
    )
    if summary.oldest is None or summary.newest is None:
        return ["The topic holds no records: no group has a history yet."]
    lines.append(f"Records from {_moment(summary.oldest)} to {_moment(summary.newest)}. {_how_whole(summary)}")
    lines.extend(_passed_over(summary))
    lines.append(
        f"Written to {lake}: {Table.AUDIT_GENERATIONS}, {Table.AUDIT_REBALANCES}, {Table.AUDIT_MEMBERS},"
        f" {Table.AUDIT_QUARANTINE}."
    )
    return lines


def _how_whole(summary: Summary) -> str:
    in_part = summary.groups - summary.groups_whole
    if in_part == 0:
        return "Every group's history goes back to its beginning, without a gap."
    return (
        f"Of {in_part} groups only a part of the history is there (compacted away, or overtaken before it was written):"
        " unrecorded_before tells where."
    )


def _passed_over(summary: Summary) -> list[str]:
    commits = sum(count.records for count in summary.counts if count.number in _COMMITS)
    others = [
        f"{count.records} {count.name}"
        for count in summary.counts
        if count.number is not None and count.number not in {*_COMMITS, *GROUP_RECORDS}
    ]
    told = [f"Passed over: {commits} offset commits" + "".join(f", {other}" for other in others) + "."]
    return told if commits or others else []


def _moment(at: datetime) -> str:
    return f"{at:%Y-%m-%d %H:%M}Z"
